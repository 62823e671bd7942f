//! Executors that refuse, lose, panic, hang, or bring what nobody asked for: the driver goes on, and
//! what they did not run is counted or dropped.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use wheel_runtime::{Executor, InlineExecutor, Job, ManualClock, Scheduler, TaskState, Timers};

use crate::{HANG, Held, assert_all_dropped, ends, ms};

/// What an executor does with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    RunsAll,
    RunsOnAnotherThread,
    RunsTheLastFirst,
    LeavesAll,
    DropsAll,
    DropsTheBatch,
    RunsHalfAndLeavesHalf,
    RunsHalfAndDropsHalf,
    RunsHalfAndPanics,
    TakesAllAndPanics,
    KeepsAll,
    BringsItsOwn,
}

const WAYS: [Way; 12] = [
    Way::RunsAll,
    Way::RunsOnAnotherThread,
    Way::RunsTheLastFirst,
    Way::LeavesAll,
    Way::DropsAll,
    Way::DropsTheBatch,
    Way::RunsHalfAndLeavesHalf,
    Way::RunsHalfAndDropsHalf,
    Way::RunsHalfAndPanics,
    Way::TakesAllAndPanics,
    Way::KeepsAll,
    Way::BringsItsOwn,
];

/// Batches have an even number of jobs in these tests.
const BATCH: usize = 10;

impl Way {
    /// How many of a batch run.
    fn runs(self) -> usize {
        match self {
            Way::RunsAll | Way::RunsOnAnotherThread | Way::RunsTheLastFirst => BATCH,
            Way::BringsItsOwn => BATCH,
            Way::RunsHalfAndLeavesHalf | Way::RunsHalfAndDropsHalf => BATCH / 2,
            Way::RunsHalfAndPanics => BATCH / 2,
            Way::LeavesAll | Way::DropsAll | Way::DropsTheBatch => 0,
            Way::TakesAllAndPanics | Way::KeepsAll => 0,
        }
    }

    /// How many are left in the batch, which is how an executor says that it refuses.
    fn leaves(self) -> usize {
        match self {
            Way::LeavesAll => BATCH,
            Way::RunsHalfAndLeavesHalf | Way::RunsHalfAndPanics => BATCH / 2,
            Way::BringsItsOwn => 1,
            _ => 0,
        }
    }
}

/// Jobs that an executor has kept.
type Kept = Arc<Mutex<Vec<Job>>>;

struct Odd {
    way: Way,
    kept: Kept,
}

impl Executor for Odd {
    fn execute(&self, jobs: &mut Vec<Job>) {
        let half = jobs.len() / 2;
        match self.way {
            Way::RunsAll => InlineExecutor.execute(jobs),
            Way::RunsOnAnotherThread => {
                let mut jobs = std::mem::take(jobs);
                thread::spawn(move || InlineExecutor.execute(&mut jobs));
            }
            Way::RunsTheLastFirst => {
                while let Some(job) = jobs.pop() {
                    job.run();
                }
            }
            Way::LeavesAll => {}
            Way::DropsAll => jobs.clear(),
            Way::DropsTheBatch => *jobs = Vec::new(),
            Way::RunsHalfAndLeavesHalf => InlineExecutor.execute(&mut jobs.split_off(half)),
            Way::RunsHalfAndDropsHalf => {
                InlineExecutor.execute(&mut jobs.split_off(half));
                jobs.clear();
            }
            Way::RunsHalfAndPanics => {
                InlineExecutor.execute(&mut jobs.split_off(half));
                panic!("of the test");
            }
            Way::TakesAllAndPanics => {
                let _taken = std::mem::take(jobs);
                panic!("of the test");
            }
            Way::KeepsAll => self.kept.lock().unwrap().append(jobs),
            Way::BringsItsOwn => {
                InlineExecutor.execute(jobs);
                jobs.push(Job::new(|| unreachable!("nobody runs it")));
            }
        }
    }
}

