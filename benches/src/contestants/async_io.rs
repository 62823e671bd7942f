//! async-io's `Timer`: a tree in the reactor, reached through a bounded queue.
//!
//! It has the real clock only, and one reactor per process with a thread of its own. Each timer
//! that is set wakes that thread.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use ::async_io::Timer;

use super::NO_WORKERS;
use super::futures::{register, telling};
use crate::{Contestant, Hand, Moment, Recorder, Shared, Tick, Time, Value, Workload};

/// The reactor is the process's own; only the start of time is kept.
pub struct AsyncIo {
    started: Instant,
}

#[inline]
fn start(at: Instant, waker: &Waker) -> Timer {
    let mut timer = Timer::at(at);
    register(Pin::new(&mut timer), waker);
    timer
}

impl Contestant for AsyncIo {
    type Key = Timer;
    type Hand = AsyncIoHand;

    const NAME: &'static str = "async_io";
    const SETUP: &'static str = "async-io 2.6 Timer::at, polled once; its reactor thread does the \
                                 rest, outside of the figures but for CPU time";

    fn left_out(workload: Workload) -> Option<&'static str> {
        if workload.needs_clock_by_hand() {
            return Some("has only the real clock, and an hour cannot be waited for");
        }
        workload.needs_workers().then_some(NO_WORKERS)
    }

    fn new(_: Time) -> Self {
        AsyncIo {
            started: Instant::now(),
        }
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, _: Value) -> Timer {
        let due = self.started + Duration::from_millis(due.get());
        start(due, Waker::noop())
    }

    #[inline(always)]
    fn cancel(&mut self, timer: Timer) -> bool {
        drop(timer);
        true
    }

    fn advance(&mut self, _: Tick) -> usize {
        0
    }

    fn share(threads: usize) -> Shared<Self> {
        Shared {
            hands: vec![AsyncIoHand; threads],
            drivers: Vec::new(),
            settle: None,
        }
    }

    fn fire_at(recorder: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        let asked = recorder.asked().iter().enumerate();
        let timers = asked.map(|(index, &at)| start(at, &telling(recorder, index)));
        let timers: Vec<Timer> = timers.collect();
        Box::new(timers)
    }
}

/// Any thread will do.
#[derive(Clone)]
pub struct AsyncIoHand;

impl Hand for AsyncIoHand {
    type Key = Timer;

    #[inline(always)]
    fn insert(&mut self, now: Moment, delay_ms: u64, _: Value) -> Timer {
        start(now.instant + Duration::from_millis(delay_ms), Waker::noop())
    }

    #[inline(always)]
    fn cancel(&mut self, timer: Timer) {
        drop(timer);
    }
}
