//! Between which instants of the wall clock a schedule is due.

use std::time::SystemTime;

use jiff::Timestamp;

/// Both ends are part of it. Asked for, so it may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) not_before: Option<SystemTime>,
    pub(crate) not_after: Option<SystemTime>,
}

impl Window {
    pub(crate) fn is_whole_time(&self) -> bool {
        *self == Window::default()
    }

    /// What is asked for here, else there.
    pub(crate) fn or(self, other: Window) -> Window {
        Window {
            not_before: self.not_before.or(other.not_before),
            not_after: self.not_after.or(other.not_after),
        }
    }
}

/// An instant as RFC 3339 has it, in UTC; what is beyond the years of that, as Rust shows it.
pub(super) fn rfc3339(at: SystemTime) -> String {
    match Timestamp::try_from(at) {
        Ok(at) => at.to_string(),
        Err(_) => format!("{at:?}"),
    }
}
