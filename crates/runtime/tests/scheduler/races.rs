//! Meetings of threads that only many rounds bring about.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use wheel_runtime::{Context, Scheduler, ShutdownReport};

use crate::bed::{HANG, ms};

#[test]
fn a_shutdown_names_the_runs_that_were_triggered_and_did_not_start() {
    const TASKS: usize = 40;
    for round in 0..300 {
        let scheduler = Scheduler::builder().workers(1).build().unwrap();
        let ran = Arc::new(AtomicUsize::new(0));
        for n in 0..TASKS {
            let ran = ran.clone();
            let task = scheduler.task(format!("t{n}")).after(ms(1 << 30));
            let run = move |_: &Context| {
                ran.fetch_add(1, Ordering::SeqCst);
            };
            task.run(run).unwrap();
        }
        let triggered = scheduler.clone();
        let other = thread::spawn(move || {
            for n in 0..TASKS {
                let _ = triggered.trigger(&format!("t{n}"));
            }
        });
        for _ in 0..round % 20 {
            thread::yield_now();
        }
        let ShutdownReport {
            pending, queued, ..
        } = scheduler.shutdown(HANG).unwrap();
        other.join().unwrap();
        let known = pending.len() + queued.len() + ran.load(Ordering::SeqCst);
        assert_eq!(known, TASKS, "round {round}");
    }
}
