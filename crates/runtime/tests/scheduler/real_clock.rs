//! The little that needs the real clock: never early, exactly once, and it ends. Nothing here
//! asserts how late things are but in "it hangs".

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use wheel_runtime::{
    CancelOutcome, Context, InlineExecutor, OnConflict, Schedule, Scheduler, TaskFilter, TaskState,
    global,
};

use crate::bed::{HANG, ms, size};

fn scheduler(workers: usize) -> Scheduler {
    Scheduler::builder().workers(workers).build().unwrap()
}

#[test] // EA-01
fn nothing_runs_early_or_twice() {
    let scheduler = scheduler(2);
    let (early, runs) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (scheduler, early, runs) = (&scheduler, &early, &runs);
            scope.spawn(move || {
                for n in 0..2_500 {
                    let delay = ms((n * 7 + thread * 13) % 50);
                    let (early, runs) = (early.clone(), runs.clone());
                    let before = Instant::now();
                    let handler = move |_: &Context| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        early.fetch_add(usize::from(before.elapsed() < delay), Ordering::SeqCst);
                    };
                    scheduler.after(delay, handler).unwrap();
                }
            });
        }
    });
    assert!(scheduler.wait_empty_timeout(HANG));
    assert_eq!(runs.load(Ordering::SeqCst), 10_000);
    assert_eq!(early.load(Ordering::SeqCst), 0);
    assert_eq!(scheduler.stats().early, 0);
    assert_eq!(scheduler.stats().lateness.count, 10_000);
    scheduler.shutdown(HANG).unwrap();
}

#[test]
fn a_period_shorter_than_a_tick_is_one_run_per_tick() {
    let shortest = Duration::from_nanos(1);
    for schedule in [Schedule::every(shortest), Schedule::every_after(shortest)] {
        let scheduler = Scheduler::builder().executor(InlineExecutor);
        let scheduler = scheduler.build().unwrap();
        let begun = Instant::now();
        let task = scheduler.unnamed().schedule(schedule).count(20);
        let task = task.run(|_| ()).unwrap();
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
        // Two ticks that a run may share: the first one and the one that was rounded up to.
        assert!(begun.elapsed() >= ms(18), "{:?}", begun.elapsed());
    }
}

#[test]
fn idle_means_that_all_that_was_due_has_run() {
    let scheduler = scheduler(2);
    for _ in 0..5 {
        for _ in 0..5_000 {
            scheduler.after(Duration::ZERO, |_| ()).unwrap();
        }
        assert!(scheduler.wait_idle_timeout(HANG));
        assert_eq!(scheduler.stats().scheduled, 0);
    }
    assert_eq!(scheduler.stats().succeeded, 25_000);
}

#[test] // WK-01
fn a_sleeping_driver_is_woken_by_what_is_moved_to_now() {
    let scheduler = scheduler(1);
    let task = scheduler.task("x").after(Duration::from_secs(3_600));
    let task = task.run(|_| ()).unwrap();
    std::thread::sleep(ms(20));
    scheduler.reschedule("x", Schedule::after(ms(5))).unwrap();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
}

#[test] // WK-05
fn after_a_storm_of_changes_each_task_runs_once_at_its_last_time() {
    let scheduler = scheduler(2);
    let early = Arc::new(AtomicUsize::new(0));
    let far = Duration::from_secs(3_600);
    let tasks: Vec<_> = (0..64)
        .map(|n| {
            scheduler
                .task(n.to_string())
                .after(far)
                .run(|_| ())
                .unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let scheduler = &scheduler;
            scope.spawn(move || {
                for n in 0..25_000_u64 {
                    let id = ((n * 31 + thread * 17) % 64).to_string();
                    let delay = Duration::from_secs(60 + (n * 7) % 1_000);
                    scheduler.reschedule(&id, Schedule::after(delay)).unwrap();
                }
            });
        }
    });
    let last = Instant::now();
    for task in &tasks {
        scheduler
            .reschedule(task.id(), Schedule::after(ms(30)))
            .unwrap();
    }
    for task in &tasks {
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
        assert_eq!(task.info().runs, 1);
        early.fetch_add(usize::from(last.elapsed() < ms(30)), Ordering::SeqCst);
    }
    assert_eq!(early.load(Ordering::SeqCst), 0);
    scheduler.shutdown(HANG).unwrap();
}

