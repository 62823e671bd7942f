//! tokio's time driver: `Sleep` futures, registered by polling.
//!
//! Where time is real it is the multi-thread runtime, whose workers park on the driver; the bench
//! thread stands outside of them, as a thread that has entered the runtime. Only the
//! current-thread runtime has a clock that can be moved, so that one goes through the hour.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use tokio::runtime::{Builder, EnterGuard, Runtime};
use tokio::time::{Instant, Sleep, sleep_until};

use super::futures::{Count, register, telling};
use crate::{Contestant, Hand, Moment, Recorder, Shared, Tick, Time, Value, Workload};

/// A runtime that this thread has entered.
pub struct Tokio {
    runtime: &'static Runtime,
    _entered: EnterGuard<'static>,
    started: Instant,
    now: u64,
    count: Arc<Count>,
    waker: Waker,
}

pub(crate) fn multi_thread() -> Runtime {
    let built = Builder::new_multi_thread().enable_time().build();
    built.expect("threads for the workers")
}

pub(super) fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let built = builder.enable_time().start_paused(true).build();
    built.expect("a runtime on this thread")
}

/// A runtime that is never dropped, as the process ends with the cell, and entered by this thread.
pub(super) fn entered(runtime: Runtime) -> (&'static Runtime, EnterGuard<'static>) {
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    (runtime, runtime.enter())
}

impl Contestant for Tokio {
    type Key = Pin<Box<Sleep>>;
    type Hand = TokioHand;

    const NAME: &'static str = "tokio";
    const SETUP: &'static str = "tokio 1.54, Box::pin(sleep_until), polled once; multi-thread \
                                 runtime with its default workers, but fire_all, tick_max and \
                                 sparse on the current-thread one with a paused clock, where each \
                                 advance holds about 300 ns of the runtime";

    fn left_out(workload: Workload) -> Option<&'static str> {
        match workload {
            Workload::Storm => None,
            Workload::Tasks => Some("has no ids, states or stats of tasks"),
            Workload::SlowTasks => Some("blocking tasks belong on other threads there"),
            _ => None,
        }
    }

    fn new(time: Time) -> Self {
        let (runtime, entered) = entered(match time {
            Time::ByHand => paused(),
            Time::Usual => multi_thread(),
        });
        let count = Arc::<Count>::default();
        let waker = match time {
            Time::ByHand => Waker::from(Arc::clone(&count)),
            Time::Usual => Waker::noop().clone(),
        };
        Tokio {
            runtime,
            _entered: entered,
            started: Instant::now(),
            now: 0,
            count,
            waker,
        }
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, _: Value) -> Pin<Box<Sleep>> {
        let due = self.started + Duration::from_millis(due.get());
        let mut sleep = Box::pin(sleep_until(due));
        register(sleep.as_mut(), &self.waker);
        sleep
    }

    #[inline(always)]
    fn cancel(&mut self, sleep: Pin<Box<Sleep>>) -> bool {
        !sleep.is_elapsed()
    }

    fn advance(&mut self, now: Tick) -> usize {
        let ticks = now
            .get()
            .saturating_sub(std::mem::replace(&mut self.now, now.get()));
        if matches!(
            self.runtime.handle().runtime_flavor(),
            tokio::runtime::RuntimeFlavor::CurrentThread
        ) && ticks > 0
        {
            let step = Duration::from_millis(ticks);
            self.runtime.block_on(tokio::time::advance(step));
        }
        self.count.take()
    }

    fn share(threads: usize) -> Shared<Self> {
        let runtime = Arc::new(multi_thread());
        Shared {
            hands: vec![TokioHand(runtime); threads],
            drivers: Vec::new(),
            settle: None,
        }
    }

    fn fire_at(recorder: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        let (_, guard) = entered(multi_thread());
        let asked = recorder.asked().iter().enumerate();
        let sleeps = asked.map(|(index, &at)| {
            let mut sleep = Box::pin(sleep_until(Instant::from_std(at)));
            register(sleep.as_mut(), &telling(recorder, index));
            sleep
        });
        let sleeps: Vec<_> = sleeps.collect();
        Box::new((sleeps, guard))
    }
}

/// A thread that has entered the runtime.
#[derive(Clone)]
pub struct TokioHand(Arc<Runtime>);

impl Hand for TokioHand {
    type Key = Pin<Box<Sleep>>;

    fn on_thread(&mut self, work: &mut dyn FnMut(&mut Self)) {
        let runtime = Arc::clone(&self.0);
        let _entered = runtime.enter();
        work(self);
    }

    #[inline(always)]
    fn insert(&mut self, now: Moment, delay_ms: u64, _: Value) -> Pin<Box<Sleep>> {
        let due = Instant::from_std(now.instant) + Duration::from_millis(delay_ms);
        let mut sleep = Box::pin(sleep_until(due));
        register(sleep.as_mut(), Waker::noop());
        sleep
    }

    #[inline(always)]
    fn cancel(&mut self, sleep: Pin<Box<Sleep>>) {
        drop(sleep);
    }
}
