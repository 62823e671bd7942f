//! Why `wheel run` ends: told to the main thread by the others.

use std::time::{Duration, Instant};

use wheel_sync::{Arc, Condvar, Mutex};

use crate::summary::Cause;

/// What a signal means, depending on how far the end has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The end begins.
    End,
    /// The end has begun already: no more patience.
    Hurry,
}

/// A cheap handle; all clones tell the same main thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    cause: Option<Cause>,
    idle: bool,
}

impl Ending {
    /// A signal has come.
    pub(crate) fn signal(&self, signal: i32) -> Meaning {
        let mut state = self.shared.state.lock();
        if state.cause.is_some() {
            return Meaning::Hurry;
        }
        state.cause = Some(Cause::Signal(signal));
        self.shared.changed.notify_all();
        Meaning::End
    }

    /// Nothing is pending any more.
    pub(crate) fn idle(&self) {
        self.shared.state.lock().idle = true;
        self.shared.changed.notify_all();
    }

    /// Something is pending again.
    pub(crate) fn busy(&self) {
        self.shared.state.lock().idle = false;
    }

    /// Waits for the end, at most until `pause_over`; `None` when that comes first. The first cause
    /// stays the cause.
    pub(crate) fn wait(&self, limits: Limits, pause_over: Option<Instant>) -> Option<Cause> {
        let mut state = self.shared.state.lock();
        loop {
            let now = Instant::now();
            if state.cause.is_none() && state.idle && limits.idle == OnIdle::End {
                state.cause = Some(Cause::Idle);
            } else if state.cause.is_none() && limits.time_over.is_some_and(|over| over <= now) {
                state.cause = Some(Cause::TimeOver);
            }
            if state.cause.is_some() {
                return state.cause;
            }
            let until = [limits.time_over, pause_over].into_iter().flatten().min();
            match until.map(|until| until.saturating_duration_since(now)) {
                Some(Duration::ZERO) => return None,
                Some(rest) => state = self.shared.changed.wait_timeout(state, rest),
                None => state = self.shared.changed.wait(state),
            }
        }
    }
}

/// What to do when nothing is pending any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnIdle {
    /// End.
    End,
    /// Stay until the time is over.
    Stay,
}

/// What ends `wheel run` besides a signal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time_over: Option<Instant>,
    pub(crate) idle: OnIdle,
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREVER: Limits = Limits {
        time_over: None,
        idle: OnIdle::End,
    };

    #[test]
    fn the_first_cause_stays_and_later_signals_hurry() {
        let ending = Ending::default();
        assert_eq!(ending.signal(15), Meaning::End);
        ending.idle();
        assert_eq!(ending.signal(2), Meaning::Hurry);
        assert_eq!(ending.wait(FOREVER, None), Some(Cause::Signal(15)));
    }

    #[test]
    fn idle_ends_it_only_where_asked() {
        let ending = Ending::default();
        ending.idle();
        let now = Some(Instant::now());
        assert_eq!(
            ending.wait(
                Limits {
                    idle: OnIdle::Stay,
                    ..FOREVER
                },
                now
            ),
            None
        );
        assert_eq!(ending.wait(FOREVER, now), Some(Cause::Idle));
    }

    #[test]
    fn the_time_ends_it_and_a_signal_after_that_hurries() {
        let ending = Ending::default();
        let limits = Limits {
            time_over: Some(Instant::now()),
            idle: OnIdle::Stay,
        };
        assert_eq!(ending.wait(limits, None), Some(Cause::TimeOver));
        assert_eq!(ending.signal(2), Meaning::Hurry);
    }
}
