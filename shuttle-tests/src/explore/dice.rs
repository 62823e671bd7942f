//! A scheduler that throws dice: which thread goes next, or also how long it may go on.
//!
//! With a new choice at every step all threads crawl along at one pace, and none gets far while
//! another stands still. With choices that last a thread stands still for as long as the others'
//! bursts: some operations, where PCT holds it back for a whole run.

use shuttle::scheduler::{DataSource, RandomDataSource, Schedule, Scheduler, Task, TaskId};
use wheel_testkit::Random;

/// How long a choice lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// One step.
    Step,
    /// Some steps: about as many throughout a schedule, from 4 to 256.
    Burst,
}

/// Chooses at random among the threads that can go on.
pub(super) struct Dice {
    choice: Choice,
    schedules_left: usize,
    /// What the scenario draws its operations from: begun anew by each schedule with a seed that a
    /// replay knows.
    data: RandomDataSource,
    random: Random,
    /// A burst ends at each step with one chance in so many.
    length: u64,
}

impl Dice {
    pub(super) fn new(choice: Choice, seed: u64, schedules: usize) -> Dice {
        Dice {
            choice,
            schedules_left: schedules,
            data: RandomDataSource::initialize(seed),
            random: Random::new(seed),
            length: 1,
        }
    }
}

impl Scheduler for Dice {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.schedules_left = self.schedules_left.checked_sub(1)?;
        if self.choice == Choice::Burst {
            self.length = 4 << self.random.below(7);
        }
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        if !is_yielding
            && let Some(current) = current
            && self.length > 1
            && runnable.iter().any(|task| task.id() == current)
            && !self.random.one_in(self.length)
        {
            return Some(current);
        }
        Some(self.random.choose(runnable).id())
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }
}
