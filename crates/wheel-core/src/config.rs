//! What a wheel is built from.

use std::fmt;
use std::task::Waker;

use wheel_sync::Arc;

use crate::driver::Driver;
use crate::engine::Engine;
use crate::levels::Levels;
use crate::local::LocalWheel;
use crate::overflow::Overflow;
use crate::wheel::Wheel;
use crate::{Tick, TickLength};

/// How to build a wheel. The defaults are a tick of 1 ms, tick 0 as start, no limit, no overflow
/// and nobody to wake.
///
/// ```
/// use wheel_core::{Budget, Config, Tick};
///
/// let (wheel, mut driver) = Config::new().build::<&str>();
/// let lunch = wheel.insert(Tick::new(30), "lunch")?;
/// wheel.insert(Tick::new(20), "coffee")?;
/// assert_eq!(wheel.cancel(lunch), Some("lunch"));
///
/// let mut fired = Vec::new();
/// driver.advance(Tick::new(30), Budget::UNLIMITED, |timer| fired.push(timer.value));
/// assert_eq!(fired, ["coffee"]);
/// # Ok::<(), wheel_core::InsertError<&str>>(())
/// ```
#[derive(Default)]
pub struct Config {
    pub(crate) tick: TickLength,
    pub(crate) start: Tick,
    pub(crate) max_timers: Option<usize>,
    pub(crate) overflow: Option<Box<dyn Overflow>>,
    pub(crate) waker: Option<Waker>,
}

impl Config {
    /// The defaults.
    pub fn new() -> Config {
        Config::default()
    }

    /// How long a tick is. Ticks shorter than 1 ms add a level below the ms level; a slot of the
    /// others keeps its length in time. Default: [`TickLength::MILLISECOND`].
    #[must_use]
    pub fn tick_length(mut self, tick: TickLength) -> Config {
        self.tick = tick;
        self
    }

    /// The first tick to advance through; what is due before it is overdue at once. Default: 0.
    #[must_use]
    pub fn start(mut self, start: Tick) -> Config {
        self.start = start;
        self
    }

    /// The most timers that may be pending at once; an insert beyond gives its value back as
    /// [`InsertError::Full`](crate::InsertError::Full). Default: no limit but memory and
    /// two thousand million entries.
    ///
    /// It bounds memory too: when the driver does not come by to free what was cancelled, inserts
    /// are refused at about four times as many entries and 65,536, until it does.
    ///
    /// A limit makes all threads share one counter, which each insert and each end of a timer
    /// changes.
    #[must_use]
    pub fn max_timers(mut self, max: usize) -> Config {
        self.max_timers = Some(max);
        self
    }

    /// Where timers wait that are due beyond the span. Default: nowhere else; they take another
    /// turn through the last hour slot, about every two days, for as long as needed.
    #[must_use]
    pub fn overflow(mut self, overflow: impl Overflow + 'static) -> Config {
        self.overflow = Some(Box::new(overflow));
        self
    }

    /// Whom to wake when a timer is inserted that is due before what [`Driver::next_due`] said
    /// last.
    ///
    /// Woken by the inserting thread, at the end of its call, while nothing is held. A wake must be
    /// sticky: one that comes before the driver's thread sleeps must keep it from sleeping. A waker
    /// may insert into the wheel itself: it is not called again for that while it ends the same
    /// sleep. The wheel keeps the waker, so one that holds the wheel keeps both for ever. Default:
    /// nobody; the caller looks often enough by itself.
    #[must_use]
    pub fn waker(mut self, waker: Waker) -> Config {
        self.waker = Some(waker);
        self
    }

    /// A wheel for any number of threads, and the driver that advances it.
    pub fn build<T>(self) -> (Wheel<T>, Driver<T>) {
        let engine = Arc::new(Engine::new(&self));
        let levels = Levels::new(self.tick, self.start, self.overflow);
        (Wheel::new(Arc::clone(&engine)), Driver::new(engine, levels))
    }

    /// A wheel for one thread, which drives it itself. It wakes nobody.
    pub fn build_local<T>(self) -> LocalWheel<T> {
        let max_timers = self.max_timers.unwrap_or(usize::MAX);
        let levels = Levels::new(self.tick, self.start, self.overflow);
        LocalWheel::new(levels, self.start, max_timers)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("tick", &self.tick)
            .field("start", &self.start)
            .field("max_timers", &self.max_timers)
            .field("overflow", &self.overflow.is_some())
            .field("waker", &self.waker.is_some())
            .finish()
    }
}
