//! A round of `Scheduler`: workers submit, cancel, reschedule and trigger tasks of the same few
//! ids, and keep the handle of each task until the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, OnConflict, Schedule, Scheduler, SubmitError, TaskFilter, TaskHandle,
    TaskState,
};
use wheel_testkit::Random;

use super::ledger::{Ledger, panics_when_dropped, panics_when_run, survive};
use super::{End, HANG, wait_until};

const OPS: usize = 1_500;
/// Ids that all threads use.
const IDS: u64 = 40;

/// A task that was accepted.
struct Mine {
    number: usize,
    handle: TaskHandle,
    /// How often it may run; a task that runs once may be given another run while that one is
    /// going.
    most: u32,
    /// Nobody knows its id, so nothing but its handle changes it.
    unnamed: bool,
    /// It was cancelled while no run was going, and had run so often by then.
    cancelled_at: Option<u32>,
}

struct Round<'a> {
    scheduler: &'a Scheduler,
    ledger: &'a Arc<Ledger>,
    numbers: AtomicUsize,
    end: End,
}

#[derive(Default)]
struct Notes {
    mine: Vec<Mine>,
    refused: Vec<usize>,
}

impl Round<'_> {
    fn work(&self, mut random: Random) -> Notes {
        let mut notes = Notes::default();
        for _ in 0..OPS {
            let id = format!("task-{}", random.below(IDS));
            let count = notes.mine.len() as u64;
            let picked = (count > 0).then(|| random.below(count) as usize);
            match (random.below(10), picked) {
                (0..=3, _) | (_, None) => self.submit(&mut random, id, &mut notes),
                (4, Some(at)) => self.cancel(&mut notes.mine[at]),
                // Whose task that is nobody knows.
                (5, _) => assert!(matches!(
                    self.scheduler.cancel(&id),
                    CancelOutcome::Cancelled | CancelOutcome::Running | CancelOutcome::NotFound
                )),
                (6, _) => {
                    let delay = Duration::from_micros(random.below(8_000));
                    // It may have ended, or the scheduler.
                    let _ = self.scheduler.reschedule(&id, Schedule::after(delay));
                }
                (7, _) => drop(self.scheduler.trigger(&id)),
                (8, _) => {
                    if let Some(info) = self.scheduler.get(&id) {
                        assert_eq!(info.id, id);
                        assert!(info.succeeded + info.failed <= info.runs);
                    }
                }
                (_, Some(at)) => self.look(&notes.mine[at]),
            }
            if random.one_in(32) {
                thread::sleep(Duration::from_micros(random.below(400)));
            }
        }
        notes
    }

    fn submit(&self, random: &mut Random, id: String, notes: &mut Notes) {
        // Relaxed: it hands out numbers.
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let unnamed = random.one_in(3);
        let task = match unnamed {
            true => self.scheduler.unnamed(),
            false => self.scheduler.task(id),
        };
        let soon = Duration::from_micros(random.below(10_000));
        let (task, most) = match random.below(6) {
            0 => (task.every(Duration::from_millis(1)).count(4), 4),
            1 => (task.every_after(Duration::from_micros(300)).count(3), 3),
            2 => (task.after(Duration::from_secs(3_600)), 1),
            _ => (task.after(soon), 1),
        };
        let on_conflict = match panics_when_dropped(number) {
            // The compiler leaks what a function returns, here the id in the error, when a panic
            // of a local's drop comes in between.
            true => OnConflict::Replace,
            false => random.choose(&[OnConflict::Refuse, OnConflict::Replace]),
        };
        let token = self.ledger.token(number);
        let task = task.on_conflict(on_conflict);
        // A handler that is refused is dropped in there, and may panic.
        let Some(submitted) = survive(|| task.run(move |_: &Context| token.run())) else {
            return notes.refused.push(number);
        };
        match submitted {
            Ok(handle) => notes.mine.push(Mine {
                number,
                handle,
                most,
                unnamed,
                cancelled_at: None,
            }),
            Err(SubmitError::DuplicateId(_)) => notes.refused.push(number),
            Err(SubmitError::ShuttingDown) if self.end == End::Midway => {
                notes.refused.push(number);
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn cancel(&self, mine: &mut Mine) {
        match mine.handle.cancel() {
            CancelOutcome::Cancelled => {
                assert!(mine.cancelled_at.is_none(), "it was cancelled twice");
                mine.cancelled_at = Some(self.ledger.runs(mine.number));
            }
            CancelOutcome::Running | CancelOutcome::NotFound => {}
            other => panic!("{other:?}"),
        }
    }

    fn look(&self, mine: &Mine) {
        let info = mine.handle.info();
        // It is said before the handler is called.
        assert!(u64::from(self.ledger.runs(mine.number)) >= info.succeeded);
        if let Some(state) = mine.handle.wait_timeout(Duration::ZERO) {
            assert!(state.has_ended());
            assert_eq!(mine.handle.info().state, state, "an end was taken back");
        }
    }
}

/// Plays one round; says how many operations on how many threads it took.
pub(crate) fn play(seed: u64, end: End) -> (usize, usize) {
    let mut random = Random::new(seed);
    let (threads, workers) = (2 + seed as usize % 2, 1 + seed as usize % 3);
    let scheduler = Scheduler::builder().workers(workers);
    let scheduler = match seed % 4 {
        0 => scheduler.tick(Duration::from_micros(100)),
        1 => scheduler.queue_capacity(4),
        _ => scheduler,
    };
    let scheduler = scheduler.build().unwrap();
    let ledger = Ledger::new(threads * OPS);
    let round = Round {
        scheduler: &scheduler,
        ledger: &ledger,
        numbers: AtomicUsize::new(0),
        end,
    };
    let notes: Vec<Notes> = thread::scope(|scope| {
        let working: Vec<_> = (0..threads)
            .map(|_| {
                let random = Random::new(random.number());
                let round = &round;
                scope.spawn(move || round.work(random))
            })
            .collect();
        if end == End::Midway {
            let at = random.below((threads * OPS / 4) as u64) as usize;
            let round = &round;
            scope.spawn(move || {
                // Relaxed: any instant will do.
                wait_until("it is time to shut down", || {
                    round.numbers.load(Ordering::Relaxed) >= at
                });
                round.scheduler.shutdown(HANG).expect("no run lasts");
            });
        }
        working
            .into_iter()
            .map(|thread| thread.join().expect("a worker has failed"))
            .collect()
    });
    if end == End::Quiet {
        // Those of an hour are left.
        let all = scheduler.tasks(&TaskFilter::all());
        let far = |task: &&wheel_runtime::TaskInfo| task.next_in > Some(Duration::from_secs(60));
        for task in all.iter().filter(far) {
            let _ = scheduler.cancel(&task.id);
        }
        assert!(scheduler.wait_empty_timeout(HANG), "tasks are left");
        assert!(scheduler.wait_idle_timeout(HANG), "runs are left");
    }
    let report = scheduler.shutdown(HANG).expect("no run lasts");
    assert!(report.pending.is_empty() && report.queued.is_empty());
    judge(&notes, &ledger, &scheduler);
    let used = round.numbers.load(Ordering::Relaxed);
    drop((notes, scheduler));
    // Each handler is dropped once, at the latest with its handle and the threads.
    wait_until("the handlers are dropped", || {
        (0..used).all(|number| ledger.drops(number) == 1)
    });
    (threads * OPS, threads + workers + 1)
}

/// States, counts and what the handlers have seen of themselves say the same.
fn judge(notes: &[Notes], ledger: &Ledger, scheduler: &Scheduler) {
    let (mut runs, mut panicked, mut cancelled) = (0, 0, 0);
    for mine in notes.iter().flat_map(|notes| &notes.mine) {
        let (info, ran) = (mine.handle.info(), ledger.runs(mine.number));
        assert_eq!(info.runs, u64::from(ran), "{info:?}");
        assert_eq!(info.succeeded + info.failed, info.runs, "{info:?}");
        assert!(info.next_in.is_none(), "{info:?}");
        if let Some(by_then) = mine.cancelled_at {
            assert_eq!(info.state, TaskState::Cancelled);
            assert_eq!(ran, by_then, "it ran after it was cancelled");
        }
        match info.state {
            TaskState::Succeeded | TaskState::Failed if mine.unnamed => {
                assert_eq!(ran, mine.most, "{info:?}");
            }
            TaskState::Succeeded | TaskState::Failed => assert!(ran >= 1, "{info:?}"),
            TaskState::Cancelled => cancelled += 1,
            _ => panic!("it has not ended: {info:?}"),
        }
        let is_bounded = mine.unnamed || mine.most > 1;
        assert!(!is_bounded || ran <= mine.most, "{ran} runs: {info:?}");
        runs += info.runs;
        panicked += match panics_when_run(mine.number) {
            true => info.runs,
            false => 0,
        };
    }
    for &number in notes.iter().flat_map(|notes| &notes.refused) {
        assert_eq!(ledger.runs(number), 0, "it was refused and has run");
    }
    let stats = scheduler.stats();
    assert_eq!((stats.scheduled, stats.queued, stats.running), (0, 0, 0));
    assert_eq!((stats.runs, stats.early), (runs, 0));
    assert_eq!(
        (stats.succeeded, stats.failed),
        (runs - panicked, panicked),
        "a handler fails when it panics and not else"
    );
    assert_eq!((stats.panicked, stats.cancelled), (panicked, cancelled));
}
