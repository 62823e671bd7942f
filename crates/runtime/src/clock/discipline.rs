//! How the system's clock is kept: what the kernel knows of its pace and of its error.
//!
//! Linux tells by `adjtimex`, which anybody may call to read. It is set by the daemon that follows a
//! reference (ntpd, chronyd, systemd-timesyncd), and read here; nothing is ever changed. Not a clock of
//! the engine: for metrics, and for people who wonder why two machines disagree.

use std::io;
use std::time::Duration;

use super::SystemClock;

/// What keeps the system's wall clock near its reference, as the kernel tells it.
///
/// The monotonic clock runs at the same pace, so [`frequency_ppb`](ClockDiscipline::frequency_ppb) is
/// in every delay as well: at 50,000 ppb a delay of an hour takes 180 ms more or less by the crystal.
/// [`ClockSource::MonotonicRaw`](crate::ClockSource::MonotonicRaw) leaves it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ClockDiscipline {
    /// Whether something keeps the clock near a reference, and has said so lately.
    pub is_synchronized: bool,
    /// By how much the clock is made to run faster than the crystal, in parts per thousand million;
    /// negative: slower. What is being slewed by a changed length of the kernel's tick is in it.
    pub frequency_ppb: i64,
    /// How far the kernel still has to slew the clock, in nanoseconds: positive if the clock is behind
    /// its reference. 0 under a daemon that slews by the frequency alone, as chronyd does.
    pub offset_ns: i64,
    /// The clock is not farther than this from its reference, says the daemon. Grows while it says
    /// nothing.
    pub error_max: Duration,
    /// The likely error, says the daemon.
    pub error_estimated: Duration,
    /// How many seconds atomic time is ahead of the wall clock's; 0 if nobody has told the kernel.
    pub tai_offset_s: i32,
}

impl SystemClock {
    /// What keeps the system's wall clock near its reference, right now. Reads, and changes nothing;
    /// a call of the kernel, of less than a microsecond.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](io::ErrorKind::Unsupported) on systems other than Linux, and what the kernel
    /// says where a sandbox forbids the call.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::SystemClock;
    ///
    /// match SystemClock::discipline() {
    ///     Ok(kept) if kept.is_synchronized => println!("within {:?}", kept.error_max),
    ///     Ok(kept) => println!("nobody keeps it; it runs {} ppb fast", kept.frequency_ppb),
    ///     Err(error) => println!("the system does not tell: {error}"),
    /// }
    /// ```
    pub fn discipline() -> io::Result<ClockDiscipline> {
        read().map(|told| told.in_units())
    }
}

/// What the kernel tells, in its own units.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    is_synchronized: bool,
    /// `offset` is in nanoseconds, else in microseconds.
    in_nanos: bool,
    offset: i128,
    /// Parts per million, times 2^16.
    freq: i128,
    /// Microseconds between two ticks of the kernel's, of which there are to be 100 a second.
    tick_us: i128,
    maxerror_us: i128,
    esterror_us: i128,
    tai_offset_s: i32,
}

const TICK_US: i128 = 10_000;

impl Told {
    fn in_units(self) -> ClockDiscipline {
        let by_tick_ppb = (self.tick_us - TICK_US) * (1_000_000_000 / TICK_US);
        let frequency_ppb = self.freq * 1_000 / (1 << 16) + by_tick_ppb;
        let offset_ns = self.offset * if self.in_nanos { 1 } else { 1_000 };
        let micros = |us: i128| Duration::from_micros(u64::try_from(us.max(0)).unwrap_or(u64::MAX));
        ClockDiscipline {
            is_synchronized: self.is_synchronized,
            frequency_ppb: clamped(frequency_ppb),
            offset_ns: clamped(offset_ns),
            error_max: micros(self.maxerror_us),
            error_estimated: micros(self.esterror_us),
            tai_offset_s: self.tai_offset_s,
        }
    }
}

fn clamped(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(target_os = "linux")]
fn read() -> io::Result<Told> {
    // SAFETY: a `timex` is numbers alone, and zeroes are a value of each. Its `modes` of 0 asks for
    // nothing to be changed, and the kernel writes into this one and keeps no pointer to it. [U32]
    let (state, timex) = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut timex), timex)
    };
    if state < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Told {
        is_synchronized: timex.status & libc::STA_UNSYNC == 0,
        in_nanos: timex.status & libc::STA_NANO != 0,
        offset: timex.offset.into(),
        freq: timex.freq.into(),
        tick_us: timex.tick.into(),
        maxerror_us: timex.maxerror.into(),
        esterror_us: timex.esterror.into(),
        tai_offset_s: timex.tai,
    })
}

#[cfg(not(target_os = "linux"))]
fn read() -> io::Result<Told> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Told = Told {
        is_synchronized: true,
        in_nanos: true,
        offset: 0,
        freq: 0,
        tick_us: TICK_US,
        maxerror_us: 0,
        esterror_us: 0,
        tai_offset_s: 37,
    };

    #[test]
    fn the_units_of_the_kernel_become_ours() {
        let told = Told {
            offset: -1_500,
            freq: 25 << 16,
            maxerror_us: 16_000,
            esterror_us: 12,
            ..QUIET
        };
        let kept = told.in_units();
        assert_eq!((kept.frequency_ppb, kept.offset_ns), (25_000, -1_500));
        assert_eq!(kept.error_max, Duration::from_millis(16));
        assert_eq!(kept.error_estimated, Duration::from_micros(12));
        let in_micros = Told {
            in_nanos: false,
            ..told
        };
        assert_eq!(in_micros.in_units().offset_ns, -1_500_000);
    }

    #[test]
    fn a_slew_by_the_tick_is_part_of_the_frequency() {
        for (tick_us, freq, ppb) in [(10_001, 0, 100_000), (9_000, -(1 << 16), -100_001_000)] {
            let told = Told {
                tick_us,
                freq,
                ..QUIET
            };
            assert_eq!(told.in_units().frequency_ppb, ppb);
        }
    }

    #[test]
    fn numbers_that_no_kernel_tells_do_not_panic() {
        for extreme in [i128::from(i64::MIN), i128::from(i64::MAX)] {
            let told = Told {
                in_nanos: false,
                offset: extreme,
                freq: extreme,
                tick_us: extreme,
                maxerror_us: extreme,
                esterror_us: extreme,
                ..QUIET
            };
            let kept = told.in_units();
            assert_eq!(kept.offset_ns.signum(), extreme.signum() as i64);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_tells_or_forbids_it() {
        match SystemClock::discipline() {
            // The kernel slews by 11 % at most.
            Ok(kept) => assert!(kept.frequency_ppb.abs() < 111_000_000, "{kept:?}"),
            Err(error) => assert!(error.raw_os_error().is_some(), "{error}"),
        }
    }
}
