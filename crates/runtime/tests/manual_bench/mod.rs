//! Timers on a clock that is moved by hand, and a log of who ran and when.

use std::time::Duration;

use wheel_runtime::{ManualClock, TimerKey, Timers};
use wheel_sync::{Arc, Mutex};

type Log = Arc<Mutex<Vec<(u32, Duration)>>>;

/// Timers on a manual clock, and a log of who ran and when.
pub(crate) struct Bench {
    pub(crate) clock: ManualClock,
    pub(crate) timers: Timers,
    log: Log,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let clock = ManualClock::new();
        Bench {
            timers: Timers::builder().clock(clock.clone()).build().unwrap(),
            clock,
            log: Log::default(),
        }
    }

    pub(crate) fn note(&self, name: u32) -> impl FnOnce() + Send + 'static {
        let (log, clock) = (Arc::clone(&self.log), self.clock.clone());
        move || log.lock().push((name, clock.now()))
    }

    pub(crate) fn after(&self, delay: Duration, name: u32) -> TimerKey {
        self.timers.after(delay, self.note(name)).unwrap()
    }

    pub(crate) fn ran(&self) -> Vec<(u32, Duration)> {
        self.log.lock().clone()
    }
}

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) const fn days(n: u64) -> Duration {
    Duration::from_secs(n * 86_400)
}
