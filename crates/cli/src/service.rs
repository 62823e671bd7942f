//! What a service manager is told, by the protocol of systemd (sd_notify(3), sd_watchdog_enabled(3)):
//! that all tasks are in the scheduler's hands, that its driver is alive, and that the end has begun.
//!
//! Nothing is said where nobody asked: without `NOTIFY_SOCKET` in the environment each of these does
//! nothing. Programs do not inherit what is meant for this process ([`VARIABLES`]).

use std::time::Duration;

use wheel_runtime::{PoolSpec, Scheduler, SchedulerBuilder, SubmitError};

/// What a service manager tells a process, and that process alone.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"];

/// The pool of the one task that says that the scheduler is alive: it does not wait for programs.
const POOL: &str = "watchdog";

/// Something that has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// All tasks have been handed over.
    Ready,
    /// The scheduler is alive.
    Alive,
    /// The end has begun.
    Stopping,
}

/// How often a service manager wants to hear that this process is alive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watchdog {
    period: Duration,
}

impl Watchdog {
    /// `None` if nobody wants to.
    pub(crate) fn asked() -> Option<Watchdog> {
        // Half of the time after which it would act, as the manual advises.
        system::watchdog().map(|time| Watchdog { period: time / 2 })
    }

    pub(crate) fn prepare(self, builder: SchedulerBuilder) -> SchedulerBuilder {
        builder.pool(PoolSpec::named(POOL).workers(1))
    }

    /// From now on the driver and a worker of `scheduler` say that they are alive, as long as they
    /// are.
    pub(crate) fn start(self, scheduler: &Scheduler) -> Result<(), SubmitError> {
        let task = scheduler.unnamed().every(self.period).start_now();
        task.pool(POOL).run(|_| tell(News::Alive)).map(drop)
    }
}

/// Tells it. Who does not hear it will act as if it had not come, so that is all that can be done.
pub(crate) fn tell(news: News) {
    system::tell(news);
}

#[cfg(target_os = "linux")]
mod system {
    use std::time::Duration;

    use sd_notify::NotifyState;

    use super::News;

    pub(super) fn watchdog() -> Option<Duration> {
        sd_notify::watchdog_enabled().filter(|time| !time.is_zero())
    }

    pub(super) fn tell(news: News) {
        let state = match news {
            News::Ready => NotifyState::Ready,
            News::Alive => NotifyState::Watchdog,
            News::Stopping => NotifyState::Stopping,
        };
        let _ = sd_notify::notify(&[state]);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    use super::News;

    pub(super) fn watchdog() -> Option<Duration> {
        None
    }

    pub(super) fn tell(_: News) {}
}
