//! wait-idle: somebody waits for all runs to end, or for another change of the scheduler, while
//! that comes about. The waiter returns, and sees what was done.
#![cfg(wheel_model)]

use std::sync::Arc;

use wheel_loom_tests::Note;
use wheel_runtime::modelled::{Activity, mark};
use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::{model, thread};

/// An activity with so many runs.
fn runs(count: usize) -> Arc<Activity> {
    let activity = Arc::new(Activity::new());
    (0..count).for_each(|_| activity.begin());
    activity
}

#[test]
fn a_waiter_returns_when_the_last_run_has_ended() {
    model("wait-idle", || {
        let activity = runs(2);
        let notes = [Note::default(), Note::default()].map(Arc::new);
        let workers = notes.clone().map(|note| {
            let activity = Arc::clone(&activity);
            thread::spawn(move || {
                note.write(3);
                activity.end();
            })
        });
        assert_eq!(activity.wait_idle(), 0);
        assert!(notes.iter().all(|note| note.read() == 3));
        workers
            .into_iter()
            .for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn two_runs_that_wait_do_not_wait_for_each_other() {
    model("wait-idle, two inside", || {
        let activity = runs(2);
        let other = Arc::clone(&activity);
        let run = thread::spawn(move || {
            assert_eq!(other.wait_idle_inside(), 0);
            other.end();
        });
        assert_eq!(activity.wait_idle_inside(), 0);
        activity.end();
        run.join().unwrap();
        assert_eq!(activity.wait_idle(), 0);
    });
}

#[test]
fn a_handler_that_outlives_its_run_excuses_no_other() {
    model("wait-idle, over time", || {
        let activity = runs(2);
        let [waits, ends] = [Arc::clone(&activity), Arc::clone(&activity)];
        let is_over = Arc::new(AtomicBool::new(false));
        let [seen, said] = [Arc::clone(&is_over), Arc::clone(&is_over)];
        let note = Arc::new(Note::default());
        let noted = Arc::clone(&note);
        // Its own run, and another one.
        let handler = thread::spawn(move || {
            // Relaxed: the end of the run must bring it along.
            assert_eq!(waits.wait_idle_beyond(|| seen.load(Ordering::Relaxed)), 0);
        });
        let others = thread::spawn(move || {
            said.store(true, Ordering::Relaxed);
            ends.end();
            noted.write(3);
            ends.end();
        });
        let left = activity.wait_idle_beside(|| is_over.load(Ordering::Relaxed));
        assert_eq!((left, note.read()), (0, 3));
        others.join().unwrap();
        handler.join().unwrap();
    });
}

#[test]
fn who_is_not_woken_by_a_run_that_ends_is_told_later() {
    model("wait-idle, without a lock", || {
        let activity = runs(1);
        let ends = Arc::clone(&activity);
        let driver = thread::spawn(move || {
            if !ends.try_end() {
                ends.tell();
            }
        });
        assert_eq!(activity.wait_idle(), 0);
        driver.join().unwrap();
    });
}

#[test]
fn of_two_waiters_both_return() {
    model("wait-idle, two waiters", || {
        let activity = runs(1);
        let [other, ends] = [Arc::clone(&activity), Arc::clone(&activity)];
        let waiter = thread::spawn(move || assert_eq!(other.wait_idle(), 0));
        let run = thread::spawn(move || ends.end());
        assert_eq!(activity.wait_idle(), 0);
        waiter.join().unwrap();
        run.join().unwrap();
    });
}

#[test]
fn a_waiter_hears_of_a_change_that_is_no_run() {
    model("wait-idle, told", || {
        let activity = runs(0);
        let changed = Arc::new(AtomicBool::new(false));
        let (tells, change) = (Arc::clone(&activity), Arc::clone(&changed));
        let teller = thread::spawn(move || {
            // Relaxed: `tell` must bring it along.
            change.store(true, Ordering::Relaxed);
            tells.tell();
        });
        // Relaxed: as above.
        assert!(activity.wait_until(|| changed.load(Ordering::Relaxed)));
        teller.join().unwrap();
    });
}

#[test]
fn who_waits_for_a_mark_returns_and_sees_what_was_handed_over() {
    model("wait-idle, mark", || {
        let note = Arc::new(Note::default());
        let (mark, wait) = mark();
        let writes = Arc::clone(&note);
        let driver = thread::spawn(move || {
            writes.write(3);
            drop(mark);
        });
        wait.wait();
        assert_eq!(note.read(), 3);
        driver.join().unwrap();
    });
}
