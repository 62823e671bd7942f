//! tokio-util's `DelayQueue`: one owner, one `Sleep` for its earliest.

use std::any::Any;
use std::future::poll_fn;
use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{EnterGuard, Runtime};
use tokio::task::unconstrained;
use tokio::time::Instant;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

use super::NO_WORKERS;
use super::tokio::{entered, multi_thread, paused};
use crate::{Contestant, NoHand, Recorder, Shared, Tick, Time, Value, Workload};

/// A queue on a current-thread runtime whose clock is moved by hand.
pub struct TokioDelayQueue {
    queue: DelayQueue<Value>,
    runtime: &'static Runtime,
    _entered: EnterGuard<'static>,
    started: Instant,
    now: u64,
}

/// The next that has fired; `None` when the queue is empty.
fn poll<T>(queue: &mut DelayQueue<T>, context: &mut Context<'_>) -> Poll<Option<T>> {
    // tidy: allow glossary, the method is tokio-util's.
    let fired = queue.poll_expired(context);
    fired.map(|fired| Some(fired?.into_inner()))
}

impl Contestant for TokioDelayQueue {
    type Key = Key;
    type Hand = NoHand<Key>;

    const NAME: &'static str = "delay_queue";
    const SETUP: &'static str = "tokio-util 0.7 DelayQueue on a current-thread runtime with a \
                                 paused clock (about 300 ns of each advance), polled without \
                                 tokio's budget; for lateness in a task on the multi-thread one";

    fn left_out(workload: Workload) -> Option<&'static str> {
        if workload.is_threaded() {
            return Some("has one owner (&mut self); what would be measured is the channel to it");
        }
        workload.needs_workers().then_some(NO_WORKERS)
    }

    fn new(_: Time) -> Self {
        let (runtime, entered) = entered(paused());
        TokioDelayQueue {
            queue: DelayQueue::new(),
            runtime,
            _entered: entered,
            started: Instant::now(),
            now: 0,
        }
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> Key {
        let due = self.started + Duration::from_millis(due.get());
        self.queue.insert_at(value, due)
    }

    #[inline(always)]
    fn cancel(&mut self, key: Key) -> bool {
        black_box(self.queue.try_remove(&key)).is_some()
    }

    /// Without tokio's budget for a task, which ends a poll after 128 and would leave the rest for
    /// the next tick.
    fn advance(&mut self, now: Tick) -> usize {
        let ticks = now
            .get()
            .saturating_sub(std::mem::replace(&mut self.now, now.get()));
        let queue = &mut self.queue;
        self.runtime.block_on(unconstrained(async {
            if ticks > 0 {
                tokio::time::advance(Duration::from_millis(ticks)).await;
            }
            poll_fn(|context| {
                let mut fired = 0;
                while let Poll::Ready(Some(value)) = poll(queue, context) {
                    black_box(value);
                    fired += 1;
                }
                Poll::Ready(fired)
            })
            .await
        }))
    }

    fn share(_: usize) -> Shared<Self> {
        unreachable!("left out")
    }

    fn fire_at(recorder: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        let (runtime, guard) = entered(multi_thread());
        let mut queue = DelayQueue::new();
        for (index, &at) in recorder.asked().iter().enumerate() {
            queue.insert_at(index, Instant::from_std(at));
        }
        let told = Arc::clone(recorder);
        runtime.spawn(async move {
            while let Some(index) = poll_fn(|context| poll(&mut queue, context)).await {
                told.fired(index);
            }
        });
        Box::new(guard)
    }
}
