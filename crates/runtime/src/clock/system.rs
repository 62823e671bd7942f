//! The system's clock: monotonic by default, raw or boot time on request.
//!
//! A plain reading of `CLOCK_MONOTONIC` (or `CLOCK_MONOTONIC_RAW`, or `CLOCK_BOOTTIME`) counted from
//! the moment at which the clock was made, and `SystemTime` for the wall. Any thread may read.
//!
//! What a thread can sleep by is another question: the kernel's timeouts follow `CLOCK_MONOTONIC`, a
//! timerfd can follow `CLOCK_BOOTTIME`, and nothing can follow `CLOCK_MONOTONIC_RAW`. The two
//! monotonic ones run apart by what the clock is slewed, so a sleep by the one is approached in steps
//! if it is meant by the other ([`SystemReadings::nap`]).

use std::time::{Duration, Instant, SystemTime};

use super::cheap::{self, CheapClock, Sources};
use super::{Moment, Readings, unix_nanos};

/// The system's own time.
///
/// Monotonic: steps of the wall clock do not move it, and it stands still while the machine is
/// suspended. [`ClockSource::Boottime`] counts the suspended time as well.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{ClockSource, SystemClock, Timers};
///
/// let clock = SystemClock::with_source(ClockSource::Boottime);
/// let timers = Timers::builder().clock(clock).build()?;
/// # drop(timers);
/// # Ok::<(), wheel_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock {
    source: ClockSource,
}

/// Which of the system's clocks a [`SystemClock`] reads. They differ while the machine is
/// suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClockSource {
    /// Stands still while the machine is suspended (on Linux): a timer of ten minutes fires after
    /// ten minutes awake.
    #[default]
    Monotonic,
    /// Goes on while the machine is suspended: a timer of ten minutes fires when the machine wakes
    /// up after an hour. On systems other than Linux as [`Monotonic`](ClockSource::Monotonic).
    Boottime,
    /// As [`Monotonic`](ClockSource::Monotonic), but at the pace of the hardware: nobody slews it, so
    /// its seconds are those of the crystal, some ten millionths too long or too short, and always the
    /// same. For measuring beside other raw clocks; timers by it run apart from the wall clock by
    /// seconds a day.
    ///
    /// No thread can sleep by this clock. The driver sleeps by the monotonic one, gets up a little
    /// before long waits are over, and sleeps the rest: some wake-ups more, never early, and late by
    /// no more than otherwise. On systems other than Linux as
    /// [`Monotonic`](ClockSource::Monotonic).
    MonotonicRaw,
}

impl SystemClock {
    /// [`ClockSource::Monotonic`].
    pub fn new() -> SystemClock {
        SystemClock::default()
    }

    /// The clock of this source.
    pub fn with_source(source: ClockSource) -> SystemClock {
        SystemClock { source }
    }

    pub(super) fn start(self) -> SystemReadings {
        SystemReadings {
            source: self.source,
            origin: Instant::now(),
            boot_origin_ns: boot_nanos(),
            raw_origin_ns: raw_nanos(),
            // The counter does not tell when the machine was suspended.
            cheap: (self.source != ClockSource::Boottime && cheap::is_trusted())
                .then(CheapClock::new),
        }
    }
}

/// A system clock that has an origin.
#[derive(Debug)]
pub(super) struct SystemReadings {
    source: ClockSource,
    origin: Instant,
    boot_origin_ns: u64,
    raw_origin_ns: u64,
    cheap: Option<CheapClock>,
}

impl Sources for SystemReadings {
    #[inline]
    fn cycles(&self) -> u64 {
        cheap::cycles()
    }

    fn nanos(&self) -> u64 {
        self.now().as_nanos()
    }
}

impl SystemReadings {
    #[inline]
    pub(super) fn now(&self) -> Moment {
        match self.source {
            ClockSource::Monotonic => Moment::ZERO.after(self.origin.elapsed()),
            ClockSource::Boottime => {
                Moment::from_nanos(boot_nanos().saturating_sub(self.boot_origin_ns))
            }
            ClockSource::MonotonicRaw => {
                Moment::from_nanos(raw_nanos().saturating_sub(self.raw_origin_ns))
            }
        }
    }

    #[inline]
    pub(super) fn now_upper(&self) -> Moment {
        match &self.cheap {
            Some(cheap) => cheap.now_upper(self),
            None => self.now(),
        }
    }

    #[inline]
    pub(super) fn now_about(&self) -> Moment {
        match &self.cheap {
            Some(cheap) => cheap.now_about(self),
            None => self.now(),
        }
    }

    /// How long to sleep by the kernel's monotonic clock while `left` is to pass by this one, so as not
    /// to oversleep. Less than all only if the two may run apart; who sleeps so looks again.
    pub(super) fn nap(&self, left: Duration) -> Duration {
        match self.source {
            ClockSource::MonotonicRaw if cfg!(target_os = "linux") => unslewed(left),
            _ => left,
        }
    }

