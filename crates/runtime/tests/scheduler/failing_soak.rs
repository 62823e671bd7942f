//! Many tasks that fail at random, under policies drawn at random, while they are cancelled,
//! triggered, given new schedules and replayed: every run is accounted for, and the same seed gives
//! the same log.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{
    Context, InlineExecutor, OnConflict, Outcome, Retry, RetryJitter, Schedule, Stats, TaskState,
};
use wheel_testkit::{Random, seeds};

use crate::bed::{Bed, ms, size};

const TASKS: u64 = 40;

/// A line for each attempt: when, which task, run, attempt, and what it said.
type Log = Arc<Mutex<Vec<(Duration, String, u64, u32, String)>>>;

fn policy(rng: &mut Random) -> Retry {
    let base = ms(rng.below(40));
    let retry = match rng.below(4) {
        0 => Retry::fixed(base),
        1 => Retry::linear(base),
        2 => Retry::exponential(base).max_delay(ms(500)),
        _ => Retry::custom(move |attempt| base / attempt),
    };
    let retry = match rng.below(3) {
        0 => retry.jitter(RetryJitter::Full),
        1 => retry.jitter(RetryJitter::Equal),
        _ => retry,
    };
    let retry = match rng.below(3) {
        0 => retry.max_elapsed(ms(1 + rng.below(300))),
        1 => retry.retry_if(|error| error != "out of ink"),
        _ => retry,
    };
    retry.max_attempts(1 + rng.below(5) as u32)
}

/// What an attempt comes to depends on the seed and on which one it is, not on who else runs.
fn outcome(seed: u64, run: &Context, calls: &Mutex<HashMap<String, u64>>) -> Outcome {
    let call = {
        let mut calls = calls.lock().unwrap();
        let calls = calls.entry(run.id().to_owned()).or_default();
        *calls += 1;
        *calls
    };
    let id = run
        .id()
        .bytes()
        .fold(seed, |mixed, byte| mixed * 31 + u64::from(byte));
    match Random::new(id.wrapping_mul(1_000_003).wrapping_add(call)).below(20) {
        0..8 => Outcome::Success,
        8..13 => Outcome::Failure("no paper".into()),
        13 => Outcome::Failure("out of ink".into()),
        14 => Outcome::Permanent("no printer".into()),
        15 => Outcome::RetryAfter(ms(call % 90), "busy".into()),
        16 | 17 => Outcome::Snooze(ms(call % 70)),
        18 => resume_unwind(Box::new("of the test")),
        _ if call % 7 == 0 => Outcome::Cancel,
        _ => Outcome::Success,
    }
}

fn soak(seed: u64, steps: usize) -> (Log, Stats) {
    let bed = Bed::with(|builder| builder.executor(InlineExecutor).seed(seed).dead_letters(50));
    let (log, calls): (Log, Arc<Mutex<HashMap<String, u64>>>) = Default::default();
    let (hooked, counted) = (Arc::new(Mutex::new((0, 0))), bed.clock.clone());
    let rng = &mut Random::new(seed);
    let mut replays = 0;
    for _ in 0..steps {
        let id = format!("t{}", rng.below(TASKS));
        match rng.below(10) {
            0..3 => {
                let (log, calls, clock) = (Arc::clone(&log), Arc::clone(&calls), counted.clone());
                let handler = move |run: &Context| {
                    let line = |said: &Outcome| {
                        let said = format!("{said:?}");
                        (
                            clock.now(),
                            run.id().to_owned(),
                            run.run(),
                            run.attempt(),
                            said,
                        )
                    };
                    let outcome = outcome(seed, run, &calls);
                    log.lock().unwrap().push(line(&outcome));
                    outcome
                };
                let delay = ms(rng.below(100));
                let schedule = match rng.below(3) {
                    0 => Schedule::after(delay),
                    1 => Schedule::every(delay + ms(1)),
                    _ => Schedule::every_after(delay + ms(1)),
                };
                let task = bed.scheduler.task(&id).schedule(schedule);
                let task = task.on_conflict(OnConflict::Replace);
                let (fails, dies) = (Arc::clone(&hooked), Arc::clone(&hooked));
                let task = match rng.below(5) {
                    0 => task,
                    _ => task.retry(policy(rng)),
                };
                let task = task.on_failure(move |_| fails.lock().unwrap().0 += 1);
                let task = task.on_dead(move |_| dies.lock().unwrap().1 += 1);
                task.run(handler).unwrap();
            }
            3 => _ = bed.scheduler.cancel(&id),
            4 => _ = bed.scheduler.trigger(&id),
            5 => drop(
                bed.scheduler
                    .reschedule(&id, Schedule::every(ms(1 + rng.below(50)))),
            ),
            6 => {
                let letters = bed.scheduler.dead_letters().list();
                if !letters.is_empty() {
                    let letter = &letters[rng.below(letters.len() as u64) as usize];
                    replays += u64::from(bed.scheduler.dead_letters().replay(letter.id).is_ok());
                }
            }
            _ => bed.clock.run_for(ms(rng.below(60))),
        }
        // What became due by that has run before the next step.
        bed.clock.run_for(ms(0));
    }
    let waiting = bed.scheduler.stats();
    let report = bed.scheduler.shutdown(ms(0)).unwrap();
    let retrying = report
        .pending
        .iter()
        .filter(|task| task.state == TaskState::Retrying);
    assert_eq!(retrying.count(), waiting.retrying);
    assert!(report.interrupted.is_empty());
    let stats = bed.scheduler.stats();
    let gauges = (stats.scheduled, stats.queued, stats.running, stats.retrying);
    assert_eq!(gauges, (0, 0, 0, 0), "seed {seed}: {stats:?}");
    let over = stats.succeeded + stats.failed + stats.abandoned;
    assert_eq!(stats.runs, over, "seed {seed}: {stats:?}");
    assert_eq!((stats.early, stats.hooks_panicked), (0, 0));
    // Each letter is there, made room, or was replayed.
    let letters = stats.dead_letters as u64 + stats.dead_letters_dropped + replays;
    assert_eq!(stats.dead, letters, "seed {seed}: {stats:?}");
    let (failures, deaths) = *hooked.lock().unwrap();
    assert_eq!(
        (failures, deaths),
        (stats.failed + stats.retried, stats.dead)
    );
    (log, stats)
}

#[test]
fn every_run_is_accounted_for_and_the_same_seed_gives_the_same_log() {
    for seed in seeds(size(3, 200) as u64) {
        let (log, stats) = soak(seed, 2_000);
        let (again, stats_again) = soak(seed, 2_000);
        assert_eq!(
            (stats.retried, stats.dead),
            (stats_again.retried, stats_again.dead)
        );
        let (log, again) = (log.lock().unwrap(), again.lock().unwrap());
        assert!(*log == *again, "seed {seed}: two logs");
        // It is not quiet.
        let counts = [
            stats.retried,
            stats.dead,
            stats.snoozed,
            stats.abandoned,
            stats.panicked,
        ];
        assert!(
            counts.iter().all(|count| *count > 20),
            "seed {seed}: {stats:?}"
        );
        assert!(
            log.len() as u64 >= stats.runs + stats.retried,
            "seed {seed}"
        );
    }
}
