//! future-or-fire: a future registers a waker, or another one, or is dropped or reset, while the
//! driver fires its timer or the engine is closed. Whoever finds it pending is woken: with the waker
//! that it brought last.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use wheel_loom_tests::Seen;
use wheel_loom_tests::jobs::{Gate, Jobs};
use wheel_runtime::{CancelToken, ManualClock, Sleep, SleepError, Timers};
use wheel_sync::{model, rest_unexplored, thread, unexplored};

const MS: Duration = Duration::from_millis(1);

/// Whose waker opens a gate, and counts that.
struct Sleeper {
    gate: Arc<Gate>,
    woken: Jobs,
}

impl Sleeper {
    fn new() -> Arc<Sleeper> {
        let (gate, woken) = (Gate::new(), Jobs::new());
        Arc::new(Sleeper { gate, woken })
    }

    fn poll(self: &Arc<Sleeper>, sleep: &mut Sleep) -> Poll<Result<(), SleepError>> {
        let waker = Waker::from(Arc::clone(self));
        Pin::new(sleep).poll(&mut Context::from_waker(&waker))
    }

    /// Polls until it is done, and waits in between until it is woken. Loom finds the deadlock when
    /// nobody does.
    fn sleep(self: &Arc<Sleeper>, sleep: &mut Sleep) -> Result<(), SleepError> {
        match self.poll(sleep) {
            Poll::Ready(result) => result,
            Poll::Pending => {
                self.gate.pass();
                match self.poll(sleep) {
                    Poll::Ready(result) => result,
                    Poll::Pending => panic!("woken for nothing"),
                }
            }
        }
    }
}

impl Wake for Sleeper {
    fn wake(self: Arc<Sleeper>) {
        self.woken.count();
        self.gate.open();
    }
}

/// A sleep of a millisecond that `first` waits for, on a clock that stands still.
fn waiting(first: &Arc<Sleeper>) -> (ManualClock, Timers, Sleep) {
    unexplored(|| {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock.clone()).build().unwrap();
        clock.advance(Duration::ZERO);
        let mut sleep = timers.sleep(MS);
        assert!(first.poll(&mut sleep).is_pending());
        (clock, timers, sleep)
    })
}

#[test]
fn a_first_poll_that_meets_its_instant_is_done_or_woken() {
    model("future-or-fire, first poll", || {
        let (clock, timers, mut sleep) = unexplored(|| {
            let clock = ManualClock::new();
            let timers = Timers::builder().clock(clock.clone()).build().unwrap();
            clock.advance(Duration::ZERO);
            let sleep = timers.sleep(MS);
            (clock, timers, sleep)
        });
        let polls = thread::spawn(move || Sleeper::new().sleep(&mut sleep));
        clock.advance(MS);
        assert_eq!(polls.join().unwrap(), Ok(()));
        rest_unexplored();
        assert_eq!((timers.len(), timers.shutdown()), (0, 0));
    });
}

#[test]
fn a_waker_that_changes_while_the_timer_fires_is_woken_or_need_not_be() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("future-or-fire", move || {
        let (first, second) = (Sleeper::new(), Sleeper::new());
        let (clock, timers, mut sleep) = waiting(&first);
        let other = Arc::clone(&second);
        let polls = thread::spawn(move || {
            assert_eq!(other.sleep(&mut sleep), Ok(()));
        });
        clock.advance(MS);
        polls.join().unwrap();
        rest_unexplored();
        let woken = (first.woken.ran(), second.woken.ran());
        // The timer has one waker at a time.
        sees.note(woken.1);
        assert!(matches!(woken, (1, 0) | (0, 1)), "{woken:?}");
        assert_eq!((timers.len(), timers.shutdown()), (0, 0));
    });
    seen.all(2);
}

#[test]
fn a_future_that_is_dropped_while_it_fires_leaves_nothing() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("future-or-fire, drop", move || {
        let sleeper = Sleeper::new();
        let (clock, timers, sleep) = waiting(&sleeper);
        let dropper = thread::spawn(move || drop(sleep));
        clock.advance(MS);
        dropper.join().unwrap();
        rest_unexplored();
        sees.note(sleeper.woken.ran());
        assert_eq!((timers.len(), timers.shutdown()), (0, 0));
        assert_eq!(Arc::strong_count(&sleeper), 1, "a waker is left");
    });
    seen.all(2);
}

#[test]
fn a_reset_that_meets_the_old_instant_leaves_nobody_asleep() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("future-or-fire, reset", move || {
        let sleeper = Sleeper::new();
        let (clock, timers, mut sleep) = waiting(&sleeper);
        let resets = thread::spawn(move || {
            sleep.reset_until(sleep.due() + MS);
            sleep
        });
        clock.advance(MS);
        let mut sleep = resets.join().unwrap();
        sees.note(sleeper.woken.ran());
        if sleeper.woken.ran() == 1 {
            // It fired before, so its task polls it again.
            assert!(sleeper.poll(&mut sleep).is_pending());
        }
        clock.advance(MS);
        rest_unexplored();
        assert_eq!(sleeper.poll(&mut sleep), Poll::Ready(Ok(())));
        assert_eq!((timers.len(), timers.shutdown()), (0, 0));
    });
    seen.all(2);
}

#[test]
fn a_first_poll_that_meets_a_close_is_refused_or_woken() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("future-or-fire, close", move || {
        let (timers, mut sleep) = unexplored(|| {
            let clock = ManualClock::new();
            let timers = Timers::builder().clock(clock.clone()).build().unwrap();
            clock.advance(Duration::ZERO);
            let sleep = timers.sleep(MS);
            (timers, sleep)
        });
        let sleeper = Sleeper::new();
        let polls = {
            let sleeper = Arc::clone(&sleeper);
            thread::spawn(move || sleeper.sleep(&mut sleep))
        };
        timers.shutdown();
        let ended = polls.join().unwrap();
        rest_unexplored();
        assert!(ended.unwrap_err().is_closed());
        sees.note(sleeper.woken.ran());
        assert_eq!(timers.len(), 0);
    });
    seen.all(2);
}

#[test]
fn a_waker_that_changes_while_the_engine_is_closed_is_woken() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("future-or-fire, changed and closed", move || {
        let (first, second) = (Sleeper::new(), Sleeper::new());
        let (_clock, timers, mut sleep) = waiting(&first);
        let polls = {
            let second = Arc::clone(&second);
            thread::spawn(move || second.sleep(&mut sleep))
        };
        timers.shutdown();
        assert!(polls.join().unwrap().unwrap_err().is_closed());
        rest_unexplored();
        sees.note(second.woken.ran());
        assert!(first.woken.ran() + second.woken.ran() > 0);
    });
    seen.all(2);
}

#[test]
fn a_token_that_is_set_while_somebody_begins_to_await_it_wakes() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("future-or-fire, token", move || {
        let (token, sleeper) = (CancelToken::new(), Sleeper::new());
        let other = token.clone();
        let sets = thread::spawn(move || other.cancel());
        let waker = Waker::from(Arc::clone(&sleeper));
        let mut cx = Context::from_waker(&waker);
        let mut cancelled = token.cancelled();
        if Pin::new(&mut cancelled).poll(&mut cx).is_pending() {
            sleeper.gate.pass();
            assert!(Pin::new(&mut cancelled).poll(&mut cx).is_ready());
        }
        sets.join().unwrap();
        sees.note(sleeper.woken.ran());
    });
    seen.all(2);
}
