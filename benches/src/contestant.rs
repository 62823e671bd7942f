//! The one trait that all contestants stand behind, and what it is made of.
//!
//! An engine can be used in three ways, and the trait has a part for each:
//!
//! - by one thread, the bench moving the clock: `insert`, `cancel`, `advance`;
//! - by several threads at once, in real time: [`share`](Contestant::share) gives each a [`Hand`];
//! - in real time with something to call: [`fire_at`](Contestant::fire_at), for lateness.
//!
//! An engine that has only the real clock takes the bench's ticks as milliseconds from its start;
//! its `advance` then does nothing, because its own thread does the work.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::{Tick, Workload};

/// What every timer carries: two words, as an `Arc<dyn Fn>` is, which travel in registers.
pub type Value = (u64, u64);

/// Who moves the clock of an engine that is used by one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The bench, through [`Contestant::advance`]: nothing fires by itself.
    ByHand,
    /// The engine as its users have it: on its own clock and thread, if it has them.
    Usual,
}

/// An engine that takes part.
pub trait Contestant: Sized {
    /// Names a timer. For engines of futures it is the future itself, and dropping it cancels.
    type Key: Send;

    /// What one of several threads works with; [`NoHand`] where there cannot be several.
    type Hand: Hand<Key = Self::Key> + 'static;

    /// The name in every table.
    const NAME: &'static str;

    /// What a reader must know about how it is set up, in one line.
    const SETUP: &'static str;

    /// Why it does not take part in a workload, in words; `None` when it does.
    fn left_out(workload: Workload) -> Option<&'static str>;

    /// An empty engine at tick 0.
    fn new(time: Time) -> Self;

    /// Adds a timer.
    fn insert(&mut self, due: Tick, value: Value) -> Self::Key;

    /// Removes a timer; whether it was still pending, as far as the engine tells.
    fn cancel(&mut self, key: Self::Key) -> bool;

    /// Fires everything due by `now`, with all the work that belongs to the driver. Returns how
    /// many fired.
    fn advance(&mut self, now: Tick) -> usize;

    /// An empty engine for `threads` threads, in real time.
    fn share(threads: usize) -> Shared<Self>;

    /// Sets a timer for each instant that `recorder` asks for, and has it told when each fires.
    /// What is returned keeps the engine alive. `variant` names another setup than the usual one,
    /// for engines that have one.
    fn fire_at(recorder: &Arc<Recorder>, variant: &str) -> Box<dyn Any>;
}

/// What one thread does with a shared engine.
pub trait Hand: Send {
    /// Names a timer, also on another thread.
    type Key: Send;

    /// Runs `work` on this thread with whatever the engine wants around it.
    fn on_thread(&mut self, work: &mut dyn FnMut(&mut Self)) {
        work(self);
    }

    /// Adds a timer due `delay_ms` after `now`.
    fn insert(&mut self, now: Moment, delay_ms: u64, value: Value) -> Self::Key;

    /// Removes a timer, set by this thread or another.
    fn cancel(&mut self, key: Self::Key);
}

/// A reading of the clock, taken once for many operations, so that no engine is charged for it.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Milliseconds since the start.
    pub tick: u64,
    /// The same for engines that live by instants.
    pub instant: Instant,
}

impl Moment {
    /// Now, counted from `started`.
    pub fn since(started: Instant) -> Moment {
        let instant = Instant::now();
        let elapsed = instant.saturating_duration_since(started);
        Moment {
            tick: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            instant,
        }
    }
}

/// An engine that several threads use.
pub struct Shared<C: Contestant> {
    /// One for each thread.
    pub hands: Vec<C::Hand>,
    /// What has to be called every millisecond, each by a thread of its own; none when the engine
    /// has a thread for it.
    pub drivers: Vec<Pulse>,
    /// Returns once the engine has carried out everything that it was handed; `None` when an
    /// operation that has returned is done.
    pub settle: Option<Box<dyn FnOnce() + Send>>,
}

/// A driver's pass at a tick.
pub type Pulse = Box<dyn FnMut(Tick) + Send>;

