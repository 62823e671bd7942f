//! Tasks whose handlers are futures, under tokio and smol.

use std::future::pending;
use std::sync::mpsc::channel;

use wheel_runtime::{Context, Retry, RunFuture, Scheduler, TaskState, Timers};

use crate::bed::{Bed, HANG, ms};

/// Each task fails once, sleeps, and ends; some take too long.
fn on_a_runtime(spawner: impl Fn(RunFuture) + Clone + Send + Sync + 'static) {
    let scheduler = Scheduler::builder().workers(2).build().unwrap();
    let timers = Timers::builder().build().unwrap();
    let add = |index: u32| {
        let timers = timers.clone();
        let handler = move |run: Context| {
            let timers = timers.clone();
            async move {
                if index.is_multiple_of(10) {
                    pending::<()>().await;
                }
                timers.sleep(ms(1)).await.unwrap();
                match run.attempt() {
                    1 => Err("once more"),
                    _ => Ok(()),
                }
            }
        };
        let task = scheduler
            .unnamed()
            .after(ms(1))
            .retry(Retry::fixed(ms(1)).max_attempts(2));
        // Far from what the others take, also on a machine that is busy.
        let task = if index.is_multiple_of(10) {
            task.timeout(ms(30))
        } else {
            task
        };
        task.run_async(handler, spawner.clone()).unwrap()
    };
    let tasks: Vec<_> = (0..200).map(add).collect();
    for (index, task) in tasks.iter().enumerate() {
        let state = if index.is_multiple_of(10) {
            TaskState::Dead
        } else {
            TaskState::Succeeded
        };
        assert_eq!(task.wait_timeout(HANG), Some(state), "{index}");
    }
    scheduler.shutdown(HANG).unwrap();
    assert!(timers.is_empty());
}

#[test]
fn runs_go_under_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let handle = runtime.handle().clone();
    on_a_runtime(move |run| drop(handle.spawn(run)));
}

#[test]
fn runs_go_under_smol() {
    on_a_runtime(|run| smol::spawn(run).detach());
}

#[test]
fn a_runtime_that_ends_fails_the_runs_that_it_had() {
    let bed = Bed::workers(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let handle = runtime.handle().clone();
    let (sent, started) = channel();
    let handler = move |_| {
        sent.send(()).unwrap();
        pending::<()>()
    };
    let task = bed.scheduler.task("x").after(ms(1));
    let task = task
        .run_async(handler, move |run| drop(handle.spawn(run)))
        .unwrap();
    bed.clock.advance(ms(1));
    started.recv_timeout(HANG).unwrap();
    drop(runtime);
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
    let error = task.info().last_error.unwrap();
    assert!(
        error.starts_with("the runtime dropped the run before it "),
        "{error}"
    );
    bed.settle();
}
