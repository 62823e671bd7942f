//! Under shuttle: three kinds of schedules, for a while or for a number of them.
//!
//! What `cargo xtask shuttle` wants stands in the environment:
//!
//! | variable | meaning |
//! |---|---|
//! | `SHUTTLE_ITERATIONS` | schedules of each kind; 20 if neither this nor the next is set |
//! | `SHUTTLE_MILLIS` | milliseconds of each kind |
//! | `SHUTTLE_SEED` | where all random choices begin; 0 unless set |
//! | `SHUTTLE_FAILURES` | folder for the schedule of a failure; printed unless set |
//! | `SHUTTLE_REPLAY` | a file with such a schedule, or the schedule itself: it alone is played |

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use shuttle::rand::{RngCore, thread_rng};
use shuttle::scheduler::{PctScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use wheel_testkit::Random;

use super::counted::Counted;
use super::dice::{Choice, Dice};

const ITERATIONS: usize = 20;
/// Preemptions that a PCT schedule chooses freely, and one.
const PCT_DEPTH: usize = 6;
/// A run that takes more steps goes nowhere.
const STEPS_MAX: usize = 3_000_000;
const STACK_SIZE: usize = 1 << 18;

/// What picks the schedules.
#[derive(Clone, Copy)]
enum Kind {
    /// Another thread at every step, maybe.
    Random,
    /// Another thread after some steps.
    Bursts,
    /// The thread of the highest priority; priorities change a few times.
    Pct,
}

/// Runs `scenario` in many schedules and says how many those were. Each draws its operations from
/// the random numbers that belong to its schedule.
///
/// # Panics
///
/// When the scenario does, or hangs: after it has said how to play that schedule again.
pub fn explore(name: &str, scenario: impl Fn(Random) + Send + Sync + 'static) {
    let scenario = std::sync::Arc::new(scenario);
    let run = |kind: &str, scheduler: Box<dyn Scheduler + Send>, config: Config| {
        let (scheduler, counts) = Counted::new(scheduler);
        let scenario = std::sync::Arc::clone(&scenario);
        let explored = catch_unwind(AssertUnwindSafe(|| {
            Runner::new(scheduler, config).run(move || {
                // The schedule knows its random numbers, so it plays the same operations again.
                scenario(Random::new(thread_rng().next_u64()));
            });
        }));
        let (schedules, steps) = (counts.schedules(), counts.steps());
        println!("scenario {name}, {kind}: {schedules} schedules, {steps} steps");
        explored
    };
    if let Some(schedule) = text("SHUTTLE_REPLAY") {
        let scheduler = match Path::new(&schedule).is_file() {
            true => ReplayScheduler::new_from_file(&schedule).expect("the file was just there"),
            false => ReplayScheduler::new_from_encoded(&schedule),
        };
        let replayed = run("replay", Box::new(scheduler), config());
        return replayed.unwrap_or_else(|panic| resume_unwind(panic));
    }
    let seed = number("SHUTTLE_SEED").unwrap_or(0);
    let millis = number("SHUTTLE_MILLIS");
    println!("scenario {name}: exploring, seed {seed}");
    let schedules = match (number("SHUTTLE_ITERATIONS"), millis) {
        (Some(schedules), _) => schedules as usize,
        (None, Some(_)) => usize::MAX,
        (None, None) => ITERATIONS,
    };
    for kind in [Kind::Random, Kind::Bursts, Kind::Pct] {
        let (kind, scheduler): (&str, Box<dyn Scheduler + Send>) = match kind {
            Kind::Random => ("random", Box::new(Dice::new(Choice::Step, seed, schedules))),
            Kind::Bursts => (
                "bursts",
                Box::new(Dice::new(Choice::Burst, seed, schedules)),
            ),
            Kind::Pct => {
                let pct = PctScheduler::new_from_seed(seed, PCT_DEPTH, schedules);
                ("pct", Box::new(pct))
            }
        };
        let mut config = config();
        config.max_time = millis.map(Duration::from_millis);
        if let Err(panic) = run(kind, scheduler, config) {
            let schedule = kept_schedule(name, kind);
            let schedule = schedule.map_or("SCHEDULE".to_owned(), |at| at.display().to_string());
            println!(
                "scenario {name} failed under {kind}, seed {seed}; to play that schedule again:\n  \
                 cargo xtask shuttle --only {name} --replay {schedule}"
            );
            resume_unwind(panic);
        }
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = STACK_SIZE;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    // That every order is taken for the strictest is said above.
    config.silence_warnings = true;
    if let Some(folder) = failures() {
        config.failure_persistence = FailurePersistence::File(Some(folder));
    }
    config
}

/// Where the schedule of a failure goes, if not to the screen.
fn failures() -> Option<PathBuf> {
    let folder = PathBuf::from(text("SHUTTLE_FAILURES")?);
    std::fs::create_dir_all(&folder).expect("SHUTTLE_FAILURES must be a folder to write to");
    Some(folder)
}

/// Gives the schedule that shuttle has just written a name that says what failed. Shuttle may have
/// written it twice: as it was at the panic, and once more with the steps of the unwinding.
fn kept_schedule(name: &str, kind: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(failures()?).ok()?;
    let mut written: Vec<PathBuf> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    written.sort();
    let named = written.first()?.with_file_name(format!("{name}.{kind}"));
    std::fs::rename(written.first()?, &named).ok()?;
    for again in &written[1..] {
        let _ = std::fs::remove_file(again);
    }
    Some(named)
}

fn text(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

fn number(variable: &str) -> Option<u64> {
    let text = text(variable)?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable} must be a number, not `{text}`")))
}