/// The hand of an engine that has one owner.
pub struct NoHand<K> {
    key: std::marker::PhantomData<fn() -> K>,
    never: std::convert::Infallible,
}

impl<K: Send> Hand for NoHand<K> {
    type Key = K;

    fn insert(&mut self, _: Moment, _: u64, _: Value) -> K {
        match self.never {}
    }

    fn cancel(&mut self, _: K) {
        match self.never {}
    }
}

/// Takes down when each of many timers fired, against when it was asked to.
#[derive(Debug)]
pub struct Recorder {
    asked: Vec<Instant>,
    late_ns: Vec<AtomicI64>,
    missing: AtomicUsize,
}

impl Recorder {
    const NOT_YET: i64 = i64::MIN;

    /// Timers asked for at these instants.
    pub fn new(asked: Vec<Instant>) -> Arc<Recorder> {
        Arc::new(Recorder {
            late_ns: asked
                .iter()
                .map(|_| AtomicI64::new(Self::NOT_YET))
                .collect(),
            missing: AtomicUsize::new(asked.len()),
            asked,
        })
    }

    /// The instants.
    pub fn asked(&self) -> &[Instant] {
        &self.asked
    }

    /// How far off the instant of `index` is now.
    pub fn delay(&self, index: usize) -> Duration {
        self.asked[index].saturating_duration_since(Instant::now())
    }

    /// The timer `index` fires now.
    ///
    /// # Panics
    ///
    /// If it has fired before.
    pub fn fired(&self, index: usize) {
        let now = Instant::now();
        let asked = self.asked[index];
        let late = match now.checked_duration_since(asked) {
            Some(late) => signed(late),
            None => -signed(asked.duration_since(now)),
        };
        // Release: the figure is there for whoever sees that none is missing.
        let before = self.late_ns[index].swap(late, Ordering::Relaxed);
        assert_eq!(before, Self::NOT_YET, "timer {index} fired twice");
        self.missing.fetch_sub(1, Ordering::Release);
    }

    /// How many have not fired.
    pub fn missing(&self) -> usize {
        self.missing.load(Ordering::Acquire)
    }

    /// How many fired after one that was asked for later.
    pub fn out_of_order(&self) -> usize {
        let first = self.asked.iter().min().copied();
        let since_first = |at: Instant| first.map_or(0, |first| signed(at - first));
        let both = self.asked.iter().zip(&self.late_ns);
        let mut fired: Vec<(i64, i64)> = both
            .map(|(&asked, late)| (since_first(asked), late.load(Ordering::Relaxed)))
            .filter(|&(_, late)| late != Self::NOT_YET)
            .map(|(asked, late)| (asked + late, asked))
            .collect();
        fired.sort_unstable();
        let mut latest = i64::MIN;
        let behind = fired.iter().filter(|&&(_, asked)| {
            let behind = asked < latest;
            latest = latest.max(asked);
            behind
        });
        behind.count()
    }

    /// How late those were that have fired, in nanoseconds; below 0 is early.
    pub fn late_ns(&self) -> Vec<i64> {
        let all = self.late_ns.iter().map(|late| late.load(Ordering::Relaxed));
        all.filter(|&late| late != Self::NOT_YET).collect()
    }
}

fn signed(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorder_tells_early_from_late_and_counts_what_is_missing() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        let recorder = Recorder::new(vec![now, now + hour, now]);
        recorder.fired(0);
        recorder.fired(1);
        assert_eq!(recorder.missing(), 1);
        let late = recorder.late_ns();
        assert!(late[0] >= 0 && late[1] < 0 && late.len() == 2, "{late:?}");
    }

    #[test]
    fn what_fires_after_one_that_was_asked_for_later_is_out_of_order() {
        let now = Instant::now();
        let at = |ms: u64| now + Duration::from_millis(ms);
        let recorder = Recorder::new(vec![at(1), at(2), at(3), at(3), at(4)]);
        for index in [1, 2, 3, 4, 0] {
            recorder.fired(index);
        }
        assert_eq!(
            recorder.out_of_order(),
            1,
            "the one of 1 ms, and none of those at 3 ms"
        );
    }
}
