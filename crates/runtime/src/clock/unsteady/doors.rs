//! Both doors as the tests of unsteady clocks need them: timers that have numbers.

use std::time::{Duration, SystemTime};

use wheel_sync::{Arc, Mutex};

use crate::clock::ManualClock;
use crate::{CancelOutcome, InlineExecutor, Schedule, Scheduler, TimerKey, Timers};

pub(super) type Log = Arc<Mutex<Vec<u64>>>;

/// One of the doors, as the tests need it: timers that have numbers, and a log of those that fired.
pub(super) trait Door {
    const NAME: &'static str;
    fn open(clock: &ManualClock, log: &Log) -> Self;
    fn after(&mut self, number: u64, delay: Duration);
    fn at(&mut self, number: u64, at: SystemTime);
    fn cancel(&mut self, number: u64) -> bool;
    /// Due `delay` from now instead.
    fn reset(&mut self, number: u64, delay: Duration) -> bool;
    /// How many this door has told of.
    fn clock_jumps(&self) -> u64;
    fn pending(&self) -> u64;
}

pub(super) struct Bare {
    timers: Timers,
    keys: Vec<(u64, TimerKey)>,
    log: Log,
}

impl Bare {
    fn keep(&mut self, number: u64, key: TimerKey) {
        self.keys.retain(|entry| entry.0 != number);
        self.keys.push((number, key));
    }

    fn key(&mut self, number: u64) -> Option<TimerKey> {
        let place = self.keys.iter().position(|entry| entry.0 == number)?;
        Some(self.keys.swap_remove(place).1)
    }
}

impl Door for Bare {
    const NAME: &'static str = "timers";

    fn open(clock: &ManualClock, log: &Log) -> Bare {
        Bare {
            timers: Timers::builder().clock(clock.clone()).build().unwrap(),
            keys: Vec::new(),
            log: Arc::clone(log),
        }
    }

    fn after(&mut self, number: u64, delay: Duration) {
        let log = Arc::clone(&self.log);
        let key = self.timers.after(delay, move || log.lock().push(number));
        self.keep(number, key.unwrap());
    }

    fn at(&mut self, number: u64, at: SystemTime) {
        let log = Arc::clone(&self.log);
        let key = self.timers.at(at, move || log.lock().push(number));
        self.keep(number, key.unwrap());
    }

    fn cancel(&mut self, number: u64) -> bool {
        self.key(number).is_some_and(|key| self.timers.cancel(key))
    }

    fn reset(&mut self, number: u64, delay: Duration) -> bool {
        let new = self
            .key(number)
            .and_then(|key| self.timers.reset(key, delay));
        self.keys.extend(new.map(|key| (number, key)));
        new.is_some()
    }

    fn clock_jumps(&self) -> u64 {
        self.timers.stats().clock_jumps
    }

    fn pending(&self) -> u64 {
        self.timers.len() as u64
    }
}

pub(super) struct Named {
    pub(super) scheduler: Scheduler,
    log: Log,
}

impl Door for Named {
    const NAME: &'static str = "scheduler";

    fn open(clock: &ManualClock, log: &Log) -> Named {
        let builder = Scheduler::builder().clock(clock.clone());
        Named {
            scheduler: builder.executor(InlineExecutor).build().unwrap(),
            log: Arc::clone(log),
        }
    }

    fn after(&mut self, number: u64, delay: Duration) {
        let log = Arc::clone(&self.log);
        let task = self.scheduler.task(number.to_string()).after(delay);
        task.run(move |_| log.lock().push(number)).unwrap();
    }

    fn at(&mut self, number: u64, at: SystemTime) {
        let log = Arc::clone(&self.log);
        let task = self.scheduler.task(number.to_string()).at(at);
        task.run(move |_| log.lock().push(number)).unwrap();
    }

    fn cancel(&mut self, number: u64) -> bool {
        let answer = self.scheduler.cancel(&number.to_string());
        answer == CancelOutcome::Cancelled
    }

    fn reset(&mut self, number: u64, delay: Duration) -> bool {
        let later = Schedule::after(delay);
        self.scheduler
            .reschedule(&number.to_string(), later)
            .is_ok()
    }

    fn clock_jumps(&self) -> u64 {
        self.scheduler.stats().clock_jumps
    }

    fn pending(&self) -> u64 {
        self.scheduler.stats().scheduled as u64
    }
}
