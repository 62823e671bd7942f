//! The pool, the timers and the scheduler, each with threads that use it and one that ends it.

use wheel_shuttle_tests::explore::explore;
use wheel_shuttle_tests::runtime::{Shutdown, play_pool, play_scheduler, play_timers};

#[test]
fn a_pool_runs_each_job_once() {
    explore("a_pool_runs_each_job_once", |random| {
        play_pool(Shutdown::Quiet, random);
    });
}

#[test]
fn a_pool_that_is_shut_down_runs_what_it_has_taken() {
    explore(
        "a_pool_that_is_shut_down_runs_what_it_has_taken",
        |random| {
            play_pool(Shutdown::Midway, random);
        },
    );
}

#[test]
fn callbacks_run_once_and_never_early() {
    explore("callbacks_run_once_and_never_early", |random| {
        play_timers(Shutdown::Quiet, random);
    });
}

#[test]
fn timers_that_are_shut_down_drop_each_callback_that_has_not_run() {
    explore(
        "timers_that_are_shut_down_drop_each_callback_that_has_not_run",
        |random| play_timers(Shutdown::Midway, random),
    );
}

#[test]
fn tasks_run_as_often_as_their_states_say() {
    explore("tasks_run_as_often_as_their_states_say", |random| {
        play_scheduler(Shutdown::Quiet, random);
    });
}

#[test]
fn a_scheduler_that_is_shut_down_ends_every_task() {
    explore("a_scheduler_that_is_shut_down_ends_every_task", |random| {
        play_scheduler(Shutdown::Midway, random);
    });
}
