//! hierarchical_hash_wheel_timer: its cancellable wheel for one thread, its timer thread for many.
//!
//! The timer thread takes orders through an unbounded channel, so a call that has returned is not
//! done. What is measured on several threads ends when the thread has carried out every order.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use hierarchical_hash_wheel_timer::thread_timer::{TimerRef, TimerWithThread};
use hierarchical_hash_wheel_timer::wheels::Skip;
use hierarchical_hash_wheel_timer::wheels::cancellable::{
    CancellableTimerEntry, QuadWheelWithOverflow,
};
use hierarchical_hash_wheel_timer::{OneShotClosureState, PeriodicClosureState, Timer};

use super::NO_WORKERS;
use crate::{Contestant, Hand, Moment, Recorder, Shared, Tick, Time, Value, Workload};

/// The wheel of one thread, with what its own timer thread does to advance it.
pub struct HashWheelTimer {
    wheel: QuadWheelWithOverflow<Entry>,
    now: u64,
    last: u64,
}

/// A timer as the wheel wants it.
#[derive(Debug)]
struct Entry {
    id: u64,
    value: Value,
}

impl CancellableTimerEntry for Entry {
    type Id = u64;

    fn id(&self) -> &u64 {
        &self.id
    }
}

type Threaded = TimerWithThread<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>;

impl Contestant for HashWheelTimer {
    type Key = u64;
    type Hand = Orders;

    const NAME: &'static str = "hash_wheel_timer";
    const SETUP: &'static str = "hierarchical_hash_wheel_timer 1.4, fx-hash: the cancellable \
                                 QuadWheelWithOverflow without a lock for one thread, \
                                 TimerWithThread for several (until its channel is drained)";

    fn left_out(workload: Workload) -> Option<&'static str> {
        workload.needs_workers().then_some(NO_WORKERS)
    }

    fn new(_: Time) -> Self {
        HashWheelTimer {
            wheel: QuadWheelWithOverflow::new(),
            now: 0,
            last: 0,
        }
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let delay = Duration::from_millis(due.get() - self.now);
        let entry = Rc::new(Entry { id, value });
        let inserted = self.wheel.insert_ref_with_delay(entry, delay);
        inserted.expect("the bench sets nothing that is due");
        id
    }

    #[inline(always)]
    fn cancel(&mut self, id: u64) -> bool {
        self.wheel.cancel(&id).is_ok()
    }

    fn advance(&mut self, now: Tick) -> usize {
        let mut fired = 0;
        while self.now < now.get() {
            let left = u32::try_from(now.get() - self.now).unwrap_or(u32::MAX);
            match self.wheel.can_skip() {
                Skip::Empty => self.now = now.get(),
                Skip::Millis(ticks) => {
                    let ticks = ticks.min(left);
                    self.wheel.skip(ticks);
                    self.now += u64::from(ticks);
                }
                Skip::None => {
                    for entry in self.wheel.tick() {
                        std::hint::black_box(entry.value);
                        fired += 1;
                    }
                    self.now += 1;
                }
            }
        }
        fired
    }

    fn share(threads: usize) -> Shared<Self> {
        let engine = Threaded::new().expect("a thread");
        let hands = (0..threads).map(|thread| Orders {
            timer: engine.timer_ref(),
            last: (thread as u64) << 48,
        });
        Shared {
            hands: hands.collect(),
            drivers: Vec::new(),
            settle: Some(Box::new(move || settle(&engine))),
        }
    }

    fn fire_at(recorder: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        let engine = Threaded::new().expect("a thread");
        let mut timer = engine.timer_ref();
        for index in 0..recorder.asked().len() {
            let told = Arc::clone(recorder);
            let tell = OneShotClosureState::new(index as u64, move |_| told.fired(index));
            timer.schedule_once(recorder.delay(index), tell);
        }
        Box::new(engine)
    }
}

/// Orders are carried out in turn, so when the last one has fired all before it are done.
fn settle(engine: &Threaded) {
    let (done, wait) = mpsc::channel();
    let last = OneShotClosureState::new(u64::MAX, move |_| done.send(()).unwrap_or(()));
    engine
        .timer_ref()
        .schedule_once(Duration::from_millis(1), last);
    wait.recv().unwrap_or(());
}

/// What sends orders to the timer thread.
pub struct Orders {
    timer: TimerRef<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>,
    last: u64,
}

impl Hand for Orders {
    type Key = u64;

    #[inline(always)]
    fn insert(&mut self, _: Moment, delay_ms: u64, value: Value) -> u64 {
        self.last += 1;
        let state = OneShotClosureState::new(self.last, move |_| {
            std::hint::black_box(value);
        });
        self.timer
            .schedule_once(Duration::from_millis(delay_ms), state);
        self.last
    }

    #[inline(always)]
    fn cancel(&mut self, id: u64) {
        self.timer.cancel(&id);
    }
}
