//! What comes while a task is being added, from its id to its first occurrence.

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::thread;

use super::Scheduler;
use crate::policy::{Draws, OnConflict};
use crate::schedule::Schedule;
use crate::task::{Context, Handler, IntoOutcome, Settings, Task};
use crate::{ManualClock, TriggerOutcome};

/// Adds a task that is due after a second and has `change` called on another thread as soon as
/// its id is taken.
fn changed_while_added(change: impl FnOnce(&Scheduler) + Send) -> (Scheduler, Arc<Task>) {
    let builder = Scheduler::builder().clock(ManualClock::new());
    let scheduler = builder.workers(1).build().unwrap();
    let core = &scheduler.core;
    let schedule = Schedule::after(Duration::from_secs(1));
    let clock = core.engine.clock();
    let (plan, first) = schedule
        .plan(clock.now(), clock.wall(), Draws::default())
        .unwrap();
    let handler: Handler = Arc::new(|_: &Context| ().into_outcome());
    let id = core.registry.id(core.serial(), Some("x")).unwrap();
    let settings = Settings::default();
    let task = Task::new(Arc::clone(core), id, settings, plan, handler.into());
    thread::scope(|scope| {
        let added = task.begin(first, || {
            let added = core.registry.add(&task, OnConflict::Refuse);
            let changes = scope.spawn(|| change(&scheduler));
            // It finds the task, and may do nothing to it before it is armed.
            for _ in 0..1_000 {
                thread::yield_now();
            }
            assert!(!changes.is_finished());
            added
        });
        assert!(added.is_ok_and(|(_, armed)| armed.is_ok()));
    });
    (scheduler, task)
}

#[test]
fn a_single_run_that_is_triggered_while_its_task_is_added_is_the_only_one() {
    let (scheduler, task) = changed_while_added(|scheduler| {
        assert_eq!(scheduler.trigger("x"), TriggerOutcome::Triggered);
    });
    scheduler.wait_idle();
    assert_eq!((task.info().runs, task.info().next_in), (1, None));
    assert!(task.info().state.has_ended());
}

#[test]
fn a_schedule_that_comes_while_its_task_is_added_is_the_one_that_holds() {
    let later = Duration::from_secs(7);
    let (_scheduler, task) = changed_while_added(|scheduler| {
        scheduler.reschedule("x", Schedule::after(later)).unwrap();
    });
    assert_eq!(task.info().next_in, Some(later));
}
