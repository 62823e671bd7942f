//! A clock that is moved by hand, and drivers that follow it step by step.
//!
//! Made for users' tests and for simulation: the engine runs the very code that it runs on the real
//! clock; only the waiting differs. A driver takes a [`Seat`] at the clock and sits down when it
//! has nothing to do. Whoever moves the time waits until every driver sits again, with nothing due
//! and no wake-up pending.
//!
//! ```text
//!   advance --> now += d --> every driver gets up, fires, sits down --> advance returns
//! ```
//!
//! One mutex guards the time and the seats. No user code runs under it. Movers take turns (a second
//! mutex); a driver thread that moves the time from a callback takes no turn and does not wait, or
//! it would wait for itself.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_sync::thread::{self, ThreadId};
use wheel_sync::{Condvar, Mutex, MutexGuard};

use super::{Moment, unix_nanos, wall_of};

/// 2000-01-01T00:00:00Z, where the wall clock of a new `ManualClock` stands.
const WALL_START_NS: i128 = 946_684_800_000_000_000;

/// A clock that moves only when it is told to; for tests and simulations.
///
/// A clone is the same clock. Any number of engines may live by one: moving it runs the drivers of
/// all of them.
///
/// Not moved, it stands still: nothing with a delay fires. [`advance`](ManualClock::advance) jumps,
/// as if the machine had slept; [`run_for`](ManualClock::run_for) goes from one due tick to the
/// next, so that nothing is late. Both return when everything due has been handed over, which for
/// callbacks that run inline means that they have returned; an executor may still be at work.
///
/// # Schedulers and workers
///
/// Moving the time does not wait for the workers of a [`Scheduler`](crate::Scheduler). Two ways
/// lead to tests that always come out the same:
///
/// - With an [`InlineExecutor`](crate::InlineExecutor) handlers run on the driver thread, and have
///   returned when [`run_for`](ManualClock::run_for) has. Made for simulations: a day of a task of
///   every minute is 1440 runs.
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

struct Time {
    now: Moment,
    /// What the wall clock said, or would have said, at the origin.
    wall_at_origin: i128,
    seats: Vec<SeatState>,
    next_seat: u64,
}

struct SeatState {
    number: u64,
    thread: Option<ThreadId>,
    sitting: bool,
    woken: bool,
    until: Moment,
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
        loop {
            let time = self.settle();
            let next = time.seats.iter().map(|seat| seat.until).min();
            drop(time);
            let next = next.unwrap_or(Moment::NEVER);
            let step = next.min(end);
            self.move_time(|time| time.now = time.now.max(step));
            if next >= end {
                break;
            }
        }
        drop(self.settle());
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

impl Time {
    fn wall(&self) -> i128 {
        self.wall_at_origin + i128::from(self.now.as_nanos())
    }

    fn is_driver(&self, thread: ThreadId) -> bool {
        self.seats.iter().any(|seat| seat.thread == Some(thread))
    }

    fn is_quiet(&self) -> bool {
        self.seats
            .iter()
            .all(|seat| seat.sitting && !seat.woken && !self.has_reached(seat.until))
    }

    /// The end of time is never reached.
    fn has_reached(&self, until: Moment) -> bool {
        until <= self.now && until != Moment::NEVER
    }

    fn seat(&mut self, number: u64) -> &mut SeatState {
        let seat = self.seats.iter_mut().find(|seat| seat.number == number);
        seat.expect("a driver keeps its seat until it ends")
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

/// The place of one driver at a manual clock; given back when the driver ends, however it ends.
pub(crate) struct Seat {
    clock: ManualClock,
    number: u64,
}

impl Seat {
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Says which thread sits here; called on it, before its first pass.
    pub(crate) fn begin(&self) {
        let mut time = self.clock.0.time.lock();
        time.seat(self.number).thread = Some(thread::current().id());
    }

    /// Sits until `until`, or until the wall clock reads `wall_ns`, or until woken.
    pub(crate) fn sit(&self, until: Moment, wall_ns: Option<i128>) {
        let mut time = self.clock.0.time.lock();
        let by_wall = wall_ns.map_or(Moment::NEVER, |wall| {
            let at = wall - time.wall_at_origin;
            Moment::from_nanos(u64::try_from(at.max(0)).unwrap_or(u64::MAX))
        });
        let until = until.min(by_wall);
        let seat = time.seat(self.number);
        seat.sitting = true;
        seat.until = until;
        self.clock.0.settled.notify_all();
        while !time.seat(self.number).woken && !time.has_reached(until) {
            time = self.clock.0.moved.wait(time);
        }
        let seat = time.seat(self.number);
        seat.sitting = false;
        seat.woken = false;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut time = self.clock.0.time.lock();
        time.seats.retain(|seat| seat.number != self.number);
        drop(time);
        self.clock.0.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stands_still_until_it_is_moved() {
        let clock = ManualClock::new();
        assert_eq!(clock.now(), Duration::ZERO);
        clock.advance(Duration::from_secs(3));
        clock.run_for(Duration::from_millis(1));
        assert_eq!(clock.now(), Duration::from_millis(3001));
    }

    #[test]
    fn a_wall_step_leaves_the_monotonic_time_alone() {
        let clock = ManualClock::new();
        clock.advance(Duration::from_secs(10));
        let back = clock.wall() - Duration::from_secs(3600);
        clock.set_wall(back);
        assert_eq!(clock.now(), Duration::from_secs(10));
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.wall(), back + Duration::from_secs(1));
    }

    #[test]
    fn moves_from_several_threads_add_up() {
        let clock = ManualClock::new();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        clock.advance(Duration::from_millis(1));
                        clock.run_for(Duration::from_millis(1));
                    }
                });
            }
        });
        assert_eq!(clock.now(), Duration::from_millis(800));
    }

    #[test]
    fn the_end_of_time_is_reached_without_a_panic() {
        let clock = ManualClock::new();
        clock.advance(Duration::MAX);
        clock.run_for(Duration::MAX);
        let _ = clock.wall();
    }
}
