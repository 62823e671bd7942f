//! The engine of both doors: a wheel, a heap of wall-clock timers, and the one thread that drives
//! them.
//!
//! Insert, cancel and reset run on any thread and never wait for the driver. The driver thread
//! alone advances the wheel, and hands what is due to its [`Sink`]. It sleeps until the next due
//! tick and is woken only by something earlier; README.md tells the protocol.
//!
//! ```text
//!  any thread                                 the driver thread
//!  after, cancel, reset --> Wheel ==========> advance --\
//!  at_wall, cancel --> WallTimers (mutex) ==> pop ------->  Sink::fire, Sink::flush, sleep
//!                            \-- Line: bell, stop flag --> wakes
//! ```
//!
//! No user code (a closure, a `Drop`) runs while a lock of this module is held.

#[cfg(feature = "async")]
mod awaited;
mod brink;
mod config;
mod exit;
#[cfg(wheel_model)]
pub(crate) mod modelled;
mod run;
mod snapshot;
mod stats;
mod wait;
mod wall;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_core::{Config, InsertError, Key, Tick, Wheel};
use wheel_overflow::FarHeap;
use wheel_sync::Mutex;
use wheel_sync::thread::{self, JoinHandle, ThreadId};

use crate::clock::{Clock, ClockJump, JumpWatch, Moment, Patience};
use crate::error::BuildError;
use crate::panics::discard;
use brink::{Brink, Placing};
pub(crate) use config::{EngineConfig, EngineSettings};
use exit::Exit;
use run::Run;
use snapshot::Requests;
pub use snapshot::{EngineSnapshot, SnapshotError};
use stats::Counters;
pub(crate) use stats::EngineStats;
use wait::Line;
use wall::{WallKey, WallTimers};

/// Something that is due, on its way to a door.
#[derive(Debug)]
pub(crate) struct DueTimer<T> {
    pub(crate) value: T,
    /// What was asked for, not rounded to a tick; for a timer that was reset, the start of its due
    /// tick.
    pub(crate) due: Moment,
    /// When it was handed over; never before `due`.
    pub(crate) now: Moment,
}

/// What a door does with what is due. Called on the driver thread only, with no lock held.
pub(crate) trait Sink<T>: Send + 'static {
    /// Takes one. Should be quick: the driver waits. A panic ends the engine, so catch those of
    /// users.
    fn fire(&mut self, timer: DueTimer<T>);
    /// After each pass that fired something: hands the batch over.
    fn flush(&mut self) {}
    /// Everything that was due has been fired and flushed; the driver is about to sleep.
    fn caught_up(&mut self) {}
    /// A clock has jumped, as the driver has just noticed and counted. What follows the wall clock and
    /// is due by that is fired afterwards.
    fn clock_jumped(&mut self, _jump: ClockJump) {}
}

/// Names one timer of one engine, for ever. After the timer fired or was cancelled the key does
/// nothing, and another engine's key never does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimerKey(Holder);

/// Which of the two holds the timer, and its key there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    Wheel(Key),
    Wall(WallKey),
}

/// A value in the wheel, with the moment that was asked for: the wheel knows only the tick.
struct Held<T> {
    due: Moment,
    value: T,
}

/// The engine. A clone is the same engine; when the last one is dropped the driver thread stops,
/// and drops what never fired.
pub(crate) struct Engine<T>(Arc<Shared<T>>);

/// An engine that is not kept alive by who looks at it.
#[cfg(any(feature = "metrics", feature = "prometheus"))]
pub(crate) struct EngineWatch<T>(std::sync::Weak<Shared<T>>);

#[cfg(any(feature = "metrics", feature = "prometheus"))]
impl<T> EngineWatch<T> {
    /// `None` if it is gone.
    pub(crate) fn engine(&self) -> Option<Engine<T>> {
        self.0.upgrade().map(Engine)
    }
}

#[cfg(any(feature = "metrics", feature = "prometheus"))]
impl<T> Clone for EngineWatch<T> {
    fn clone(&self) -> EngineWatch<T> {
        EngineWatch(self.0.clone())
    }
}