#[test] // WK-07
fn thousands_of_tasks_every_millisecond_make_progress_and_all_can_be_cancelled() {
    let scheduler = scheduler(2);
    let runs = Arc::new(AtomicUsize::new(0));
    let count = size(5_000, 100_000);
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let runs = runs.clone();
            let count = move |_: &Context| {
                runs.fetch_add(1, Ordering::Relaxed);
            };
            scheduler.every(ms(1), count).unwrap()
        })
        .collect();
    for _ in 0..size(3, 20) {
        let (before, begin) = (runs.load(Ordering::Relaxed), Instant::now());
        while runs.load(Ordering::Relaxed) < before + count {
            assert!(begin.elapsed() < HANG, "no progress");
            std::thread::sleep(ms(1));
        }
    }
    for task in &tasks {
        assert_ne!(task.cancel(), CancelOutcome::NotFound);
    }
    scheduler.shutdown(HANG).unwrap();
    assert!(tasks.iter().all(|task| task.wait() == TaskState::Cancelled));
}

#[test] // OF-03
fn ten_thousand_of_one_tick_all_run_and_so_do_their_neighbours() {
    let scheduler = scheduler(8);
    let at = std::time::SystemTime::now() + ms(100);
    for _ in 0..10_000 {
        scheduler.at(at, |_| ()).unwrap();
    }
    let next = scheduler.at(at + ms(5), |_| ()).unwrap();
    let every = scheduler.every(ms(10), |_| ()).unwrap();
    assert_eq!(next.wait_timeout(HANG), Some(TaskState::Succeeded));
    while scheduler.stats().scheduled + scheduler.stats().queued > 1 {
        std::thread::sleep(ms(1));
    }
    assert!(scheduler.wait_idle_timeout(HANG));
    assert!(every.info().runs >= 1);
    let once = scheduler.stats().succeeded - every.info().succeeded;
    assert!((10_000..=10_002).contains(&once), "{once}");
    scheduler.shutdown(HANG).unwrap();
}

#[test] // RE-06
fn handlers_and_threads_that_add_and_cancel_at_random_make_progress() {
    let scheduler = scheduler(2);
    let runs = Arc::new(AtomicUsize::new(0));
    let ended = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let (scheduler, runs, ended) = (&scheduler, &runs, &ended);
            scope.spawn(move || {
                for n in 0..size(300, 10_000) {
                    let (inside, runs) = (scheduler.clone(), runs.clone());
                    let handler = move |_: &Context| {
                        let run = runs.fetch_add(1, Ordering::Relaxed);
                        let _ = inside.cancel(&(run * 7 % 50).to_string());
                    };
                    let task = scheduler.task(((thread * 13 + n) % 50).to_string());
                    let task = task.every(ms(1)).on_conflict(OnConflict::Replace);
                    task.run(handler).unwrap();
                    std::thread::sleep(Duration::from_micros(300));
                    let _ = scheduler.cancel(&(n % 50).to_string());
                }
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        // Steadily: a hundred more runs, again and again, for as long as the threads are at it.
        while ended.load(Ordering::Relaxed) == 0 {
            let (before, begin) = (runs.load(Ordering::Relaxed), Instant::now());
            while runs.load(Ordering::Relaxed) < before + 100 && ended.load(Ordering::Relaxed) == 0
            {
                assert!(begin.elapsed() < HANG, "no progress");
                std::thread::sleep(ms(1));
            }
        }
    });
    assert!(runs.load(Ordering::Relaxed) > 100);
    let live = scheduler.tasks(&TaskFilter::all()).len();
    assert!(live <= 50, "{live}");
    // Handlers hold the scheduler, so it has to be told.
    scheduler.shutdown(HANG).unwrap();
    assert!(scheduler.wait_empty_timeout(HANG));
}

#[test]
fn the_process_wide_scheduler_is_one() {
    let task = global().task("global").after(ms(1)).run(|_| ()).unwrap();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    assert_eq!(std::ptr::from_ref(global()), std::ptr::from_ref(global()));
}
