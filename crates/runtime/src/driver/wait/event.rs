//! Waiting on Linux: `ppoll` on an eventfd and up to two timerfds.
//!
//! ```text
//!   bell (eventfd) -------------------\
//!   wall (timerfd, CLOCK_REALTIME) ----> ppoll(.., until) --> one look at the engine
//!   boot (timerfd, CLOCK_BOOTTIME) ---/
//! ```
//!
//! A ring is a write into a counter in the kernel: no lock, so a thread that is preempted while it
//! rings delays nobody else's ring. The timer slack of the driver thread is 1 ns, which takes most
//! of the lateness of a plain sleep away. The wall timerfd is armed only while something follows
//! the wall clock; it ends the sleep at each step of that clock. The boot timerfd stands in for the
//! timeout of `ppoll`, which does not count suspended time.
//!
//! Only the driver thread waits; any thread rings. A failing read means that there was nothing to
//! read.

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use wheel_sync::atomic::{AtomicBool, Ordering};

use super::{Until, wall};
use crate::clock::{Clock, Moment};

/// The furthest that the kernel is asked to wait, 285 years: near the end of what it can count.
const LONGEST: Duration = Duration::from_secs(9_000_000_000);

pub(super) struct EventBell {
    counter: OwnedFd,
    /// Seen by a driver that spins; a hint, and the counter is what counts.
    rung: AtomicBool,
}

pub(super) struct EventWaiter {
    bell: Arc<EventBell>,
    wall: WallAlarm,
    boot: Option<OwnedFd>,
    spin: Duration,
}

/// A bell and its waiter; an error if the system has no descriptors left.
pub(super) fn open(clock: &Clock, spin: Duration) -> io::Result<(Arc<EventBell>, EventWaiter)> {
    let bell = Arc::new(EventBell {
        counter: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        rung: AtomicBool::new(false),
    });
    let boot = clock
        .counts_suspend()
        .then(|| timerfd(TimerfdClockId::Boottime))
        .transpose()?;
    let waiter = EventWaiter {
        bell: Arc::clone(&bell),
        wall: WallAlarm {
            timer: timerfd(TimerfdClockId::Realtime)?,
            armed_ms: None,
        },
        boot,
        spin,
    };
    Ok((bell, waiter))
}

fn timerfd(clock: TimerfdClockId) -> io::Result<OwnedFd> {
    timerfd_create(clock, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
}

impl EventBell {
    pub(super) fn ring(&self) {
        // Relaxed: it only ends a spin. The counter, which is written next, orders and counts. [O62]
        self.rung.store(true, Ordering::Relaxed);
        // A full counter is rung already.
        let _ = io::write(&self.counter, &1u64.to_ne_bytes());
    }

    /// Takes the rings that have come until now.
    fn take(&self) {
        // Relaxed: taken before the counter is drained, so a ring that is missed here leaves the
        // counter readable, and the counter is what ends a sleep. [O62]
        self.rung.store(false, Ordering::Relaxed);
        drain(&self.counter);
    }

    fn was_rung(&self) -> bool {
        // Relaxed: a driver that sees the flag takes the counter before it looks at the engine, or
        // finds the counter readable in its next sleep. [O62]
        self.rung.load(Ordering::Relaxed)
    }
}

fn drain(counter: &OwnedFd) {
    let _ = io::read(counter, &mut [0u8; 8]);
}

impl EventWaiter {
    /// Called on the driver thread: the slack belongs to the thread.
    pub(super) fn begin(&self) {
        // Refused in some sandboxes; the sleeps are then some tens of microseconds longer.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }

    pub(super) fn wait(&mut self, clock: &Clock, until: Until) -> bool {
        let (now, wake_at) = (clock.now(), until.wake_at(self.spin));
        let slept =
            wake_at > now && self.sleep(clock.nap(wake_at.since(now)), wake_at, until.wall_ms);
        until.spin_through(clock, self.spin, || {
            let rung = self.bell.was_rung();
            if rung {
                self.bell.take();
            }
            rung
        });
        slept
    }

    fn sleep(&mut self, left: Duration, wake_at: Moment, wall_ms: Option<u64>) -> bool {
        let forever = wake_at == Moment::NEVER;
        let has_wall = self.wall.arm(wall_ms);
        let timeout = match &self.boot {
            None if !forever => Some(timespec(left)),
            Some(boot) if !forever => {
                let _ = timerfd_settime(boot, TimerfdTimerFlags::empty(), &once(left));
                None
            }
            _ => None,
        };
        // A timerfd that has nothing to say is left out: a stale expiry must not end the sleep.
        let wall = Some(&self.wall.timer).filter(|_| has_wall);
        let boot = self.boot.as_ref().filter(|_| !forever);
        let bell = &self.bell.counter;
        let (second, third) = (wall.or(boot).unwrap_or(bell), boot.unwrap_or(bell));
        let mut fds = [bell, second, third].map(|fd| PollFd::new(fd, PollFlags::IN));
        let listened = 1 + usize::from(wall.is_some()) + usize::from(boot.is_some());
        // An error is a signal that came in between; the driver looks again, as it does anyway.
        let _ = poll(&mut fds[..listened], timeout.as_ref());
        // Most sleeps end by themselves: then there is nothing to read, and no call to read it. What
        // is rung from here on stays for the next sleep.
        if fds[0].revents().contains(PollFlags::IN) {
            self.bell.take();
        }
        self.wall.drain();
        true
    }
}

/// The timerfd on the wall clock, and what it is set to.
struct WallAlarm {
    timer: OwnedFd,
    armed_ms: Option<u64>,
}

impl WallAlarm {
    /// Sets the alarm; true if it can say anything.
    fn arm(&mut self, wall_ms: Option<u64>) -> bool {
        let Some(due_ms) = wall_ms else {
            // It may ring once more; nobody listens.
            self.armed_ms = None;
            return false;
        };
        if self.armed_ms == Some(due_ms) {
            return true;
        }
        // The kernel's clock does not go before the epoch.
        let due = u64::try_from(wall::nanos_of_ms(due_ms).max(0)).unwrap_or(u64::MAX);
        let due = Duration::from_nanos(due);
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        match timerfd_settime(&self.timer, flags, &once(due)) {
            // Cancelled: the clock was stepped since the last setting. It is set all the same, and
            // being absolute it is right by the new time.
            Ok(_) | Err(io::Errno::CANCELED) => self.armed_ms = Some(due_ms),
            Err(_) => self.armed_ms = None,
        }
        true
    }

    fn drain(&mut self) {
        if self.armed_ms.is_none() {
            return;
        }
        // Read: it has expired. Cancelled: the clock was stepped. Either way it is to be set anew.
        match io::read(&self.timer, &mut [0u8; 8]) {
            Err(io::Errno::AGAIN) => {}
            _ => self.armed_ms = None,
        }
    }
}

fn once(value: Duration) -> Itimerspec {
    let never = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // Zero would disarm it; what is past rings at once.
    Itimerspec {
        it_interval: never,
        it_value: timespec(value.max(Duration::from_nanos(1))),
    }
}

fn timespec(value: Duration) -> Timespec {
    let value = value.min(LONGEST);
    Timespec {
        tv_sec: i64::try_from(value.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(value.subsec_nanos()),
    }
}
