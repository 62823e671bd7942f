//! Tasks through the scheduler: no-op ones end to end, and a million inserted.
//!
//! End to end: each has an id of its own, is due at once, is run by a worker, and is looked up in
//! no way but by the scheduler's own stats. The submitter stops while 10 thousand are not done, as
//! one would that does not want a backlog; so the start delay is a delay of the scheduler, not of a
//! queue that grows. Inserted: tasks with ids due in an hour.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use wheel_runtime::Scheduler;

use super::pair_fifo::per_op;
use crate::measure::{Sample, cpu_time, resident_bytes};

const OUTSTANDING: u64 = 10_000;
const LIMIT: Duration = Duration::from_secs(120);

pub(super) fn run(tasks: u64) -> Result<Sample, String> {
    let (took, inserted_bytes) = inserted(tasks)?;
    let sample = end_to_end(tasks)?;
    let sample = sample
        .with("insert_s", took.as_secs_f64())
        .with("insert_ns_per_op", took.as_nanos() as f64 / tasks as f64);
    Ok(match inserted_bytes {
        Some(bytes) => sample
            .with("insert_bytes_per_task", bytes / tasks as f64)
            .with("insert_mb", bytes / 1e6),
        None => sample,
    })
}

fn end_to_end(tasks: u64) -> Result<Sample, String> {
    let scheduler = Scheduler::builder().build().map_err(|e| e.to_string())?;
    let done = Arc::new(AtomicU64::new(0));
    let (started, cpu) = (Instant::now(), cpu_time());
    for task in 0..tasks {
        let count = Arc::clone(&done);
        let added = scheduler
            .task(format!("t{task}"))
            .after(Duration::ZERO)
            .run(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        added.map_err(|error| error.to_string())?;
        while task - done.load(Ordering::Relaxed).min(task) > OUTSTANDING {
            thread::yield_now();
        }
    }
    if !scheduler.wait_empty_timeout(LIMIT) {
        return Err("some tasks were not run".to_owned());
    }
    let took = started.elapsed();
    let stats = scheduler.stats();
    if stats.succeeded != tasks {
        return Err(format!("{} of {tasks} tasks succeeded", stats.succeeded));
    }
    let sample = per_op(took, tasks)
        .with("per_s", tasks as f64 / took.as_secs_f64())
        .with("start_ms.p50", stats.lateness.p50.as_secs_f64() * 1e3)
        .with("start_ms.p99", stats.lateness.p99.as_secs_f64() * 1e3)
        .with("start_ms.max", stats.lateness.max.as_secs_f64() * 1e3);
    std::mem::forget(scheduler);
    Ok(match cpu.and_then(|before| Some(cpu_time()? - before)) {
        Some(cpu) => sample.with("cpu_ns_per_op", cpu.as_nanos() as f64 / tasks as f64),
        None => sample,
    })
}

fn inserted(tasks: u64) -> Result<(Duration, Option<f64>), String> {
    let scheduler = Scheduler::builder().build().map_err(|e| e.to_string())?;
    let before = resident_bytes();
    let started = Instant::now();
    for task in 0..tasks {
        let added = scheduler
            .task(format!("task-{task}"))
            .after(Duration::from_secs(3600))
            .run(|_| ());
        added.map_err(|error| error.to_string())?;
    }
    let took = started.elapsed();
    let held = before.and_then(|before| Some(resident_bytes()?.saturating_sub(before) as f64));
    std::mem::forget(scheduler);
    Ok((took, held))
}
