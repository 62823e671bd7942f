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

/// All wheels; one when one thread uses it.
pub struct MutexWheelPerThread(OwnWheel);

/// A timer is named by whose wheel it is in, too.
pub(crate) type OwnedKey = (u32, Key);

/// One thread's view: it sets timers in its own wheel and cancels in any.
pub struct OwnWheel {
    own: u32,
    /// The one at `own`, at hand.
    wheel: MutexWheel,
    all: Arc<[MutexWheel]>,
}

/// A view for each thread.
fn views(threads: usize) -> Vec<OwnWheel> {
    let all: Arc<[MutexWheel]> = (0..threads).map(|_| MutexWheel::empty()).collect();
    let views = (0_u32..).zip(all.iter()).map(|(own, wheel)| OwnWheel {
        own,
        wheel: wheel.clone(),
        all: Arc::clone(&all),
    });
    views.collect()
}

impl OwnWheel {
    #[inline(always)]
    fn put(&self, due: Tick, value: Value) -> OwnedKey {
        (self.own, self.wheel.put(due, value))
    }

    #[inline(always)]
    fn take(&self, (owner, key): OwnedKey) -> bool {
        if owner == self.own {
            return self.wheel.take(key);
        }
        self.all[owner as usize].take(key)
    }
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
        let only = views(1).pop();
        MutexWheelPerThread(only.expect("one was asked for"))
    }

    #[inline(always)]
    fn insert(&mut self, due: Tick, value: Value) -> OwnedKey {
        self.0.put(due, value)
    }

    #[inline(always)]
    fn cancel(&mut self, key: OwnedKey) -> bool {
        self.0.take(key)
    }

    #[inline]
    fn advance(&mut self, now: Tick) -> usize {
        self.0.wheel.drive(now)
    }

    fn share(threads: usize) -> Shared<Self> {
        let hands = views(threads);
        let wheels: Vec<MutexWheel> = hands.iter().map(|hand| hand.wheel.clone()).collect();
        Shared {
            hands,
            drivers: vec![Box::new(move |now| {
                for wheel in &wheels {
                    wheel.drive(now);
                }
            })],
            settle: None,
        }
    }

    fn fire_at(_: &Arc<Recorder>, _: &str) -> Box<dyn Any> {
        unreachable!("left out")
    }
}

impl Hand for OwnWheel {
    type Key = OwnedKey;

    #[inline(always)]
    fn insert(&mut self, now: Moment, delay_ms: u64, value: Value) -> OwnedKey {
        self.put(Tick::new(now.tick + delay_ms), value)
    }

    #[inline(always)]
    fn cancel(&mut self, key: OwnedKey) {
        assert!(self.take(key), "nothing was due");
    }
}