struct Shared<T> {
    wheel: Wheel<Held<T>>,
    wall: Arc<WallTimers<T>>,
    clock: Clock,
    placing: Placing,
    max_timers: usize,
    line: Arc<Line>,
    exit: Arc<Exit<T>>,
    counters: Arc<Counters>,
    requests: Arc<Requests>,
    driver: ThreadId,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<T: Send + 'static> Engine<T> {
    /// Starts the driver thread.
    ///
    /// # Errors
    ///
    /// `BuildError::Thread` if the system refuses the thread.
    pub(crate) fn start(config: EngineConfig, sink: impl Sink<T>) -> Result<Engine<T>, BuildError> {
        let EngineConfig {
            clock,
            tick,
            max_timers,
            spin,
            thread_name,
        } = config;
        // By hand, time does not pass while somebody spins.
        let spin = clock.as_manual().map_or(spin, |_| Duration::ZERO);
        let placing = Placing { tick, spin };
        let (line, waiter) = wait::open(&clock, spin);
        let mut wheel_config = Config::new()
            .overflow(FarHeap::new())
            .tick_length(tick)
            .start(clock.now().tick_floor(tick))
            .waker(Arc::clone(&line).into());
        // Not as a limit that nobody reaches: the wheel counts against one on each insert and
        // cancel.
        if let Some(max) = max_timers {
            wheel_config = wheel_config.max_timers(max);
        }
        let (wheel, driver) = wheel_config.build::<Held<T>>();
        let wall = Arc::new(WallTimers::new());
        let exit = Arc::new(Exit::new());
        let counters = Arc::new(Counters::new());
        let requests = Arc::new(Requests::new());
        let run = Run {
            clock: clock.clone(),
            placing,
            driver,
            brink: Brink::new(),
            wall: Arc::clone(&wall),
            line: Arc::clone(&line),
            watch: JumpWatch::new(&clock),
            exit: Arc::clone(&exit),
            counters: Arc::clone(&counters),
            requests: Arc::clone(&requests),
            waiter,
            sink,
        };
        let thread = thread::Builder::new()
            .name(thread_name)
            .spawn(move || run.run())
            .map_err(BuildError::Thread)?;
        Ok(Engine(Arc::new(Shared {
            wheel,
            wall,
            clock,
            placing,
            max_timers: max_timers.unwrap_or(usize::MAX),
            line,
            exit,
            counters,
            requests,
            driver: thread.thread().id(),
            thread: Mutex::new(Some(thread)),
        })))
    }

    /// The clock that the engine lives by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Due `delay` from now, rounded up to a tick unless the driver waits precisely; at once, but not
    /// in the call, if that is zero.
    pub(crate) fn after(&self, delay: Duration, value: T) -> Result<TimerKey, InsertError<T>> {
        let (due, at) = self.due_after(delay);
        self.insert(at, Held { due, value })
    }

    /// Due at `due`, rounded up to a tick unless the driver waits precisely; at once, but not in the
    /// call, if that is past.
    pub(crate) fn at_moment(&self, due: Moment, value: T) -> Result<TimerKey, InsertError<T>> {
        let tick = self.0.placing.tick;
        // What has passed needs no rounding, and rounded up it would wait for a tick. The reading
        // that may be above the true one tells cheaply of most that they are yet to come.
        let is_past = due <= self.0.clock.now_for(tick) && due <= self.0.clock.now();
        let at = if is_past {
            due.tick_floor(tick)
        } else {
            self.0.placing.tick_of(due)
        };
        self.insert(at, Held { due, value })
    }

    /// Due at `due`, rounded up to a tick also if that is past, or to the next one at least: what
    /// comes again and again comes once per tick at most.
    pub(crate) fn at_tick_of(&self, due: Moment, value: T) -> Result<TimerKey, InsertError<T>> {
        let at = self.0.placing.tick_of_next(due, || self.0.clock.now());
        self.insert(at, Held { due, value })
    }

    /// Due when the wall clock reads `at`, rounded up to a millisecond, wherever it steps
    /// meanwhile.
    pub(crate) fn at_wall(&self, at: SystemTime, value: T) -> Result<TimerKey, InsertError<T>> {
        let shared = &*self.0;
        if shared.line.is_stopped() {
            return Err(InsertError::Closed(value));
        }
        if shared.is_full() {
            return Err(InsertError::Full(value));
        }
        let (key, earliest) = shared.wall.insert(at, value).map_err(InsertError::Closed)?;
        if earliest {
            shared.line.ring();
        }
        Ok(TimerKey(Holder::Wall(key)))
    }

    /// The value, exactly once; `None` if it has left already.
    pub(crate) fn cancel(&self, key: TimerKey) -> Option<T> {
        match key.0 {
            Holder::Wheel(key) => self.0.wheel.cancel(key).map(|held| held.value),
            Holder::Wall(key) => self.0.wall.cancel(key).map(|(_, value)| value),
        }
    }

