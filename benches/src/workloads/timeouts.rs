//! Futures with a time limit, which hardly ever passes: around one that is ready at once, around one
//! that is pending once, and sleeps that are all pending at the same time.
//!
//! One thread polls by hand with a waker that does nothing, so that no runtime is in the figures but
//! what a timer wants of it: tokio's are polled on a thread that has entered its runtime.

use std::future::{Future, poll_fn, ready};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{sleep, timeout};
use wheel_runtime::Timers;

use super::Effort;
use super::pair_fifo::by_one_thread;
use crate::contestants::multi_thread;
use crate::measure::{Sample, Stopwatch, figure};

const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(engine: &str, sleeps: u64, effort: Effort) -> Result<Sample, String> {
    let polls = effort.pick(500_000, 5_000_000);
    match engine {
        "wheel" => {
            let timers = Timers::builder().build();
            let timers = timers.map_err(|error| error.to_string())?;
            let at_once = ready_at_once(polls, || timers.timeout(LIMIT, ready(7)));
            let once = pending_once(polls, || timers.timeout(LIMIT, second_poll()));
            let slept = all_at_once(sleeps, |delay| timers.sleep(delay));
            if !timers.is_empty() {
                return Err(format!("{} timers are left", timers.len()));
            }
            Ok(sample(at_once, once, slept))
        }
        "tokio" => {
            let runtime = multi_thread();
            let _entered = runtime.enter();
            let at_once = ready_at_once(polls, || timeout(LIMIT, ready(7)));
            let once = pending_once(polls, || timeout(LIMIT, second_poll()));
            Ok(sample(at_once, once, all_at_once(sleeps, sleep)))
        }
        _ => Err("has no futures with a limit".to_owned()),
    }
}

fn sample(at_once: Sample, once: f64, slept: (f64, f64)) -> Sample {
    at_once
        .with(figure::PENDING_ONCE_NS, once)
        .with("sleep_set_ns", slept.0)
        .with("sleep_drop_ns", slept.1)
}

/// A timeout each, made, polled and dropped.
fn ready_at_once<F: Future>(polls: u64, timeout: impl Fn() -> F) -> Sample {
    let mut cx = Context::from_waker(Waker::noop());
    let mut measured = |polls| {
        let watch = Stopwatch::start();
        for _ in 0..polls {
            let polled = pin!(black_box(timeout())).poll(&mut cx);
            assert!(black_box(polled).is_ready());
        }
        watch.read()
    };
    measured(polls / 4);
    by_one_thread(measured(polls), polls)
}

/// The same with two polls.
fn pending_once<F: Future>(polls: u64, timeout: impl Fn() -> F) -> f64 {
    let mut cx = Context::from_waker(Waker::noop());
    let mut measured = |polls| {
        let watch = Stopwatch::start();
        for _ in 0..polls {
            let mut timeout = pin!(timeout());
            assert!(timeout.as_mut().poll(&mut cx).is_pending());
            assert!(black_box(timeout.poll(&mut cx)).is_ready());
        }
        watch.read()
    };
    measured(polls / 4);
    measured(polls).own.as_nanos() as f64 / polls as f64
}

/// Sleeps of 30 s to a minute, each polled once, and then all dropped; what either takes for one.
fn all_at_once<F: Future>(sleeps: u64, sleep: impl Fn(Duration) -> F) -> (f64, f64) {
    let mut cx = Context::from_waker(Waker::noop());
    let delay = |index: u64| LIMIT + Duration::from_millis(index * 7919 % 30_000);
    let mut open = Vec::with_capacity(sleeps as usize);
    let watch = Stopwatch::start();
    for index in 0..sleeps {
        let mut sleep = Box::pin(sleep(delay(index)));
        assert!(sleep.as_mut().poll(&mut cx).is_pending());
        open.push(sleep);
    }
    let set = watch.read();
    let watch = Stopwatch::start();
    drop(open);
    let dropped = watch.read();
    let each = |took: Duration| took.as_nanos() as f64 / sleeps as f64;
    (each(set.own), each(dropped.own))
}

/// Ready at the second poll.
fn second_poll() -> impl Future<Output = u32> {
    let mut polls = 0;
    poll_fn(move |_| {
        polls += 1;
        if polls == 2 {
            Poll::Ready(polls)
        } else {
            Poll::Pending
        }
    })
}
