//! Why a run was told to stop.

/// Why a token was set. The first reason stays.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{CancelToken, StopReason};
///
/// let token = CancelToken::new();
/// assert_eq!(token.stop_reason(), None);
/// token.cancel();
/// assert_eq!(token.stop_reason(), Some(StopReason::Cancelled));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// Somebody cancelled the task, or set the token.
    Cancelled,
    /// The grace of a shutdown was over.
    ShutDown,
    /// A newer run is to come instead: [`Overlap::CancelRunning`](crate::Overlap::CancelRunning).
    GaveWay,
    /// A time limit has passed: of the attempt, of the run, or of a
    /// [child](crate::Context::child).
    TimedOut,
    /// The handler that passed it down has returned.
    Over,
}

impl StopReason {
    const ALL: [StopReason; 5] = [
        StopReason::Cancelled,
        StopReason::ShutDown,
        StopReason::GaveWay,
        StopReason::TimedOut,
        StopReason::Over,
    ];

    /// As a number from 1.
    pub(super) fn code(self) -> u32 {
        self as u32 + 1
    }

    /// Of 0, none.
    pub(super) fn of_code(code: u32) -> Option<StopReason> {
        let place = code.checked_sub(1)? as usize;
        StopReason::ALL.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_found_by_its_code() {
        for reason in StopReason::ALL {
            assert_eq!(StopReason::of_code(reason.code()), Some(reason));
        }
        assert_eq!(StopReason::of_code(0), None);
        assert_eq!(StopReason::of_code(99), None);
    }
}
