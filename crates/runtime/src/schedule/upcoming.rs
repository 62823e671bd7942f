//! What a schedule would do, without a scheduler.

use std::iter::FusedIterator;
use std::time::SystemTime;

use super::{Due, Plan, Schedule, ScheduleError};
use crate::clock::Moment;
use crate::policy::Draws;

/// The instants that a schedule names, from [`Schedule::occurrences`], each later than the one
/// before.
#[derive(Clone, Debug)]
#[must_use = "an iterator does nothing by itself"]
pub struct Upcoming {
    plan: Plan,
    next: Option<Due>,
}

impl Schedule {
    /// What it would be due at, were it given to a task when the wall clock reads `from`, one instant
    /// after the other: to show, and to test. A pure function: no clock is read.
    ///
    /// Instants are nominal: without [`jitter`](Schedule::jitter), and not rounded. Of
    /// [`every_after`](Schedule::every_after) they are those of runs that take no time. `at` is given
    /// also if it has passed. None is further away than 584 years, but for those of the wall clock,
    /// which go on to the year 9999 or as far as a [`SystemTime`] does.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`], as when a task is added.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use wheel_runtime::Schedule;
    ///
    /// let new_year = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
    /// let minute = Duration::from_secs(60);
    /// let poll = Schedule::every(10 * minute).start_now().not_after(new_year + 25 * minute);
    /// let due: Vec<SystemTime> = poll.occurrences(new_year)?.collect();
    /// assert_eq!(due, [0, 10, 20].map(|n| new_year + n * minute));
    /// assert_eq!(Schedule::after(minute).occurrences(new_year)?.count(), 1);
    /// # Ok::<(), wheel_runtime::ScheduleError>(())
    /// ```
    pub fn occurrences(&self, from: SystemTime) -> Result<Upcoming, ScheduleError> {
        let (plan, first) = self.plan(Moment::ZERO, from, Draws::default())?;
        let next = Some(plan.point(first));
        Ok(Upcoming { plan, next })
    }
}

impl Iterator for Upcoming {
    type Item = SystemTime;

    fn next(&mut self) -> Option<SystemTime> {
        let point = self.next.take()?;
        if point == Due::Monotonic(Moment::NEVER) {
            return None;
        }
        self.next = self.plan.following(point);
        Some(self.plan.calendar(point))
    }
}

impl FusedIterator for Upcoming {}
