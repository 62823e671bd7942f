//! A month of a busy schedule: the same seed gives the same log, on a clock that is moved by hand.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use wheel_runtime::{
    Context, InlineExecutor, Jitter, ManualClock, Outcome, Retry, RetryJitter, Schedule, Scheduler,
};
use wheel_testkit::Random;

const MINUTE: u64 = 60;
const DAY: u64 = 86_400;
const TASKS: u64 = 300;

/// When, since the clock began; and what happened.
type Log = Arc<Mutex<Vec<(Duration, Event)>>>;

#[derive(Debug, PartialEq)]
enum Event {
    /// An attempt of a run, and whether it was good.
    Ended(String, SystemTime, u32, bool),
    /// One failed, and how soon the next one follows.
    Failed(String, u64, Option<Duration>),
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// 2026-03-01T00:00:00Z: a month in which clocks are changed in New York, Berlin and Troll.
fn march() -> SystemTime {
    SystemTime::UNIX_EPOCH + seconds(1_772_323_200)
}

fn schedule(rng: &mut Random) -> Schedule {
    const ZONES: [&str; 6] = [
        "UTC",
        "America/New_York",
        "Europe/Berlin",
        "Antarctica/Troll",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
    ];
    let zone = ZONES[rng.below(6) as usize];
    let (minute, hour) = (rng.below(60), rng.below(24));
    let schedule = match rng.below(7) {
        0 => Schedule::cron(format!("{minute} * * * *")).timezone(zone),
        1 => Schedule::cron(format!("{minute} {hour} * * *")).timezone(zone),
        2 => Schedule::cron(format!("*/30 {hour}-22 * * MON-FRI")).timezone(zone),
        3 => Schedule::every(seconds((30 + minute) * MINUTE)).aligned(),
        4 => Schedule::every(seconds(12 * 3600)).aligned().timezone(zone),
        5 => Schedule::every_after(seconds((20 + minute) * MINUTE)),
        _ => Schedule::every(seconds((20 + minute) * MINUTE)),
    };
    let schedule = match rng.below(4) {
        0 => schedule.jitter(Jitter::Uniform(seconds(20 * MINUTE))),
        1 => schedule.jitter(Jitter::Hashed(seconds(20 * MINUTE))),
        _ => schedule,
    };
    match rng.below(4) {
        0 => schedule.not_before(march() + seconds(rng.below(10) * DAY)),
        1 => schedule.not_after(march() + seconds((20 + rng.below(10)) * DAY)),
        _ => schedule,
    }
}

/// Whether an attempt is good depends on the seed and on which one it is.
fn is_good(seed: u64, run: &Context) -> bool {
    let key = run.idempotency_key();
    let mixed = key
        .bytes()
        .fold(seed + u64::from(run.attempt()), |mixed, byte| {
            mixed.wrapping_mul(1_000_003) ^ u64::from(byte)
        });
    Random::new(mixed).below(10) > 0
}

/// Of the month, so many days.
fn month(seed: u64, days: u64) -> (Log, Duration) {
    let clock = ManualClock::starting_at(march());
    let log = Log::default();
    let (ended, at) = (Arc::clone(&log), clock.clone());
    let around = move |run: &Context, go_on: &dyn Fn() -> Outcome| {
        let outcome = go_on();
        let is_good = matches!(outcome, Outcome::Success);
        let event = Event::Ended(run.id().to_owned(), run.nominal(), run.attempt(), is_good);
        ended.lock().unwrap().push((at.now(), event));
        outcome
    };
    let builder = Scheduler::builder().clock(clock.clone()).seed(seed);
    let builder = builder.executor(InlineExecutor).around(around);
    let scheduler = builder.build().unwrap();
    // Which tasks there are does not depend on the seed, what they come to does.
    let rng = &mut Random::new(2026);
    for n in 0..TASKS {
        let (failed, at) = (Arc::clone(&log), clock.clone());
        let retry = Retry::exponential(seconds(30)).jitter(RetryJitter::Equal);
        let task = scheduler.task(format!("task-{n}")).schedule(schedule(rng));
        let task = task
            .retry(retry.max_attempts(4))
            .on_failure(move |failure| {
                let event = Event::Failed(failure.task.clone(), failure.run, failure.next_in);
                failed.lock().unwrap().push((at.now(), event));
            });
        let handler = move |run: &Context| match is_good(seed, run) {
            true => Ok(()),
            false => Err("as it was drawn"),
        };
        task.run(handler).unwrap();
        // One by one: what is due in one tick comes in the order in which the driver learnt of it.
        clock.advance(Duration::ZERO);
    }
    let begun = Instant::now();
    clock.run_for(seconds(days * DAY));
    let took = begun.elapsed();
    let stats = scheduler.stats();
    assert_eq!(
        (stats.early, stats.missed, stats.skipped),
        (0, 0, 0),
        "{stats:?}"
    );
    assert!(stats.retried > 20 * days, "{stats:?}");
    (log, took)
}

#[test]
fn a_month_of_a_busy_schedule_is_the_same_log_for_the_same_seed() {
    let (log, took) = month(1, 31);
    let (again, _) = month(1, 31);
    let (other, _) = month(2, 3);
    let (log, again, other) = (
        log.lock().unwrap(),
        again.lock().unwrap(),
        other.lock().unwrap(),
    );
    println!("a month, {TASKS} tasks, {} events: {took:?}", log.len());
    assert!(log.len() > 100_000, "{}", log.len());
    assert!(*log == *again, "the same seed, another log");
    assert!(log[..other.len()] != **other, "another seed, the same log");
    let in_order = log.is_sorted_by_key(|(at, _)| *at);
    assert!(in_order);
}