fn odd(way: Way) -> (Odd, Kept) {
    let kept = Kept::default();
    let odd = Odd {
        way,
        kept: Arc::clone(&kept),
    };
    (odd, kept)
}

#[test]
fn timers_count_what_an_executor_did_not_take_and_go_on() {
    for way in WAYS {
        ends(&format!("{way:?}"), move || timers_with(way));
    }
}

fn timers_with(way: Way) {
    let (clock, (odd, kept)) = (ManualClock::new(), odd(way));
    let builder = Timers::builder().clock(clock.clone()).executor(odd);
    let timers = builder.on_panic(|_| ()).build().unwrap();
    let (alive, ran) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let (sent, has_run) = channel();
    for batch in 1..=3_u64 {
        for n in 0..BATCH {
            let (held, ran, sent) = (Held::plain(&alive), Arc::clone(&ran), sent.clone());
            let callback = move || {
                let _held = held;
                ran.fetch_add(1, Ordering::SeqCst);
                sent.send(()).unwrap();
                assert_ne!(n, 3, "one of each batch panics");
            };
            timers.after(ms(1), callback).unwrap();
        }
        clock.advance(ms(1));
        for _ in 0..way.runs() {
            has_run.recv_timeout(HANG).expect("it was to run");
        }
        let stats = timers.stats();
        assert_eq!(stats.fired, batch * BATCH as u64, "{way:?}");
        assert_eq!(stats.refused, batch * way.leaves() as u64, "{way:?}");
        assert_eq!(stats.pending, 0);
    }
    assert_eq!(ran.load(Ordering::SeqCst), 3 * way.runs(), "{way:?}");
    timers.after(ms(1), || ()).unwrap();
    assert_eq!(timers.shutdown(), 1);
    // What was kept runs after the end of the engine as well, once.
    let mut jobs = std::mem::take(&mut *kept.lock().unwrap());
    if way == Way::KeepsAll {
        assert_eq!(jobs.len(), 3 * BATCH);
        InlineExecutor.execute(&mut jobs);
        assert_eq!(ran.load(Ordering::SeqCst), 3 * BATCH);
        assert_eq!(timers.stats().panics, 3);
    }
    drop(timers);
    assert_all_dropped(&alive);
}

#[test]
fn a_scheduler_skips_what_an_executor_did_not_take_and_goes_on() {
    for way in WAYS {
        ends(&format!("{way:?}"), move || scheduler_with(way));
    }
}

fn scheduler_with(way: Way) {
    let (clock, (odd, kept)) = (ManualClock::new(), odd(way));
    let builder = Scheduler::builder().clock(clock.clone()).executor(odd);
    let scheduler = builder.build().unwrap();
    let (alive, ran) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let add = |recurs: bool| {
        let (held, ran) = (Held::plain(&alive), Arc::clone(&ran));
        let handler = move |_: &wheel_runtime::Context| {
            let _ = &held;
            ran.fetch_add(1, Ordering::SeqCst);
        };
        match recurs {
            true => scheduler.every(ms(10), handler).unwrap(),
            false => scheduler.after(ms(10), handler).unwrap(),
        }
    };
    let once: Vec<_> = (0..BATCH / 2).map(|_| add(false)).collect();
    let every: Vec<_> = (0..BATCH / 2).map(|_| add(true)).collect();
    clock.advance(ms(10));
    if way == Way::KeepsAll {
        let stats = scheduler.stats();
        assert_eq!((stats.queued, stats.runs), (BATCH, 0));
        assert!(
            !scheduler.wait_idle_timeout(ms(1)),
            "they wait for a worker"
        );
        // One is taken back; the others run late, and the recurring ones go on.
        let _ = once[0].cancel();
        InlineExecutor.execute(&mut std::mem::take(&mut *kept.lock().unwrap()));
        assert_eq!(ran.load(Ordering::SeqCst), BATCH - 1);
        assert_eq!(once[0].info().state, TaskState::Cancelled);
    } else {
        assert!(scheduler.wait_idle_timeout(HANG), "{way:?}");
        assert_eq!(ran.load(Ordering::SeqCst), way.runs(), "{way:?}");
        let stats = scheduler.stats();
        assert_eq!(stats.runs as usize, way.runs());
        assert_eq!(stats.skipped as usize, BATCH - way.runs(), "{way:?}");
        for task in &once {
            let state = task.wait_timeout(HANG);
            let ends = [Some(TaskState::Succeeded), Some(TaskState::Skipped)];
            assert!(ends.contains(&state), "{way:?}: {state:?}");
        }
    }
    for task in &every {
        assert_eq!(task.info().state, TaskState::Scheduled, "{way:?}");
        assert_eq!(task.info().next_in, Some(ms(10)), "{way:?}");
    }
    clock.advance(ms(10));
    if way != Way::KeepsAll {
        assert!(scheduler.wait_idle_timeout(HANG), "{way:?}");
    }
    // The end, with runs that an executor keeps and runs when everything is over.
    let queued = scheduler.stats().queued;
    let report = scheduler.shutdown(HANG).unwrap();
    assert_eq!(report.queued.len(), queued, "{way:?}");
    let before = ran.load(Ordering::SeqCst);
    InlineExecutor.execute(&mut std::mem::take(&mut *kept.lock().unwrap()));
    assert_eq!(
        ran.load(Ordering::SeqCst),
        before,
        "{way:?}: nothing starts any more"
    );
    let stats = scheduler.stats();
    assert_eq!((stats.scheduled, stats.queued, stats.running), (0, 0, 0));
    drop((scheduler, once, every));
    assert_all_dropped(&alive);
}

