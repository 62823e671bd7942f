//! snapshot-or-sleep: somebody asks the driver what it holds while it starts, goes to sleep, or
//! ends. Whoever asks is answered: nobody waits for ever.

use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_runtime::{ManualClock, SnapshotError, Timers};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_driver_that_starts_or_goes_to_sleep_answers() {
    model("snapshot-or-sleep", || {
        let timers = Timers::builder().clock(ManualClock::new()).build();
        let timers = timers.unwrap();
        assert_eq!(timers.snapshot().map(|seen| seen.pending()), Ok(0));
        rest_unexplored();
        assert_eq!(timers.shutdown(), 0);
    });
}

/// Timers whose driver sleeps.
fn asleep() -> Timers {
    unexplored(|| {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock.clone()).build().unwrap();
        assert!(timers.after(MS, || ()).is_ok());
        clock.advance(Duration::ZERO);
        timers
    })
}

#[test]
fn two_who_ask_are_both_answered() {
    model("snapshot-or-sleep, two", || {
        let timers = asleep();
        let other = timers.clone();
        let asks = move |timers: &Timers| timers.snapshot().map(|seen| seen.pending());
        let asker = thread::spawn(move || asks(&other));
        assert_eq!(asks(&timers), Ok(1));
        assert_eq!(asker.join().unwrap(), Ok(1));
        rest_unexplored();
        assert_eq!(timers.shutdown(), 1);
    });
}

#[test]
fn a_driver_that_ends_answers_or_says_that_the_engine_is_closed() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("snapshot-or-sleep, close", move || {
        let timers = asleep();
        let other = timers.clone();
        let asker = thread::spawn(move || other.snapshot().map(|seen| seen.pending()));
        assert_eq!(timers.shutdown(), 1);
        let answer = asker.join().unwrap();
        rest_unexplored();
        sees.note(usize::from(answer.is_ok()));
        assert!(matches!(answer, Ok(1) | Err(SnapshotError::Closed)));
    });
    seen.all(2);
}
