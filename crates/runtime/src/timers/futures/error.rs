//! How a future on the engine may fail.

use std::fmt;

use wheel_core::InsertError;

/// A future could not wait until it was due.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::Timers;
///
/// # fn main() -> Result<(), wheel_runtime::BuildError> {
/// let timers = Timers::builder().build()?;
/// let sleep = timers.sleep(Duration::from_secs(1));
/// timers.shutdown();
/// assert!(smol::block_on(sleep).unwrap_err().is_closed());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepError(Reason);

/// A future was not done within its limit.
///
/// # Examples
///
/// ```
/// use std::future::pending;
/// use std::time::Duration;
/// use wheel_runtime::Timers;
///
/// # fn main() -> Result<(), wheel_runtime::BuildError> {
/// let timers = Timers::builder().build()?;
/// let error = smol::block_on(timers.timeout(Duration::ZERO, pending::<()>())).unwrap_err();
/// assert!(error.is_elapsed() && !error.is_closed());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutError(Option<SleepError>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Full,
    Closed,
}

impl SleepError {
    pub(super) const CLOSED: SleepError = SleepError(Reason::Closed);

    pub(super) fn of<T>(refused: &InsertError<T>) -> SleepError {
        if matches!(refused, InsertError::Full(_)) {
            SleepError(Reason::Full)
        } else {
            SleepError::CLOSED
        }
    }

    /// As many timers were pending as are allowed. Trying again helps when some have fired.
    pub fn is_full(&self) -> bool {
        self.0 == Reason::Full
    }

    /// The engine was shut down. Trying again does not help.
    pub fn is_closed(&self) -> bool {
        self.0 == Reason::Closed
    }
}

impl TimeoutError {
    pub(super) const ELAPSED: TimeoutError = TimeoutError(None);

    /// Its time was over.
    pub fn is_elapsed(&self) -> bool {
        self.0.is_none()
    }

    /// As many timers were pending as are allowed, so nobody could keep the time. Trying again helps
    /// when some have fired.
    pub fn is_full(&self) -> bool {
        self.0.is_some_and(|error| error.is_full())
    }

    /// The engine was shut down, so nobody keeps the time. Trying again does not help.
    pub fn is_closed(&self) -> bool {
        self.0.is_some_and(|error| error.is_closed())
    }
}

impl From<SleepError> for TimeoutError {
    fn from(error: SleepError) -> TimeoutError {
        TimeoutError(Some(error))
    }
}

impl fmt::Display for SleepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Reason::Full => "the limit of pending timers is reached",
            Reason::Closed => "the timers were shut down",
        })
    }
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "nobody can keep the time",
            None => "the time limit has passed",
        })
    }
}

impl std::error::Error for SleepError {}

impl std::error::Error for TimeoutError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.as_ref()?;
        Some(source)
    }
}