/// Does not return before it is let go.
struct Blocks {
    entered: Sender<()>,
    let_go: Mutex<Receiver<()>>,
}

impl Executor for Blocks {
    fn execute(&self, jobs: &mut Vec<Job>) {
        self.entered.send(()).unwrap();
        self.let_go.lock().unwrap().recv_timeout(HANG).unwrap();
        InlineExecutor.execute(jobs);
    }
}

#[test]
fn an_executor_that_blocks_holds_up_the_driver_and_nobody_who_inserts_or_cancels() {
    ends("timers", || {
        let ((entered, is_in), (go, let_go)) = (channel(), channel());
        let let_go = Mutex::new(let_go);
        let timers = Timers::builder().executor(Blocks { entered, let_go });
        let timers = timers.build().unwrap();
        let ran = Arc::new(AtomicUsize::new(0));
        let count = || {
            let ran = Arc::clone(&ran);
            move || {
                ran.fetch_add(1, Ordering::SeqCst);
            }
        };
        timers.after(ms(0), count()).unwrap();
        is_in.recv_timeout(HANG).unwrap();
        for _ in 0..1_000 {
            let key = timers.after(ms(1), count()).unwrap();
            let key = timers.reset(key, ms(2)).unwrap();
            assert!(timers.cancel(key));
        }
        assert_eq!(ran.load(Ordering::SeqCst), 0);
        // It waits for the driver, which waits for the executor.
        let (closing, done) = (timers.clone(), channel());
        thread::spawn(move || done.0.send(closing.shutdown()).unwrap());
        while !timers
            .after(ms(1), || ())
            .is_err_and(|refused| refused.is_closed())
        {
            thread::yield_now();
        }
        go.send(()).unwrap();
        done.1.recv_timeout(HANG).unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_shutdown_with_a_grace_does_not_wait_for_an_executor_that_blocks() {
    ends("scheduler", || {
        let ((entered, is_in), (go, let_go)) = (channel(), channel());
        let let_go = Mutex::new(let_go);
        let builder = Scheduler::builder().executor(Blocks { entered, let_go });
        let scheduler = builder.build().unwrap();
        let task = scheduler.after(ms(0), |_| ()).unwrap();
        is_in.recv_timeout(HANG).unwrap();
        let report = scheduler.shutdown(ms(10)).unwrap();
        assert_eq!(report.queued.len(), 1);
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Cancelled));
        go.send(()).unwrap();
    });
}
