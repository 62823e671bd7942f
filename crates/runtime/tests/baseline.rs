//! What an engine takes, and that it gives it back: bytes, threads, open files. Alone in its
//! process and one test at a time, since it counts all of the process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use wheel_runtime::{
    CancelOutcome, Executor, InlineExecutor, Job, ManualClock, Pool, Scheduler, TaskFilter, Timers,
};
use wheel_testkit::CountedBytes;

#[global_allocator]
static BYTES: CountedBytes = CountedBytes::new();

const HANG: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);
/// What the test harness and std's thread-locals may take meanwhile.
const NOISE: isize = 64 * 1024;

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `large` in release builds or when `WHEEL_FULL` is set, and a tenth of it otherwise.
fn scaled(large: usize) -> usize {
    match cfg!(debug_assertions) && std::env::var_os("WHEEL_FULL").is_none() {
        true => large / 10,
        false => large,
    }
}

/// Threads of engines, by their names, and open files of this process, where the system tells.
fn threads_and_files() -> (usize, usize) {
    let entries = |folder: &str| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries("/proc/self/task")
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    let threads = names.filter(|name| name.starts_with("wheel")).count();
    (threads, entries("/proc/self/fd").count())
}

/// Looks until it is so: threads that nobody waits for need a moment to end.
fn comes_true(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < HANG, "it never came about: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn assert_bytes_come_back(before: isize) {
    let what = "the bytes are given back";
    comes_true(what, || BYTES.now() - before < NOISE);
}

/// Timers on a manual clock: what a storm of timeouts holds, and what it holds the second time.
#[test]
fn a_storm_of_timeouts_holds_no_more_bytes_the_tenth_time() {
    let _alone = alone();
    let start = BYTES.now();
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    let alive = Arc::new(());
    let count = scaled(100_000);
    let mut held = Vec::new();
    for round in 0..10_u64 {
        let keys: Vec<_> = (0..count as u64)
            .map(|n| {
                let alive = Arc::clone(&alive);
                let delay = Duration::from_secs(30 + (n * 7919 + round) % 7_200);
                timers.after(delay, move || drop(alive)).unwrap()
            })
            .collect();
        assert_eq!(Arc::strong_count(&alive), 1 + count);
        for key in keys {
            assert!(timers.cancel(key));
        }
        assert_eq!(Arc::strong_count(&alive), 1, "a cancelled callback is kept");
        clock.run_for(HOUR);
        held.push(BYTES.now() - start);
    }
    // The arena and the slots keep what the first round took, and the closures are gone. Segments
    // double, so up to twice of what is used is reserved: 48 bytes and a place in a slot.
    let each = held[0] / count as isize;
    assert!(
        each <= 2 * 64,
        "{each} bytes for each timer that was pending"
    );
    let most = held[0] + held[0] / 4 + NOISE;
    assert!(held.iter().all(|&held| held <= most), "{held:?}");
    drop(timers);
    drop(clock);
    assert_bytes_come_back(start);
}

#[test]
fn tasks_that_came_and_went_leave_nothing_in_the_registry() {
    const TASKS: usize = 100_000;
    let _alone = alone();
    let start = BYTES.now();
    let scheduler = Scheduler::builder().workers(2).build().unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let mut held = Vec::new();
    for round in 0..10 {
        let mut cancelled = 0;
        for n in 0..TASKS / 10 {
            let runs = Arc::clone(&runs);
            let count = move |_: &_| {
                // Relaxed: a count.
                runs.fetch_add(1, Ordering::Relaxed);
            };
            // Named and numbered ones, that run, and that are cancelled before.
            let task = match n % 2 {
                0 => scheduler.task(format!("task-{round}-{n}")),
                _ => scheduler.unnamed(),
            };
            if n % 4 < 2 {
                task.after(Duration::ZERO).run(count).unwrap();
            } else {
                let task = task.after(HOUR).run(count).unwrap();
                assert_eq!(task.cancel(), CancelOutcome::Cancelled);
                cancelled += 1;
            }
        }
        assert!(scheduler.wait_empty_timeout(HANG));
        assert!(scheduler.wait_idle_timeout(HANG));
        assert!(scheduler.tasks(&TaskFilter::all()).is_empty());
        let stats = scheduler.stats();
        assert_eq!((stats.scheduled, stats.queued, stats.running), (0, 0, 0));
        assert_eq!(stats.cancelled, cancelled * (round + 1));
        held.push(BYTES.now() - start);
    }
    assert_eq!(runs.load(Ordering::Relaxed), TASKS / 2);
    // What a round needs at most, if no worker gets to run before all of it is there; not what ten
    // rounds would leave.
    let most = (TASKS / 10 * 256) as isize + NOISE;
    assert!(held.iter().all(|&held| held <= most), "{held:?}");
    scheduler.shutdown(HANG).unwrap();
    drop(scheduler);
    assert_bytes_come_back(start);
}

