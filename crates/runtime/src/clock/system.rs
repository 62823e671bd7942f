//! The system's clock: monotonic by default, boot time on request.
//!
//! A plain reading of `CLOCK_MONOTONIC` (or `CLOCK_BOOTTIME`) counted from the moment at which the
//! clock was made, and `SystemTime` for the wall. Any thread may read.

use std::time::{Instant, SystemTime};

use super::Moment;
use super::cheap::{self, CheapClock, Sources};

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
            // The counter does not tell when the machine was suspended.
            cheap: (self.source == ClockSource::Monotonic && cheap::is_trusted())
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

    pub(super) fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    #[cfg(all(target_os = "linux", not(wheel_model)))]
    pub(super) fn counts_suspend(&self) -> bool {
        self.source == ClockSource::Boottime
    }
}

#[cfg(target_os = "linux")]
fn boot_nanos() -> u64 {
    let at = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(at.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(at.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
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

    #[test]
    fn time_goes_on_by_either_source() {
        for source in [ClockSource::Monotonic, ClockSource::Boottime] {
            let clock = SystemClock::with_source(source).start();
            let first = clock.now();
            while clock.now() == first {
                thread::yield_now();
            }
            assert!(clock.now() > first);
        }
    }

    #[test]
    fn the_upper_reading_is_never_below_the_true_one_on_any_thread() {
        let clock = SystemClock::new().start();
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
        for source in [ClockSource::Monotonic, ClockSource::Boottime] {
            let mut clock = SystemClock::with_source(source).start();
            clock.origin += hour;
            clock.boot_origin_ns += 3_600_000_000_000;
            for _ in 0..1000 {
                assert_eq!(clock.now(), Moment::ZERO);
                assert!(clock.now_about() < Moment::ZERO.after(hour));
                assert!(clock.now_upper() < Moment::ZERO.after(hour));
            }
        }
    }
}
