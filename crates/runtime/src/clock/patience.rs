//! How long a caller is willing to wait: real time, whatever clock the engine follows.
//!
//! A grace or a wait with a limit keeps a thread from hanging, so it has to end also when a manual
//! clock stands still.
//!
//! A model has no time: there a limit of zero is over at once, and any other one never.

use std::time::{Duration, Instant};

use wheel_sync::MODELLED;

/// Real time left to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// `None`: for ever.
    end: Option<Instant>,
}

impl Patience {
    /// Waits for `limit`; one too long to be added up means for ever.
    pub(crate) fn new(limit: Duration) -> Patience {
        let end = if MODELLED && !limit.is_zero() {
            None
        } else {
            Instant::now().checked_add(limit)
        };
        Patience { end }
    }

    /// What is left, or `None` when it is over.
    pub(crate) fn left(self) -> Option<Duration> {
        // An hour at a time: some systems refuse to wait for centuries, and every wait here is in a
        // loop.
        const LONGEST: Duration = Duration::from_secs(3600);
        let Some(end) = self.end else {
            return Some(LONGEST);
        };
        let left = end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| left.min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_too_long() {
        assert!(Patience::new(Duration::MAX).left().is_some());
        assert!(
            Patience::new(Duration::from_secs(u64::MAX))
                .left()
                .is_some()
        );
        assert!(Patience::new(Duration::ZERO).left().is_none());
    }
}
