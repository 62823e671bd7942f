//! Wheel time: ticks, how long one takes, and which way a conversion rounds.
//!
//! The engine never reads a clock. Its user turns readings into ticks here: a wait rounds *up* and
//! a reading rounds *down*, which together is why no timer fires early (W1).

use std::fmt;
use std::time::Duration;

/// An instant in wheel time: ticks since the origin that the user of the wheel chose.
///
/// Arithmetic saturates: [`Tick::MAX`] stands for "never".
///
/// ```
/// use wheel_core::Tick;
///
/// assert_eq!(Tick::new(40).saturating_add(2), Tick::new(42));
/// assert_eq!(Tick::new(7).saturating_add(u64::MAX), Tick::MAX);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(u64);

impl Tick {
    /// The origin.
    pub const ZERO: Tick = Tick(0);
    /// The last tick there is: what is due then stays pending in any real run.
    pub const MAX: Tick = Tick(u64::MAX);

    /// The tick that many ticks after the origin.
    pub const fn new(ticks: u64) -> Tick {
        Tick(ticks)
    }

    /// Ticks since the origin.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The tick that many ticks later, or [`Tick::MAX`].
    #[must_use]
    pub const fn saturating_add(self, ticks: u64) -> Tick {
        Tick(self.0.saturating_add(ticks))
    }

    /// Ticks from `earlier` to this tick, or 0 when `earlier` is not earlier.
    pub const fn saturating_since(self, earlier: Tick) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

const NANOS_PER_MS: u32 = 1_000_000;
const NANOS_MIN: u32 = 10_000;

/// How long a tick takes: one millisecond, or a fraction of it down to 10 us.
///
/// ```
/// use std::time::Duration;
/// use wheel_core::TickLength;
///
/// let tick = TickLength::new(Duration::from_micros(250))?;
/// assert_eq!(tick.ticks_ceil(Duration::from_micros(251)), 2);
/// assert_eq!(tick.ticks_floor(Duration::from_micros(499)), 1);
/// # Ok::<(), wheel_core::TickLengthError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickLength {
    nanos: u32,
}

impl TickLength {
    /// One millisecond, the default.
    pub const MILLISECOND: TickLength = TickLength {
        nanos: NANOS_PER_MS,
    };

    /// A tick of `length`, which a millisecond must be a whole multiple of.
    ///
    /// # Errors
    ///
    /// [`TickLengthError`] when `length` is under 10 us, over 1 ms, or does not divide 1 ms.
    pub fn new(length: Duration) -> Result<TickLength, TickLengthError> {
        match u32::try_from(length.as_nanos()) {
            Ok(nanos @ NANOS_MIN..=NANOS_PER_MS) if NANOS_PER_MS.is_multiple_of(nanos) => {
                Ok(TickLength { nanos })
            }
            _ => Err(TickLengthError { length }),
        }
    }

    /// Nanoseconds in a tick.
    pub const fn as_nanos(self) -> u32 {
        self.nanos
    }

    pub(crate) const fn per_ms(self) -> u32 {
        NANOS_PER_MS / self.nanos
    }

    /// The ticks that cover `wait`, rounded up; [`u64::MAX`] when there are not enough.
    ///
    /// For the due tick of a timer: a wait is never cut short.
    pub const fn ticks_ceil(self, wait: Duration) -> u64 {
        saturate(wait.as_nanos().div_ceil(self.nanos as u128))
    }

    /// The ticks that have ended after `elapsed`, rounded down; [`u64::MAX`] when there are not
    /// enough.
    ///
    /// For a reading of a clock: a tick counts once it is over.
    pub const fn ticks_floor(self, elapsed: Duration) -> u64 {
        saturate(elapsed.as_nanos() / self.nanos as u128)
    }

    /// How long `ticks` take, exactly.
    pub fn duration(self, ticks: u64) -> Duration {
        const NANOS_PER_S: u128 = 1_000_000_000;
        let nanos = ticks as u128 * self.nanos as u128;
        // u64::MAX ticks of 1 ms are 2^64 / 1000 s, so the seconds fit.
        Duration::new((nanos / NANOS_PER_S) as u64, (nanos % NANOS_PER_S) as u32)
    }
}

impl Default for TickLength {
    fn default() -> TickLength {
        TickLength::MILLISECOND
    }
}

const fn saturate(ticks: u128) -> u64 {
    if ticks > u64::MAX as u128 {
        u64::MAX
    } else {
        ticks as u64
    }
}

/// The asked length of a tick is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TickLengthError {
    length: Duration,
}

impl fmt::Display for TickLengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a tick cannot take {:?}: it must be at least 10 us and divide 1 ms, such as 1 ms, 500 us, 100 us or 10 us",
            self.length
        )
    }
}

impl std::error::Error for TickLengthError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_rounds_up_and_a_reading_rounds_down() {
        let tick = TickLength::MILLISECOND;
        for (nanos, up, down) in [
            (0, 0, 0),
            (1, 1, 0),
            (999_999, 1, 0),
            (1_000_000, 1, 1),
            (1_000_001, 2, 1),
        ] {
            let span = Duration::from_nanos(nanos);
            assert_eq!((tick.ticks_ceil(span), tick.ticks_floor(span)), (up, down));
        }
    }

    #[test]
    fn the_longest_duration_does_not_wrap() {
        for micros in [10, 100, 1000] {
            let tick = TickLength::new(Duration::from_micros(micros)).unwrap();
            assert_eq!(tick.ticks_ceil(Duration::MAX), u64::MAX);
            assert_eq!(tick.ticks_floor(Duration::MAX), u64::MAX);
            assert_eq!(tick.ticks_floor(tick.duration(u64::MAX)), u64::MAX);
        }
    }

    #[test]
    fn lengths_that_do_not_divide_a_millisecond_are_refused_with_a_reason() {
        for nanos in [0, 9_999, 300_000, 1_000_001, u64::MAX] {
            let error = TickLength::new(Duration::from_nanos(nanos)).unwrap_err();
            assert!(error.to_string().contains("divide 1 ms"), "{error}");
        }
        for micros in [10, 20, 25, 40, 50, 100, 125, 200, 250, 500, 1000] {
            assert!(TickLength::new(Duration::from_micros(micros)).is_ok());
        }
    }
}
