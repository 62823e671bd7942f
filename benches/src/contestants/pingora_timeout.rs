//! pingora-timeout's `fast_timeout`: a tree per thread, timers of one 10 ms shared.
//!
//! It has the real clock only. A cancelled timer stays in the tree until it is due; above 15
//! minutes `fast_timeout` hands over to tokio's timer, so the thread has entered a runtime.

use std::any::Any;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use ::pingora_timeout::fast_timeout::{fast_sleep, fast_timeout};
use ::tokio::runtime::{EnterGuard, Runtime};

use super::NO_WORKERS;
use super::futures::{register, telling};
use super::tokio::{entered, multi_thread};
use crate::{Contestant, Hand, Moment, Recorder, Shared, Tick, Time, Value, Workload};

/// A thread that has entered the runtime that long timeouts need.
pub struct PingoraTimeout {
    _entered: EnterGuard<'static>,
    now: u64,
}

/// A timeout of something that never comes.
type Timeout = Pin<Box<dyn Future<Output = ()> + Send>>;

#[inline]
fn start(delay: Duration) -> Timeout {
    let mut timeout: Timeout = Box::pin(async move {
        fast_timeout(delay, pending::<()>()).await.unwrap_or(());
    });
    register(timeout.as_mut(), Waker::noop());
    timeout
}

impl Contestant for PingoraTimeout {
    type Key = Timeout;
    type Hand = PingoraHand;

    const NAME: &'static str = "pingora_timeout";
    const SETUP: &'static str = "pingora-timeout 0.9 fast_timeout in a Box, polled once, in a \
                                 multi-thread tokio runtime that takes those above 15 minutes; \
                                 rounds to 10 ms, reads the clock at each call, its thread wakes \
                                 every 10 ms; a cancel frees nothing";

    fn left_out(workload: Workload) -> Option<&'static str> {
        if workload.needs_clock_by_hand() {
            return Some("has only the real clock, and an hour cannot be waited for");
        }
        workload.needs_workers().then_some(NO_WORKERS)
    }

    fn new(_: Time) -> Self {
        let (_, entered) = entered(multi_thread());
        PingoraTimeout {
            _entered: entered,
            now: 0,
        }
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, _: Value) -> Timeout {
        start(Duration::from_millis(due.get() - self.now))
    }

    #[inline(always)]
    fn cancel(&mut self, timeout: Timeout) -> bool {
        drop(timeout);
        true
    }

    fn advance(&mut self, now: Tick) -> usize {
        self.now = now.get();
        0
    }

    fn share(threads: usize) -> Shared<Self> {
        let runtime = Arc::new(multi_thread());
        Shared {
            hands: vec![PingoraHand(runtime); threads],
            drivers: Vec::new(),
            settle: None,
        }
    }

    fn fire_at(recorder: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        let sleeps = (0..recorder.asked().len()).map(|index| {
            let mut sleep = Box::pin(fast_sleep(recorder.delay(index)));
            register(sleep.as_mut(), &telling(recorder, index));
            sleep
        });
        let sleeps: Vec<_> = sleeps.collect();
        Box::new(sleeps)
    }
}

/// A thread that has entered the runtime.
#[derive(Clone)]
pub struct PingoraHand(Arc<Runtime>);

impl Hand for PingoraHand {
    type Key = Timeout;

    fn on_thread(&mut self, work: &mut dyn FnMut(&mut Self)) {
        let runtime = Arc::clone(&self.0);
        let _entered = runtime.enter();
        work(self);
    }

    #[inline(always)]
    fn insert(&mut self, _: Moment, delay_ms: u64, _: Value) -> Timeout {
        start(Duration::from_millis(delay_ms))
    }

    #[inline(always)]
    fn cancel(&mut self, timeout: Timeout) {
        drop(timeout);
    }
}
