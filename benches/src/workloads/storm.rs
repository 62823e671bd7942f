//! A million timers due in one tick, run by a pool of workers.
//!
//! Against what the pool alone takes for as many empty jobs, and with a look at the driver: a
//! timer that is due 10 ms after the storm must be handed over on time, whatever is queued.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use wheel_runtime::{Executor, Job, Pool, Timers};

use super::pair_fifo::per_op;
use crate::measure::Sample;

const LEAD: Duration = Duration::from_secs(2);
const NEXT_TICK: Duration = Duration::from_millis(10);
const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn run(engine: &str, timers: u64) -> Result<Sample, String> {
    match engine {
        "wheel" => wheel(timers),
        #[cfg(feature = "rivals")]
        "tokio" => tokio(timers),
        _ => Err("has no workers".to_owned()),
    }
}

fn wheel(timers: u64) -> Result<Sample, String> {
    let error = |error: wheel_runtime::BuildError| error.to_string();
    let pool = Arc::new(Pool::builder().build().map_err(error)?);
    let alone = pool_alone(&pool, timers)?;

    let handed = Arc::new(Watched {
        pool: Arc::clone(&pool),
        latest: Mutex::new(None),
    });
    let wheel = Timers::builder()
        .executor(Arc::clone(&handed))
        .build()
        .map_err(error)?;
    let done = Arc::new(AtomicU64::new(0));
    let due = Instant::now() + LEAD;
    let until = |at: Instant| at.saturating_duration_since(Instant::now());
    for _ in 0..timers {
        let count = counting(&done);
        wheel.after(until(due), count).map_err(|e| e.to_string())?;
    }
    let last = due + NEXT_TICK;
    let count = counting(&done);
    wheel.after(until(last), count).map_err(|e| e.to_string())?;
    if Instant::now() > due {
        return Err("setting them took longer than the lead".to_owned());
    }
    let took = wait_for(&done, timers + 1, due)?;
    let latest = *handed.latest.lock().unwrap_or_else(PoisonError::into_inner);
    let late = latest.map_or(Duration::ZERO, |at| at.saturating_duration_since(last));
    Ok(sample(took, alone, timers).with("next_tick_late_us", late.as_secs_f64() * 1e6))
}

fn sample(took: Duration, alone: Duration, timers: u64) -> Sample {
    per_op(took, timers)
        .with("pool_ns_per_op", alone.as_nanos() as f64 / timers as f64)
        .with("over_pool", took.as_secs_f64() / alone.as_secs_f64())
}

/// What the pool takes for empty jobs, handed over in one batch as the driver would.
fn pool_alone(pool: &Pool, jobs: u64) -> Result<Duration, String> {
    let done = Arc::new(AtomicU64::new(0));
    let mut batch: Vec<Job> = (0..jobs).map(|_| Job::new(counting(&done))).collect();
    let started = Instant::now();
    pool.execute(&mut batch);
    wait_for(&done, jobs, started)
}

fn counting(done: &Arc<AtomicU64>) -> impl FnOnce() + Send + 'static {
    let done = Arc::clone(done);
    move || {
        done.fetch_add(1, Ordering::Release);
    }
}

/// The time from `since` until all are done.
fn wait_for(done: &AtomicU64, all: u64, since: Instant) -> Result<Duration, String> {
    while done.load(Ordering::Acquire) < all {
        if since.elapsed() > LIMIT {
            return Err(format!(
                "{} of {all} were run",
                done.load(Ordering::Relaxed)
            ));
        }
        thread::sleep(Duration::from_micros(200));
    }
    Ok(Instant::now().saturating_duration_since(since))
}

/// The pool, and when it was handed something last.
struct Watched {
    pool: Arc<Pool>,
    latest: Mutex<Option<Instant>>,
}

impl Executor for Watched {
    fn execute(&self, jobs: &mut Vec<Job>) {
        let now = Instant::now();
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        self.pool.execute(jobs);
    }

    fn queued(&self) -> usize {
        self.pool.queued()
    }
}

/// A task per timer, as it is used there; against as many empty tasks.
#[cfg(feature = "rivals")]
fn tokio(timers: u64) -> Result<Sample, String> {
    use tokio::runtime::Builder;
    use tokio::time::sleep_until;
    let runtime = Builder::new_multi_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;

    let done = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    for _ in 0..timers {
        let count = counting(&done);
        runtime.spawn(async move { count() });
    }
    let alone = wait_for(&done, timers, started)?;

    let done = Arc::new(AtomicU64::new(0));
    let due = Instant::now() + LEAD;
    for _ in 0..timers {
        let count = counting(&done);
        runtime.spawn(async move {
            sleep_until(due.into()).await;
            count();
        });
    }
    let took = wait_for(&done, timers, due)?;
    std::mem::forget(runtime);
    Ok(sample(took, alone, timers))
}
