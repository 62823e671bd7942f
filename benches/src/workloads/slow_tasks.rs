//! Tasks that take their time: 500 at once, 80 ms each, on 16 workers.
//!
//! The best that 16 workers can do is known: wave upon wave of 16. The rate and the 99th percentile
//! of the time from due to done are given beside it, and how many threads there were at most.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wheel_runtime::Scheduler;

use crate::measure::{Sample, figure, threads_now};

const TASKS: usize = 500;
const WORKERS: usize = 16;
const EACH: Duration = Duration::from_millis(80);
const LIMIT: Duration = Duration::from_secs(60);

/// The 99th percentile of a sorted list.
fn p99(sorted: &[f64]) -> f64 {
    sorted[(sorted.len() * 99).div_ceil(100) - 1]
}

/// When each is done at best, in milliseconds from due.
fn at_best() -> Vec<f64> {
    let each = EACH.as_secs_f64() * 1e3;
    (0..TASKS)
        .map(|task| ((task / WORKERS) + 1) as f64 * each)
        .collect()
}

pub(super) fn run() -> Result<Sample, String> {
    let before = threads_now();
    let scheduler = Scheduler::builder()
        .workers(WORKERS)
        .build()
        .map_err(|error| error.to_string())?;
    let done = Arc::new(Mutex::new(Vec::with_capacity(TASKS)));
    let started = Instant::now();
    for task in 0..TASKS {
        let done = Arc::clone(&done);
        let added = scheduler
            .task(format!("slow-{task}"))
            .after(Duration::ZERO)
            .run(move |_| {
                thread::sleep(EACH);
                let took = started.elapsed().as_secs_f64() * 1e3;
                done.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(took);
            });
        added.map_err(|error| error.to_string())?;
    }
    let mut threads = 0;
    while !scheduler.wait_empty_timeout(Duration::from_millis(50)) {
        threads = threads.max(threads_now().unwrap_or(0));
        if started.elapsed() > LIMIT {
            return Err("some tasks were not run".to_owned());
        }
    }
    let took = started.elapsed();
    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner).clone();
    done.sort_by(f64::total_cmp);
    let best = at_best();
    let rate = TASKS as f64 / took.as_secs_f64();
    let best_rate = TASKS as f64 / best.last().copied().unwrap_or(1.0) * 1e3;
    let sample = Sample::new()
        .with(figure::NS_PER_OP, took.as_nanos() as f64 / TASKS as f64)
        .with("per_s", rate)
        .with("rate_of_best", rate / best_rate)
        .with("done_ms.p99", p99(&done))
        .with("p99_of_best", p99(&done) / p99(&best));
    Ok(match before {
        Some(before) => sample.with("threads_used", threads.saturating_sub(before) as f64),
        None => sample,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_that_can_be_is_wave_upon_wave() {
        let best = at_best();
        assert_eq!((best[0], best[15], best[16]), (80.0, 80.0, 160.0));
        assert_eq!(best[499], 32.0 * 80.0);
        assert_eq!(p99(&best), 31.0 * 80.0, "of 500, the 495th");
    }
}
