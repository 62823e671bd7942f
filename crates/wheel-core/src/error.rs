//! What can go wrong at an insert.

use std::error::Error;
use std::fmt;

/// A timer was not inserted; the value comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError<T> {
    /// As many timers are pending as the wheel may hold, or cancelled ones take up its memory
    /// because the driver does not run, or the system has none. Trying again helps once that has
    /// changed.
    Full(T),
    /// The driver has closed the wheel. Trying again does not help.
    Closed(T),
}

impl<T> InsertError<T> {
    /// The value that was not inserted.
    pub fn into_value(self) -> T {
        match self {
            InsertError::Full(value) | InsertError::Closed(value) => value,
        }
    }

    /// True when trying again later can succeed.
    pub fn is_full(&self) -> bool {
        matches!(self, InsertError::Full(_))
    }
}

// By hand, so that a value needs no Debug.
impl<T> fmt::Debug for InsertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InsertError::Full(_) => "Full(..)",
            InsertError::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for InsertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InsertError::Full(_) => {
                "the wheel holds as many timers as it may: raise max_timers, or try again when some have fired or were cancelled"
            }
            InsertError::Closed(_) => "the wheel is closed and takes no more timers",
        })
    }
}

impl<T> Error for InsertError<T> {}
