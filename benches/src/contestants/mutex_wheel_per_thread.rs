//! A single-threaded wheel in a mutex for each thread: the honest baseline.
//!
//! A thread locks its own wheel, which nobody else wants but the driver once a millisecond, and
//! whoever cancels what it has set. Its price is that the driver visits every wheel.

use std::any::Any;
use std::sync::Arc;

use wheel_core::{Key, Tick};

use super::mutex_wheel::MutexWheel;
use super::{NO_WAIT, NO_WORKERS};
use crate::{Contestant, Hand, Moment, Recorder, Shared, Time, Value, Workload};

type Wheels = Arc<[MutexWheel]>;

/// All wheels; one when one thread uses it.
pub struct MutexWheelPerThread(Wheels);

/// A timer is named by whose wheel it is in, too.
pub(crate) type OwnedKey = (u32, Key);

/// One thread's view: it sets timers in its own wheel and cancels in any.
pub struct OwnWheel {
    wheels: Wheels,
    own: u32,
}

fn wheels(threads: usize) -> Wheels {
    (0..threads).map(|_| MutexWheel::empty()).collect()
}

impl Contestant for MutexWheelPerThread {
    type Key = OwnedKey;
    type Hand = OwnWheel;

    const NAME: &'static str = "mutex_wheel_per_thread";
    const SETUP: &'static str = "a wheel_core::LocalWheel in a std::sync::Mutex for each thread; \
                                 a cancel locks the wheel that the timer was set in";

    fn left_out(workload: Workload) -> Option<&'static str> {
        match workload {
            Workload::Lateness => Some(NO_WAIT),
            other => other.needs_workers().then_some(NO_WORKERS),
        }
    }

    fn new(_: Time) -> Self {
        MutexWheelPerThread(wheels(1))
    }

    #[inline]
    fn insert(&mut self, due: Tick, value: Value) -> OwnedKey {
        (0, self.0[0].put(due, value))
    }

    #[inline]
    fn cancel(&mut self, (owner, key): OwnedKey) -> bool {
        self.0[owner as usize].take(key)
    }

    #[inline]
    fn advance(&mut self, now: Tick) -> usize {
        self.0.iter().map(|wheel| wheel.drive(now)).sum()
    }

    fn share(threads: usize) -> Shared<Self> {
        let all = wheels(threads);
        let hands = (0..threads).map(|own| OwnWheel {
            wheels: Arc::clone(&all),
            own: u32::try_from(own).expect("a few threads"),
        });
        Shared {
            hands: hands.collect(),
            driver: Some(Box::new(move |now| {
                for wheel in all.iter() {
                    wheel.drive(now);
                }
            })),
            settle: None,
        }
    }

    fn fire_at(_: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        unreachable!("left out")
    }
}

impl Hand for OwnWheel {
    type Key = OwnedKey;

    #[inline]
    fn insert(&mut self, now: Moment, delay_ms: u64, value: Value) -> OwnedKey {
        let wheel = &self.wheels[self.own as usize];
        (self.own, wheel.put(Tick::new(now.tick + delay_ms), value))
    }

    #[inline]
    fn cancel(&mut self, (owner, key): OwnedKey) {
        let taken = self.wheels[owner as usize].take(key);
        assert!(taken, "nothing was due");
    }
}
