//! On a clock that is moved by hand: what is due at one instant comes in an order that does not
//! depend on what the engine went through before.
//!
//! ```text
//!   driver: fire, fire, flush, fire, flush, caught up --> sorted: due, sort, task --> TaskSink
//! ```
//!
//! Within a tick the engine keeps no order: where an entry lies depends on which were free, and that
//! on which thread was quicker. By a clock of the system nobody could tell. By hand the same steps
//! are to give the same log, also where more is due in one tick than a pass fires.
//!
//! Tasks go by their serial number: in the order in which they were submitted.

use std::cmp::Ordering;

use super::sink::{Fire, TaskSink};
use crate::clock::ClockJump;
use crate::driver::{DueTimer, Sink};

pub(super) struct InTurn {
    sink: TaskSink,
    /// All that is due by now, until there is no more.
    due: Vec<DueTimer<Fire>>,
}

impl InTurn {
    pub(super) fn new(sink: TaskSink) -> InTurn {
        let due = Vec::new();
        InTurn { sink, due }
    }
}

impl Sink<Fire> for InTurn {
    fn fire(&mut self, timer: DueTimer<Fire>) {
        self.due.push(timer);
    }

    fn caught_up(&mut self) {
        if !self.due.is_empty() {
            // Stable: what has no place among its like stays as it came.
            self.due.sort_by(in_turn);
            for timer in self.due.drain(..) {
                self.sink.fire(timer);
            }
            self.sink.flush();
        }
        self.sink.caught_up();
    }

    fn clock_jumped(&mut self, jump: ClockJump) {
        self.sink.clock_jumped(jump);
    }
}

fn in_turn(one: &DueTimer<Fire>, other: &DueTimer<Fire>) -> Ordering {
    let by_due = one.due.cmp(&other.due);
    by_due.then_with(|| one.value.turn().cmp(&other.value.turn()))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use crate::{InlineExecutor, ManualClock, Misfire, Scheduler};

    const SECOND: Duration = Duration::from_secs(1);

    /// Which runs there are of some tasks that are due together, after `before`.
    fn log(tasks: u64, before: impl FnOnce(&Scheduler)) -> Vec<(String, u64)> {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone());
        let scheduler = scheduler.executor(InlineExecutor).build().unwrap();
        before(&scheduler);
        clock.advance(Duration::ZERO);
        let log = Arc::new(Mutex::new(Vec::new()));
        for n in 0..tasks {
            let log = Arc::clone(&log);
            // What is missed waits in the backlog, and goes by way of the engine.
            let task = scheduler.task(format!("{n}")).every(SECOND * 60);
            let task = task.start_now().misfire(Misfire::FireAll { max: 3 });
            let handler = move |run: &crate::Context| {
                log.lock().unwrap().push((run.id().to_owned(), run.run()));
            };
            task.run(handler).unwrap();
        }
        clock.run_for(SECOND);
        clock.advance(SECOND * 240);
        drop(scheduler);
        log.lock().unwrap().clone()
    }

    fn churn(scheduler: &Scheduler) {
        let noise: Vec<_> = (0..300)
            .map(|n| scheduler.after(SECOND * (n % 7), |_| ()).unwrap())
            .collect();
        for task in noise.iter().step_by(3) {
            let _ = task.cancel();
        }
    }

    #[test]
    fn one_instant_is_in_order_whatever_the_engine_went_through() {
        let quiet = log(40, |_| ());
        assert_eq!(quiet, log(40, churn));
        let wanted = (1..5).flat_map(|run| (0..40).map(move |n| (n.to_string(), run)));
        assert_eq!(quiet, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn one_instant_is_in_order_also_if_it_takes_several_passes() {
        let tasks = 5_000;
        let wanted = (1..5).flat_map(|run| (0..tasks).map(move |n| (n.to_string(), run)));
        assert_eq!(log(tasks, churn), wanted.collect::<Vec<_>>());
    }
}
