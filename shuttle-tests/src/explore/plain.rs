//! Without shuttle: a few times on real threads, so that the scenarios themselves are kept sound.

use wheel_sync::thread;
use wheel_testkit::{Random, seeds};

/// How often a scenario runs.
const RUNS: u64 = 5;

/// Runs `scenario` a few times, each with other operations; `WHEEL_SEED=n` picks one.
///
/// # Panics
///
/// When the scenario does.
pub fn explore(name: &str, scenario: impl Fn(Random) + Send + Sync + 'static) {
    struct Seeded<'a>(&'a str, u64);
    impl Drop for Seeded<'_> {
        fn drop(&mut self) {
            if thread::panicking() {
                eprintln!("{} failed with WHEEL_SEED={}", self.0, self.1);
            }
        }
    }
    for seed in seeds(RUNS) {
        let _seeded = Seeded(name, seed);
        scenario(Random::new(seed));
    }
    println!("scenario {name}: on real threads, without shuttle");
}