/// Every worker is busy; what is queued meanwhile is cancelled again, storm after storm.
#[test]
fn a_queue_whose_runs_were_cancelled_holds_no_more() {
    let _alone = alone();
    let start = BYTES.now();
    let clock = ManualClock::new();
    let scheduler = Scheduler::builder().workers(1).clock(clock.clone());
    let scheduler = scheduler.build().unwrap();
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let wait = Arc::clone(&gate);
    let busy = scheduler.after(Duration::ZERO, move |_| drop(wait.lock().unwrap()));
    comes_true("the worker is busy", || scheduler.stats().running == 1);
    let ran = Arc::new(AtomicUsize::new(0));
    let count = scaled(100_000) / 10;
    let mut held = Vec::new();
    for _ in 0..10 {
        let tasks: Vec<_> = (0..count)
            .map(|_| {
                let ran = Arc::clone(&ran);
                let run = move |_: &_| {
                    // Relaxed: a count.
                    ran.fetch_add(1, Ordering::Relaxed);
                };
                scheduler.after(Duration::from_millis(5), run).unwrap()
            })
            .collect();
        clock.run_for(Duration::from_millis(10));
        comes_true("all are queued", || scheduler.stats().queued == count);
        for task in &tasks {
            assert_eq!(task.cancel(), CancelOutcome::Cancelled);
        }
        drop(tasks);
        assert_eq!(scheduler.stats().queued, 0);
        held.push(BYTES.now() - start);
    }
    let most = 2 * held[0] + NOISE;
    assert!(held.iter().all(|&held| held <= most), "{held:?}");
    drop(closed);
    assert!(scheduler.wait_empty_timeout(HANG));
    assert_eq!(ran.load(Ordering::Relaxed), 0, "a cancelled run has run");
    scheduler.shutdown(HANG).unwrap();
    drop((busy, scheduler, clock));
    assert_bytes_come_back(start);
}

/// A burst that a pool has worked off leaves no room behind.
#[test]
fn a_pool_gives_back_what_a_burst_took() {
    let _alone = alone();
    let pool = Pool::builder().workers(2).build().unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    let count = scaled(200_000);
    let burst = || {
        let job = || {
            let ran = Arc::clone(&ran);
            Job::new(move || {
                // Relaxed: a count.
                ran.fetch_add(1, Ordering::Relaxed);
            })
        };
        for _ in 0..count / 100 {
            let mut jobs: Vec<Job> = (0..100).map(|_| job()).collect();
            pool.execute(&mut jobs);
        }
    };
    let before = BYTES.now();
    for round in 1..=5 {
        burst();
        comes_true("all have run", || {
            ran.load(Ordering::Relaxed) == round * count && pool.queued() == 0
        });
        // The queue's heap may keep room for 4096 jobs.
        let least = NOISE + 4_096 * 128;
        comes_true("the room is given back", || BYTES.now() - before <= least);
    }
    pool.shutdown(HANG).unwrap();
}

/// What each kind of engine has started and opened is gone after it, however it ends.
#[test]
fn threads_and_files_are_back_to_what_they_were() {
    let _alone = alone();
    let kinds: [(&str, fn()); 6] = [
        ("timers, dropped", || {
            let timers = Timers::builder().build().unwrap();
            timers.after(HOUR, || ()).unwrap();
        }),
        ("timers, shut down", || {
            let timers = Timers::builder().build().unwrap();
            timers.after(HOUR, || ()).unwrap();
            timers
                .at(std::time::SystemTime::now() + HOUR, || ())
                .unwrap();
            assert_eq!(timers.shutdown(), 2);
        }),
        ("timers on a manual clock", || {
            let timers = Timers::builder().clock(ManualClock::new()).build();
            timers.unwrap().after(HOUR, || ()).unwrap();
        }),
        ("a scheduler, dropped", || {
            let scheduler = Scheduler::builder().workers(3).build().unwrap();
            scheduler.every(Duration::from_millis(1), |_| ()).unwrap();
        }),
        ("a scheduler, shut down", || {
            let scheduler = Scheduler::builder().workers(3).build().unwrap();
            scheduler.after(HOUR, |_| ()).unwrap();
            assert_eq!(scheduler.shutdown(HANG).unwrap().pending.len(), 1);
        }),
        ("a scheduler without workers", || {
            let scheduler = Scheduler::builder().executor(InlineExecutor);
            scheduler.build().unwrap().after(HOUR, |_| ()).unwrap();
        }),
    ];
    let is_back_to = |files| {
        let (threads, now) = threads_and_files();
        threads == 0 && now <= files
    };
    for (name, run) in kinds {
        // No engine is there. A thread that has just begun has no name yet, but files.
        let files = threads_and_files().1;
        // The first one warms up what std keeps for the process.
        run();
        comes_true(name, || is_back_to(files));
        let start = BYTES.now();
        for _ in 0..scaled(200) {
            run();
        }
        let what = format!("{name}: no thread, and {files} files");
        comes_true(&what, || is_back_to(files));
        assert_bytes_come_back(start);
    }
}