    pub(super) fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    pub(super) fn readings(&self) -> Readings {
        let since_origin = || u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mono_ns = since_origin();
        let boot_ns = match cfg!(target_os = "linux") {
            true => boot_nanos(),
            false => mono_ns,
        };
        let wall_ns = unix_nanos(self.wall());
        Readings {
            mono_ns,
            boot_ns,
            wall_ns,
            took_ns: since_origin().saturating_sub(mono_ns),
        }
    }

    #[cfg(all(target_os = "linux", not(wheel_model)))]
    pub(super) fn counts_suspend(&self) -> bool {
        self.source == ClockSource::Boottime
    }
}

/// The kernel slews its clock by 11 % at most, and an eighth is a little more. What is short enough
/// that the difference is less than a millisecond is slept in one go.
fn unslewed(left: Duration) -> Duration {
    const SHORT: Duration = Duration::from_millis(8);
    match left <= SHORT {
        true => left,
        false => left - left / 8,
    }
}

#[cfg(target_os = "linux")]
fn boot_nanos() -> u64 {
    nanos_of(rustix::time::ClockId::Boottime)
}

#[cfg(target_os = "linux")]
fn raw_nanos() -> u64 {
    nanos_of(rustix::time::ClockId::MonotonicRaw)
}

#[cfg(target_os = "linux")]
fn nanos_of(clock: rustix::time::ClockId) -> u64 {
    let at = rustix::time::clock_gettime(clock);
    let seconds = u64::try_from(at.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(at.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(not(target_os = "linux"))]
fn raw_nanos() -> u64 {
    boot_nanos()
}

#[cfg(not(target_os = "linux"))]
fn boot_nanos() -> u64 {
    use wheel_sync::Mutex;
    static FIRST: Mutex<Option<Instant>> = Mutex::new(None);
    let first = *FIRST.lock().get_or_insert_with(Instant::now);
    u64::try_from(first.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_sync::thread;

    const SOURCES: [ClockSource; 3] = [
        ClockSource::Monotonic,
        ClockSource::Boottime,
        ClockSource::MonotonicRaw,
    ];

    #[test]
    fn time_goes_on_by_each_source() {
        for source in SOURCES {
            let clock = SystemClock::with_source(source).start();
            let first = clock.now();
            while clock.now() == first {
                thread::yield_now();
            }
            assert!(clock.now() > first);
        }
    }

    #[test]
    fn a_nap_does_not_oversleep_however_the_kernel_slews_its_clock_and_ends_soon() {
        for slewed in [889u32, 999, 1000, 1001, 1111] {
            let mut left = Duration::from_secs(3600);
            for naps in 0.. {
                // A thread does not sleep for less.
                if left < Duration::from_micros(50) {
                    break;
                }
                let passed = unslewed(left) * 1000 / slewed;
                if passed >= left {
                    assert!(
                        passed - left <= Duration::from_millis(1),
                        "{slewed}: overslept"
                    );
                    break;
                }
                left -= passed;
                assert!(naps < 20, "{slewed}: {left:?} are left after {naps} naps");
            }
        }
        assert_eq!(unslewed(Duration::ZERO), Duration::ZERO);
        assert!(unslewed(Duration::MAX) < Duration::MAX);
    }

    #[test]
    fn only_the_raw_clock_is_approached_in_steps() {
        let hour = Duration::from_secs(3600);
        for source in SOURCES {
            let nap = SystemClock::with_source(source).start().nap(hour);
            let in_steps = source == ClockSource::MonotonicRaw && cfg!(target_os = "linux");
            assert_eq!(nap < hour, in_steps, "{source:?}");
        }
    }

    #[test]
    fn the_upper_reading_is_never_below_the_true_one_on_any_thread() {
        for source in [ClockSource::Monotonic, ClockSource::MonotonicRaw] {
            never_below_the_true_reading(source);
        }
    }

    fn never_below_the_true_reading(source: ClockSource) {
        let clock = SystemClock::with_source(source).start();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..200_000 {
                        let before = clock.now();
                        let upper = clock.now_upper();
                        assert!(upper >= before, "{upper:?} is below {before:?}");
                    }
                });
            }
        });
    }

    #[test]
    fn the_upper_reading_is_close_to_the_true_one() {
        let clock = SystemClock::new().start();
        let above = (0..100_000).map(|_| {
            let upper = clock.now_upper();
            upper.since(clock.now())
        });
        let most = above.max().expect("there were readings");
        assert!(
            most < std::time::Duration::from_micros(30),
            "{most:?} above"
        );
    }

    #[test]
    fn a_source_that_stands_before_its_origin_reads_as_the_origin() {
        let hour = std::time::Duration::from_secs(3600);
        for source in SOURCES {
            let mut clock = SystemClock::with_source(source).start();
            clock.origin += hour;
            clock.boot_origin_ns += 3_600_000_000_000;
            clock.raw_origin_ns += 3_600_000_000_000;
            for _ in 0..1000 {
                assert_eq!(clock.now(), Moment::ZERO);
                assert!(clock.now_about() < Moment::ZERO.after(hour));
                assert!(clock.now_upper() < Moment::ZERO.after(hour));
            }
        }
    }
}
