//! How long a stress goes on, with which seeds, and what it says meanwhile.
//!
//! A stress test plays rounds, each from a seed of its own. Without anything in the environment it
//! plays a few and is a test like any other. `WHEEL_STRESS=60s` makes it go on for a minute;
//! `WHEEL_SEED=n` is the first seed.

use std::time::{Duration, Instant};

/// How often a long stress says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// One stress test on its way. Prints its seed when the test panics, and one line at its end:
///
/// ```text
/// stress NAME: 12 rounds, 345678 operations, 5 threads, seeds 0 to 11, ...
/// ```
#[derive(Debug)]
pub struct Stress {
    name: String,
    few: u64,
    limit: Option<Duration>,
    begun: Instant,
    said: Instant,
    first: u64,
    rounds: u64,
    operations: usize,
    threads: usize,
    /// A round is being played.
    playing: bool,
}

impl Stress {
    /// Begins: `few` rounds, or as many as fit into `WHEEL_STRESS`.
    ///
    /// # Panics
    ///
    /// When `WHEEL_STRESS` is not seconds, or `WHEEL_SEED` not a number.
    pub fn begin(name: &str, few: u64) -> Stress {
        let variable = |name| std::env::var(name).ok();
        let seconds = |text: String| read_seconds(&text).expect("WHEEL_STRESS is seconds: 60s");
        let seed = |text: String| text.parse().expect("WHEEL_SEED must be a number");
        // tidy: allow clock-only, how long a stress goes on is real time.
        let now = Instant::now();
        Stress {
            name: name.to_owned(),
            few,
            limit: variable("WHEEL_STRESS").map(seconds),
            begun: now,
            said: now,
            first: variable("WHEEL_SEED").map_or(0, seed),
            rounds: 0,
            operations: 0,
            threads: 0,
            playing: false,
        }
    }

    /// The seed of the next round; `None` when it has been enough. One is played at least.
    pub fn next_round(&mut self) -> Option<u64> {
        let goes_on = match self.limit {
            Some(limit) => self.rounds == 0 || self.begun.elapsed() < limit,
            None => self.rounds < self.few,
        };
        self.playing = goes_on;
        goes_on.then(|| self.first.wrapping_add(self.rounds))
    }

    /// A round has ended well: so many operations, on so many threads at a time.
    pub fn played(&mut self, operations: usize, threads: usize) {
        self.rounds += 1;
        self.operations += operations;
        self.threads = self.threads.max(threads);
        self.playing = false;
        if self.limit.is_some() && self.said.elapsed() >= HEARTBEAT {
            // tidy: allow clock-only, as above.
            self.said = Instant::now();
            let seconds = self.begun.elapsed().as_secs();
            println!(
                "  ... {}: {seconds} s, {} rounds, {} operations",
                self.name, self.rounds, self.operations
            );
        }
    }

    /// Says what was played, and `outcome`, what came of it.
    pub fn end(self, outcome: &str) {
        let Stress {
            name,
            rounds,
            operations,
            threads,
            first,
            ..
        } = &self;
        let last = first.wrapping_add(rounds.saturating_sub(1));
        println!(
            "stress {name}: {rounds} rounds, {operations} operations, {threads} threads, seeds {first} to {last}, {outcome}"
        );
    }
}

impl Drop for Stress {
    fn drop(&mut self) {
        // tidy: allow sync-only, it asks whether the test has failed.
        if self.playing && std::thread::panicking() {
            let seed = self.first.wrapping_add(self.rounds);
            eprintln!("{} failed with WHEEL_SEED={seed}", self.name);
        }
    }
}

/// `60s` or `60`.
fn read_seconds(text: &str) -> Option<Duration> {
    let digits = text.strip_suffix('s').unwrap_or(text);
    digits.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_with_and_without_their_unit() {
        let minute = Some(Duration::from_secs(60));
        assert_eq!([read_seconds("60s"), read_seconds("60")], [minute, minute]);
        assert_eq!([read_seconds("1m"), read_seconds("")], [None, None]);
    }

    #[test]
    fn a_few_rounds_are_played_with_one_seed_after_the_other() {
        let mut stress = Stress::begin("test", 3);
        (stress.limit, stress.first) = (None, 7);
        let mut seeds = Vec::new();
        while let Some(seed) = stress.next_round() {
            seeds.push(seed);
            stress.played(10, 2);
        }
        assert_eq!(seeds, [7, 8, 9]);
        assert_eq!((stress.operations, stress.threads), (30, 2));
    }

    #[test]
    fn a_time_that_is_over_at_once_still_plays_one_round() {
        let mut stress = Stress::begin("test", 3);
        stress.limit = Some(Duration::ZERO);
        assert!(stress.next_round().is_some());
        stress.played(1, 1);
        assert_eq!(stress.next_round(), None);
    }
}
