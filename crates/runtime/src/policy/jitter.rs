//! How far occurrences of one schedule are spread, so that many tasks are not due at one instant.

use std::time::{Duration, SystemTime};

use super::draw::{Draws, part};

/// Spreads what is due at the same instant: an occurrence is due up to so much later than its
/// schedule says.
///
/// The schedule itself does not move: [`nominal`](crate::Context::nominal), and with it the
/// [idempotency key](crate::Context::idempotency_key), is what it would be without, and so is the
/// next occurrence. Only [`due`](crate::Context::due) is later, and lateness counts from there. A
/// [window](crate::Schedule::not_after) holds for the nominal instant.
///
/// Occurrences keep their order, and none is lost or doubled: none is moved up to the next one.
/// Where that is nearer than what was asked for, the spread ends a millisecond, the longest tick,
/// before it. So a spread longer than the period is cut, each gap of a cron expression by itself,
/// and a schedule of every millisecond is not spread at all. `every_after`, `after` and `at` have no
/// next one that is known, and are spread as far as was asked.
///
/// Zero spreads nothing. 365 days at most; more is refused when the task is added. Due instants
/// round up to the tick.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{InlineExecutor, Jitter, ManualClock, Scheduler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = ManualClock::new();
/// let scheduler = Scheduler::builder().clock(clock.clone()).executor(InlineExecutor).build()?;
/// let minute = Duration::from_secs(60);
/// for shop in 0..100 {
///     let report = scheduler.task(format!("report-{shop}")).cron("@hourly");
///     report.jitter(Jitter::Hashed(10 * minute)).run(move |run| {
///         let late = run.due().duration_since(run.nominal()).expect("it is later");
///         assert!(late < 10 * minute && run.lateness() < Duration::from_millis(1));
///     })?;
/// }
/// clock.run_for(65 * minute);
/// // About half of them.
/// assert!((30..70).contains(&scheduler.stats().runs));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Jitter {
    /// Each occurrence by a length of its own, anywhere from zero to this. It depends on the
    /// [seed](crate::SchedulerBuilder::seed) of the scheduler, the id of the task and the nominal
    /// instant, and on nothing else.
    Uniform(Duration),
    /// Every occurrence of a task by the same part of this, which depends on the id of the task
    /// alone: it is the same in each process, and the distance from one to the next stays.
    Hashed(Duration),
}

impl Jitter {
    /// No spread is longer.
    pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 86_400);

    /// As far as was asked for.
    pub(crate) fn length(self) -> Duration {
        match self {
            Jitter::Uniform(length) | Jitter::Hashed(length) => length,
        }
    }

    /// By how much the occurrence of `nominal` is moved, if that is not to be `room` or more.
    pub(crate) fn offset(self, room: Duration, draws: Draws, nominal: SystemTime) -> Duration {
        let draw = match self {
            Jitter::Uniform(_) => draws.draw(nominal, 0),
            Jitter::Hashed(_) => draws.of_id(),
        };
        part(self.length().min(room), draw)
    }
}