    /// Due `delay` from now instead, whichever clock it followed; the key to use from now on.
    /// `None`: too late.
    pub(crate) fn reset(&self, key: TimerKey, delay: Duration) -> Option<TimerKey> {
        let shared = &*self.0;
        match key.0 {
            Holder::Wheel(key) => {
                // The instant stays in the entry, where it cannot be changed: a tick it is.
                let (due, at) = self.due_after(delay);
                let at = at.max(due.tick_ceil(shared.placing.tick));
                let key = shared.wheel.reset(key, at)?;
                Some(TimerKey(Holder::Wheel(key)))
            }
            Holder::Wall(key) => {
                let (at, value) = shared.wall.cancel(key)?;
                match self.after(delay, value) {
                    Ok(key) => Some(key),
                    // Another thread took the place that the cancel made: the timer stays as it
                    // was, and like any that is too late to reset it will fire at its old instant.
                    Err(InsertError::Full(value)) => {
                        match shared.wall.insert_at(at, value) {
                            Ok(_) => shared.line.ring(),
                            Err(value) => drop(value),
                        }
                        None
                    }
                    Err(_) => None,
                }
            }
        }
    }

    /// Pending timers of both kinds. Exact when nothing is going on.
    pub(crate) fn len(&self) -> usize {
        self.0.wheel.len() + self.0.wall.len()
    }

    /// How long a tick is.
    #[cfg(feature = "async")]
    pub(crate) fn tick_duration(&self) -> Duration {
        self.0.placing.tick.duration(1)
    }

    /// The start of the tick at which something that is due at `due` comes.
    #[cfg(feature = "async")]
    pub(crate) fn tick_start(&self, due: Moment) -> Moment {
        let tick = self.0.placing.tick;
        Moment::of_tick(due.tick_ceil(tick), tick)
    }

    /// Counters and lateness until now. Does not disturb the driver.
    pub(crate) fn stats(&self) -> EngineStats {
        self.0.counters.snapshot(self.len())
    }

    /// Stops the driver thread, waits for it, and returns what never fired; the second call returns
    /// nothing. On the driver thread itself it does not wait: what is left is dropped there when
    /// the running callback has returned.
    pub(crate) fn close(&self) -> Vec<T> {
        let was_stopped = self.is_closed();
        self.0.line.stop();
        if self.is_driver_thread() {
            // Else whoever has stopped it waits for what is left, or has abandoned it.
            if !was_stopped {
                discard(self.0.exit.abandon());
            }
            return Vec::new();
        }
        let mut thread = self.0.thread.lock();
        if let Some(thread) = thread.take() {
            // An error is the panic of a sink; the driver has closed all the same.
            let _ = thread.join();
        }
        drop(thread);
        self.0.exit.take()
    }

    /// As `close`, but waits as long as `patience` lasts: the driver may be held up by the user's
    /// executor. What it leaves is dropped there then.
    pub(crate) fn close_within(&self, patience: Patience) {
        self.stop();
        if self.is_driver_thread() || self.0.exit.wait_gone(patience) {
            discard(self.close());
        }
    }

    /// Stops the driver thread and waits for nothing: what never fired is dropped there.
    pub(crate) fn stop(&self) {
        self.0.line.stop();
        discard(self.0.exit.abandon());
    }

    /// True on the thread that drives this engine.
    pub(crate) fn is_driver_thread(&self) -> bool {
        thread::current().id() == self.0.driver
    }

    /// True once the engine was told to stop.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.line.is_stopped()
    }

    /// To be looked at without being kept alive.
    #[cfg(any(feature = "metrics", feature = "prometheus"))]
    pub(crate) fn watch(&self) -> EngineWatch<T> {
        EngineWatch(Arc::downgrade(&self.0))
    }

    fn due_after(&self, delay: Duration) -> (Moment, Tick) {
        let placing = self.0.placing;
        let now = if placing.is_precise() {
            self.0.clock.now()
        } else {
            self.0.clock.now_for(placing.tick)
        };
        if delay.is_zero() {
            return (now, now.tick_floor(placing.tick));
        }
        let due = now.after(delay);
        (due, placing.tick_of(due))
    }

    fn insert(&self, at: Tick, held: Held<T>) -> Result<TimerKey, InsertError<T>> {
        let shared = &*self.0;
        if shared.line.is_stopped() {
            return Err(InsertError::Closed(held.value));
        }
        // The wheel keeps the limit alone as long as there are no wall timers to count.
        if !shared.wall.is_empty() && shared.is_full() {
            return Err(InsertError::Full(held.value));
        }
        match shared.wheel.insert(at, held) {
            Ok(key) => Ok(TimerKey(Holder::Wheel(key))),
            Err(InsertError::Full(held)) => Err(InsertError::Full(held.value)),
            Err(refused) => Err(InsertError::Closed(refused.into_value().value)),
        }
    }
}

impl<T> Shared<T> {
    fn is_full(&self) -> bool {
        self.max_timers != usize::MAX && self.wheel.len() + self.wall.len() >= self.max_timers
    }
}

impl<T> Clone for Engine<T> {
    fn clone(&self) -> Engine<T> {
        Engine(Arc::clone(&self.0))
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        self.line.stop();
        discard(self.exit.abandon());
    }
}

#[cfg(test)]
mod tests;
