//! A clock that is moved by hand, and drivers that follow it step by step.
//!
//! Made for users' tests and for simulation: the engine runs the very code that it runs on the real
//! clock; only the waiting differs. A driver takes a [`Seat`] at the clock and sits down when it
//! has nothing to do. Whoever moves the time waits until every driver sits again, with nothing due
//! and no wake-up pending.
//!
//! ```text
//!   advance --> now += d --> every driver gets up, fires, sits down --> advance returns
//!   run_for --> goal     --> the last one to sit down moves the time on, up to the goal
//! ```
//!
//! Under `run_for` the drivers go from one due tick to the next by themselves: waking whoever moves
//! the time for each step would cost more than most steps.
//!
//! One mutex guards the time and the seats. No user code runs under it. Movers take turns (a second
//! mutex); a driver thread that moves the time from a callback takes no turn and does not wait, or
//! it would wait for itself.

mod seat;
mod time;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_sync::thread;
use wheel_sync::{Condvar, Mutex, MutexGuard};

use super::{Moment, Readings, unix_nanos, wall_of};
pub(crate) use seat::Seat;
use time::{SeatState, Time};

/// 2000-01-01T00:00:00Z, where the wall clock of a new `ManualClock` stands.
const WALL_START_NS: i128 = 946_684_800_000_000_000;

