//! A scheduler that lets a thread go on for a while before it picks another.
//!
//! With a new choice at every step all threads crawl along at one pace, and none gets far while
//! another stands still. Here a thread stands still for as long as the others' bursts last: some
//! operations, where PCT holds it back for a whole run.

use shuttle::scheduler::{RandomScheduler, Schedule, Scheduler, Task, TaskId};
use wheel_testkit::Random;

/// Random choices, each kept for some steps.
pub(super) struct Bursts {
    inner: RandomScheduler,
    random: Random,
    /// A burst ends at each step with one chance in so many; drawn anew for each schedule.
    length: u64,
}

impl Bursts {
    pub(super) fn new(seed: u64, schedules: usize) -> Bursts {
        Bursts {
            inner: RandomScheduler::new_from_seed(seed, schedules),
            random: Random::new(seed),
            length: 1,
        }
    }
}

impl Scheduler for Bursts {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.length = 4 << self.random.below(7);
        self.inner.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        if !is_yielding
            && let Some(current) = current
            && runnable.iter().any(|task| task.id() == current)
            && !self.random.one_in(self.length)
        {
            return Some(current);
        }
        self.inner.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}
