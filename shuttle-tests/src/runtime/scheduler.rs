//! Three threads that submit, cancel, reschedule, trigger and wait for tasks, and move the clock. Some
//! tasks share a key, under which one run goes at a time, and the pool grows and shrinks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{CancelOutcome, ManualClock, Schedule, Scheduler, TaskHandle, TaskState};
use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::{Mutex, thread};
use wheel_testkit::Random;

use super::ledger::Ledger;
use super::{Shutdown, wait_a_while};

const USERS: usize = 3;
const OPS: usize = 24;

struct Hall {
    clock: ManualClock,
    scheduler: Scheduler,
    ledger: Ledger,
    tasks: Mutex<BTreeMap<u64, Submitted>>,
    overlapped: Arc<AtomicBool>,
    /// A run of the key is going.
    is_key_taken: Arc<AtomicBool>,
}

/// A task that was taken.
struct Submitted {
    handle: TaskHandle,
    /// It runs once, if nobody meddles with it.
    once: bool,
    meddled: bool,
}

/// Plays it once.
///
/// # Panics
///
/// When a run is lost, comes twice or beside another one of its task, or the numbers do not add up.
pub fn play_scheduler(shutdown: Shutdown, mut random: Random) {
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone());
    let most = random.between(1, 3) as usize;
    let scheduler = builder.workers(1..=most).build();
    let hall = Arc::new(Hall {
        scheduler: scheduler.expect("a model refuses no thread"),
        clock,
        ledger: Ledger::default(),
        tasks: Mutex::default(),
        overlapped: Arc::default(),
        is_key_taken: Arc::default(),
    });
    let users: Vec<_> = (0..USERS)
        .map(|_| {
            let (hall, random) = (Arc::clone(&hall), Random::new(random.number()));
            thread::spawn(move || work(&hall, random))
        })
        .collect();
    if shutdown == Shutdown::Midway {
        wait_a_while(&mut random);
        let report = hall.scheduler.shutdown(Duration::MAX);
        assert!(report.expect("every run ends").cut.is_empty());
    }
    for user in users {
        user.join().expect("a user has failed");
    }
    if shutdown == Shutdown::Quiet {
        for _ in 0..3 {
            hall.clock.advance(Duration::from_millis(20));
            hall.scheduler.wait_idle();
        }
        judge_once(&hall);
        let report = hall.scheduler.shutdown(Duration::MAX);
        let report = report.expect("every run ends");
        assert!(
            report.cut.is_empty() && report.queued.is_empty(),
            "{report:?}"
        );
    }
    judge(&hall);
}

fn work(hall: &Hall, mut random: Random) {
    for _ in 0..OPS {
        let delay = Duration::from_millis(random.below(12));
        let name = picked(hall, &mut random);
        match (random.below(12), name) {
            (0..=3, _) | (_, None) => submit(hall, delay, &mut random),
            (4, Some((_, handle))) => {
                let _ = handle.cancel();
            }
            (5, Some((_, handle))) => {
                // Whatever it says, it ends.
                match handle.cancel() {
                    CancelOutcome::Cancelled | CancelOutcome::Running => {}
                    _ => assert!(handle.info().state.has_ended(), "not found, yet alive"),
                }
                assert!(handle.wait().has_ended());
            }
            (6, Some((_, handle))) => {
                let _ = hall.scheduler.trigger(handle.id());
            }
            (7, Some((_, handle))) => {
                let schedule = match random.one_in(2) {
                    true => Schedule::after(delay),
                    false => Schedule::every(delay + Duration::from_millis(1)),
                };
                let _ = hall.scheduler.reschedule(handle.id(), schedule);
            }
            (8, _) => hall.scheduler.wait_idle(),
            _ => hall.clock.advance(delay),
        }
    }
}

/// A task of anybody's, to be meddled with.
fn picked(hall: &Hall, random: &mut Random) -> Option<(u64, TaskHandle)> {
    let mut tasks = hall.tasks.lock();
    let ids: Vec<u64> = tasks.keys().copied().collect();
    // Half of them are let be.
    let at = random.below(ids.len().max(1) as u64) as usize;
    let id = *ids.get(at).filter(|id| *id % 2 == 0)?;
    let task = tasks.get_mut(&id)?;
    task.meddled = true;
    Some((id, task.handle.clone()))
}

fn submit(hall: &Hall, delay: Duration, random: &mut Random) {
    let (piece, clock) = (hall.ledger.open(), hall.clock.clone());
    let id = piece.id;
    let overlapped = Arc::clone(&hall.overlapped);
    let builder = hall.scheduler.task(format!("task {id}"));
    let (inside, builder) = match random.one_in(3) {
        true => (
            Arc::clone(&hall.is_key_taken),
            builder.concurrency_key("key"),
        ),
        false => (Arc::default(), builder),
    };
    let once = random.one_in(2);
    let builder = match once {
        true => builder.after(delay),
        false => builder
            .every(delay + Duration::from_millis(1))
            .count(random.between(1, 4)),
    };
    let submitted = builder.run(move |_| {
        // SeqCst: the flag alone matters.
        if inside.swap(true, Ordering::SeqCst) {
            overlapped.store(true, Ordering::SeqCst);
        }
        piece.run(clock.now());
        thread::yield_now();
        inside.store(false, Ordering::SeqCst);
    });
    if let Ok(handle) = submitted {
        let task = Submitted {
            handle,
            once,
            meddled: false,
        };
        hall.tasks.lock().insert(id, task);
    }
}

/// What nobody has meddled with has run once and succeeded.
fn judge_once(hall: &Hall) {
    let entries = hall.ledger.read();
    for (id, task) in hall.tasks.lock().iter() {
        if task.once && !task.meddled {
            assert_eq!(entries[id].ran_at.len(), 1, "task {id} has not run once");
            assert_eq!(task.handle.info().state, TaskState::Succeeded, "task {id}");
        }
    }
}

fn judge(hall: &Hall) {
    let entries = hall.ledger.read();
    let tasks = hall.tasks.lock();
    let mut runs = 0;
    for (id, task) in tasks.iter() {
        let info = task.handle.info();
        let ran = entries[id].ran_at.len() as u64;
        assert!(info.state.has_ended(), "task {id} is {:?}", info.state);
        assert_eq!((info.runs, info.succeeded), (ran, ran), "runs of task {id}");
        runs += ran;
    }
    // SeqCst: as above.
    let overlapped = hall.overlapped.load(Ordering::SeqCst);
    assert!(!overlapped, "two runs of one task, or of the key, at once");
    let stats = hall.scheduler.stats();
    assert_eq!((stats.runs, stats.succeeded), (runs, runs), "runs in all");
    let left = (stats.scheduled, stats.queued, stats.running);
    assert_eq!(left, (0, 0, 0), "scheduled, queued, running");
    assert_eq!((stats.early, stats.panicked), (0, 0));
}
