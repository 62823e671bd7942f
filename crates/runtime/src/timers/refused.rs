//! Why a timer was not taken: the error that gives the callback back.

use std::fmt;

use wheel_core::InsertError;
use wheel_sync::Mutex;

use super::sink::Callback;

/// A timer was refused. Holds the callback, which has not run.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::Timers;
///
/// let timers = Timers::builder().max_timers(1).build().unwrap();
/// timers.after(Duration::MAX, || ()).unwrap();
/// let refused = timers.after(Duration::MAX, || ()).unwrap_err();
/// assert!(refused.is_full());
/// let callback = refused.into_callback();
/// callback();
/// ```
pub struct TimerError {
    reason: Reason,
    /// The mutex is never locked. It makes the error `Sync`, as error types of others expect.
    callback: Mutex<Callback>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Full,
    Closed,
}

impl TimerError {
    pub(super) fn of(refused: InsertError<Callback>) -> TimerError {
        let reason = if matches!(refused, InsertError::Full(_)) {
            Reason::Full
        } else {
            Reason::Closed
        };
        TimerError {
            reason,
            callback: Mutex::new(refused.into_value()),
        }
    }

    /// As many timers are pending as are allowed. Trying again helps when some have fired.
    pub fn is_full(&self) -> bool {
        self.reason == Reason::Full
    }

    /// The engine was shut down. Trying again does not help.
    pub fn is_closed(&self) -> bool {
        self.reason == Reason::Closed
    }

    /// The callback that was refused.
    pub fn into_callback(self) -> Box<dyn FnOnce() + Send> {
        let callback = self.callback.into_inner();
        Box::new(move || callback.run())
    }
}

impl fmt::Display for TimerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            Reason::Full => "the limit of pending timers is reached",
            Reason::Closed => "the timers were shut down",
        })
    }
}

impl fmt::Debug for TimerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TimerError").field(&self.reason).finish()
    }
}

impl std::error::Error for TimerError {}