/// A clock that moves only when it is told to; for tests and simulations.
///
/// A clone is the same clock. Any number of engines may live by one: moving it runs the drivers of
/// all of them.
///
/// Not moved, it stands still: nothing with a delay fires. [`advance`](ManualClock::advance) jumps,
/// as if the machine had slept; [`run_for`](ManualClock::run_for) goes from one due tick to the
/// next, so that nothing is late; [`advance_to_next`](ManualClock::advance_to_next) goes to the next
/// instant at which anything is due; [`set_wall`](ManualClock::set_wall) steps the wall clock alone.
/// All return when everything due has been handed over, which for callbacks that run inline means
/// that they have returned; an executor may still be at work.
///
/// # Schedulers and workers
///
/// Moving the time does not wait for the workers of a [`Scheduler`](crate::Scheduler). Two ways
/// lead to tests that always come out the same:
///
/// - With an [`InlineExecutor`](crate::InlineExecutor) handlers run on the driver thread, and have
///   returned when [`run_for`](ManualClock::run_for) has. Made for simulations: a month of hundreds
///   of tasks takes less than a second. With the same [seed](crate::SchedulerBuilder::seed) it is
///   the same, run by run, if one thread adds tasks and lets the driver take each, by `advance` of
///   zero: what is due in the same tick is in no particular order, but for that in which the driver
///   learnt of it.
/// - With workers, call [`Scheduler::wait_idle`](crate::Scheduler::wait_idle) after each step of
///   the clock. A long `run_for` would outrun the workers: runs would start hours late by this
///   clock, and be skipped because the last one still waits.
///
/// # Calls from several threads
///
/// They take turns. A call from a callback that runs on a driver thread moves
/// the time and returns at once; what becomes due fires after the callback.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::ManualClock;
///
/// let clock = ManualClock::new();
/// clock.advance(Duration::from_millis(1500));
/// assert_eq!(clock.now(), Duration::from_millis(1500));
/// ```
///
/// A day of a heartbeat:
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{InlineExecutor, ManualClock, Scheduler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
/// let beat = scheduler.task("heartbeat").every(Duration::from_secs(60)).run(|_| ())?;
/// clock.run_for(Duration::from_secs(24 * 60 * 60));
/// assert_eq!(beat.info().runs, 1440);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<Shared>);

struct Shared {
    turn: Mutex<()>,
    time: Mutex<Time>,
    /// Drivers wait here for the time, or for a wake-up.
    moved: Condvar,
    /// Movers wait here for the drivers.
    settled: Condvar,
}

impl ManualClock {
    /// A clock at zero, whose wall clock stands at 2000-01-01T00:00:00Z.
    pub fn new() -> ManualClock {
        ManualClock::at_wall_nanos(WALL_START_NS)
    }

    /// A clock at zero, whose wall clock stands at `wall`.
    pub fn starting_at(wall: SystemTime) -> ManualClock {
        ManualClock::at_wall_nanos(unix_nanos(wall))
    }

    fn at_wall_nanos(wall_at_origin: i128) -> ManualClock {
        ManualClock(Arc::new(Shared {
            turn: Mutex::new(()),
            time: Mutex::new(Time {
                now: Moment::ZERO,
                wall_at_origin,
                goal: Moment::ZERO,
                fired: 0,
                seats: Vec::new(),
                next_seat: 0,
            }),
            moved: Condvar::new(),
            settled: Condvar::new(),
        }))
    }

    /// How far the clock has been moved since it was made.
    pub fn now(&self) -> Duration {
        self.moment().since(Moment::ZERO)
    }

    /// What the wall clock says.
    pub fn wall(&self) -> SystemTime {
        let time = self.0.time.lock();
        wall_of(time.wall())
    }

    /// Jumps by `step`, like a machine that slept, and returns when everything due has been handed
    /// over. What was due on the way fires late, at the new time. Zero only lets the drivers catch
    /// up.
    ///
    /// Moves the wall clock as well. From a callback on a driver thread: moves the time, does not
    /// wait.
    pub fn advance(&self, step: Duration) {
        self.take_turn(|| {
            self.move_time(|time| time.now = time.now.after(step));
            drop(self.settle());
        });
    }

    /// Lets `length` pass from due tick to due tick, so that nothing is late, and returns when
    /// everything due has been handed over. What callbacks add on the way fires on the way.
    ///
    /// Never ends if callbacks add timers without end that are due at once. From a callback on a
    /// driver thread: jumps, as [`advance`](ManualClock::advance) does there.
    pub fn run_for(&self, length: Duration) {
        if self.on_driver_thread() {
            self.move_time(|time| time.now = time.now.after(length));
            return;
        }
        let _turn = self.0.turn.lock();
        let end = self.moment().after(length);
        // Now they may all sit with nothing due, so that the first step is ours.
        self.settle().goal = end;
        loop {
            let mut time = self.settle();
            let is_there = time.now >= end;
            time.step_towards_goal();
            drop(time);
            self.0.moved.notify_all();
            if is_there {
                break;
            }
        }
        self.0.time.lock().goal = Moment::ZERO;
    }

    /// Jumps to the next instant at which anything is due, of whichever engine on this clock, and
    /// returns how far that was, once all that is due then has been handed over. What is due already
    /// is handed over before, and is not the next.
    ///
    /// `None` if nothing is due any more, or nothing but what is never due. The clock may have moved
    /// also then: engines look at the places of timers that were cancelled. From a callback on a
    /// driver thread: `None`, and nothing moves.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Scheduler, Timers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let timers = Timers::builder().clock(clock.clone()).build()?;
    /// let scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    /// let hour = Duration::from_secs(60 * 60);
    /// timers.after(hour, || println!("an hour"))?;
    /// // The clock stands at midnight.
    /// scheduler.task("backup").cron("30 2 * * *").count(1).run(|_| println!("half past two"))?;
    /// assert_eq!(clock.advance_to_next(), Some(hour));
    /// assert_eq!(clock.advance_to_next(), Some(hour * 3 / 2));
    /// scheduler.wait_idle();
    /// assert_eq!(clock.advance_to_next(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn advance_to_next(&self) -> Option<Duration> {
        if self.on_driver_thread() {
            return None;
        }
        let _turn = self.0.turn.lock();
        let time = self.settle();
        let (start, fired) = (time.now, time.fired);
        drop(time);
        // A driver may have to look at its wheel in between, to find nothing due.
        loop {
            let mut time = self.settle();
            if time.fired != fired {
                return Some(time.now.since(start));
            }
            let next = time.next().filter(|next| *next != Moment::NEVER)?;
            time.now = time.now.max(next);
            drop(time);
            self.0.moved.notify_all();
        }
    }

    /// Steps the wall clock to `wall`; the monotonic time does not move. Returns when the drivers
    /// have seen it: what follows the wall clock and is due now has been handed over.
    pub fn set_wall(&self, wall: SystemTime) {
        self.take_turn(|| {
            self.move_time(|time| {
                time.wall_at_origin = unix_nanos(wall) - i128::from(time.now.as_nanos());
                // Sleeps that were computed from the wall clock are void.
                for seat in &mut time.seats {
                    seat.woken = true;
                }
            });
            drop(self.settle());
        });
    }

    /// Sets the monotonic time back, as no clock should: for tests of what happens when one does.
    /// The wall clock stays where it is. Returns when the drivers have seen it.
    #[cfg(test)]
    pub(crate) fn go_back(&self, step: Duration) {
        self.take_turn(|| {
            self.move_time(|time| {
                let before = time.now;
                time.now = before.before(step);
                time.wall_at_origin += before.since(time.now).as_nanos() as i128;
                for seat in &mut time.seats {
                    seat.woken = true;
                }
            });
            drop(self.settle());
        });
    }

    /// At one moment, whoever moves the time.
    pub(super) fn readings(&self) -> Readings {
        let time = self.0.time.lock();
        Readings {
            mono_ns: time.now.as_nanos(),
            boot_ns: time.now.as_nanos(),
            wall_ns: time.wall(),
            took_ns: 0,
        }
    }

    pub(crate) fn moment(&self) -> Moment {
        self.0.time.lock().now
    }

    /// A place for one driver. From now on movers wait for it.
    pub(crate) fn take_seat(&self) -> Seat {
        let mut time = self.0.time.lock();
        let number = time.next_seat;
        time.next_seat += 1;
        time.seats.push(SeatState {
            number,
            thread: None,
            sitting: false,
            woken: false,
            until: Moment::ZERO,
        });
        drop(time);
        Seat {
            clock: self.clone(),
            number,
        }
    }

    /// Wakes the driver on seat `number`; if it is busy, it will not sit down before another look.
    pub(crate) fn wake(&self, number: u64) {
        let mut time = self.0.time.lock();
        if let Some(seat) = time.seats.iter_mut().find(|seat| seat.number == number) {
            seat.woken = true;
        }
        drop(time);
        self.0.moved.notify_all();
    }

    fn take_turn(&self, act: impl FnOnce()) {
        let _turn = (!self.on_driver_thread()).then(|| self.0.turn.lock());
        act();
    }

    fn move_time(&self, change: impl FnOnce(&mut Time)) {
        change(&mut self.0.time.lock());
        self.0.moved.notify_all();
    }

    fn on_driver_thread(&self) -> bool {
        self.0.time.lock().is_driver(thread::current().id())
    }

    /// Waits until every driver sits with nothing due, unless it is called by one of them.
    fn settle(&self) -> MutexGuard<'_, Time> {
        let mut time = self.0.time.lock();
        let me = thread::current().id();
        while !time.is_driver(me) && !time.is_quiet() {
            time = self.0.settled.wait(time);
        }
        time
    }
}

impl Default for ManualClock {
    fn default() -> ManualClock {
        ManualClock::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests;
