//! One adapter per engine; each does what its user would do and nothing more. Their methods are
//! inlined, as the engines are generic and would be inlined into their user's code.
//!
//! Ours and what one would write first are always here; the engines of others are behind the
//! feature `rivals`.

mod wheel;
mod local_wheel;
mod locked;
mod heap;
mod std_binary_heap;
mod btree;
mod mutex_wheel;
mod mutex_wheel_per_thread;

#[cfg(feature = "rivals")]
mod futures;
#[cfg(feature = "rivals")]
mod tokio;
#[cfg(feature = "rivals")]
mod delay_queue;
#[cfg(feature = "rivals")]
mod hash_wheel_timer;
#[cfg(feature = "rivals")]
mod pingora_timeout;
#[cfg(feature = "rivals")]
mod async_io;

pub use btree::Btree;
pub use heap::Heap;
pub use local_wheel::OneOwner;
pub use mutex_wheel::MutexWheel;
pub use mutex_wheel_per_thread::MutexWheelPerThread;
pub use std_binary_heap::StdBinaryHeap;
pub use wheel::WheelAndDriver;

#[cfg(feature = "rivals")]
pub(crate) use self::tokio::multi_thread;
#[cfg(feature = "rivals")]
pub use self::{
    async_io::AsyncIo, delay_queue::TokioDelayQueue, hash_wheel_timer::HashWheelTimer,
    pingora_timeout::PingoraTimeout, tokio::Tokio,
};

use crate::{Contestant, Workload};

/// Every name, in the order of the tables; whether this build has the engine is another matter.
pub const ALL: &[&str] = &[
    "wheel",
    "local_wheel",
    "heap",
    "std_binary_heap",
    "btree",
    "mutex_wheel",
    "mutex_wheel_per_thread",
    "tokio",
    "delay_queue",
    "hash_wheel_timer",
    "pingora_timeout",
    "async_io",
];

/// Ours: the two that every other is a rival of.
pub const OURS: &[&str] = &["wheel", "local_wheel"];

/// Something to be done with a contestant that is known by name only.
pub trait Visitor {
    /// What comes of it.
    type Answer;

    /// Does it.
    fn visit<C: Contestant>(self) -> Self::Answer;
}

/// Has `visitor` visit the engine called `name`; `None` when this build has none.
pub fn visit<V: Visitor>(name: &str, visitor: V) -> Option<V::Answer> {
    Some(match name {
        "wheel" => visitor.visit::<WheelAndDriver>(),
        "local_wheel" => visitor.visit::<OneOwner>(),
        "heap" => visitor.visit::<Heap>(),
        "std_binary_heap" => visitor.visit::<StdBinaryHeap>(),
        "btree" => visitor.visit::<Btree>(),
        "mutex_wheel" => visitor.visit::<MutexWheel>(),
        "mutex_wheel_per_thread" => visitor.visit::<MutexWheelPerThread>(),
        #[cfg(feature = "rivals")]
        "tokio" => visitor.visit::<Tokio>(),
        #[cfg(feature = "rivals")]
        "delay_queue" => visitor.visit::<TokioDelayQueue>(),
        #[cfg(feature = "rivals")]
        "hash_wheel_timer" => visitor.visit::<HashWheelTimer>(),
        #[cfg(feature = "rivals")]
        "pingora_timeout" => visitor.visit::<PingoraTimeout>(),
        #[cfg(feature = "rivals")]
        "async_io" => visitor.visit::<AsyncIo>(),
        _ => return None,
    })
}

/// What a table says of an engine: its setup, and why it is left out of a workload.
pub fn describe(name: &str) -> Option<&'static str> {
    struct Describe;
    impl Visitor for Describe {
        type Answer = &'static str;
        fn visit<C: Contestant>(self) -> &'static str {
            C::SETUP
        }
    }
    visit(name, Describe)
}

/// Why the engine does not take part in `workload`; `None` when it does, or is not in this build.
pub fn left_out(name: &str, workload: Workload) -> Option<&'static str> {
    struct LeftOut(Workload);
    impl Visitor for LeftOut {
        type Answer = Option<&'static str>;
        fn visit<C: Contestant>(self) -> Option<&'static str> {
            C::left_out(self.0)
        }
    }
    match workload {
        Workload::Driver | Workload::TwoWheels => (name != "wheel").then_some(WHEEL_ALONE),
        // Against tokio or not at all.
        Workload::Timeouts => {
            let takes_part = cfg!(feature = "rivals") && matches!(name, "wheel" | "tokio");
            (!takes_part).then_some(NO_FUTURES)
        }
        // What waits for timers that are due soon waits for those that are not.
        Workload::Idle => visit(name, LeftOut(Workload::Lateness)).flatten(),
        other => visit(name, LeftOut(other)).flatten(),
    }
}

/// The reason of all others where the wheel is measured by itself.
const WHEEL_ALONE: &str = "is about the wheel's own driver, compared with nobody's";

/// The reason of all but two.
const NO_FUTURES: &str = "is about futures with a time limit, of `wheel` beside tokio's";

/// The reason of those that bring no thread that waits.
const NO_WAIT: &str = "has no thread of its own that waits; `heap` with a condvar stands for all \
                       structures in a mutex";

/// The reason of those that have no workers.
const NO_WORKERS: &str = "fires timers, does not run tasks on workers";

#[cfg(test)]
mod tests {
    mod fires;
    use super::*;

    #[test]
    fn every_engine_of_this_build_is_found_under_its_own_name() {
        struct Name;
        impl Visitor for Name {
            type Answer = &'static str;
            fn visit<C: Contestant>(self) -> &'static str {
                C::NAME
            }
        }
        for &name in ALL {
            let found = visit(name, Name);
            assert!(found.is_none_or(|found| found == name), "{name}: {found:?}");
            assert_eq!(
                found.is_some(),
                cfg!(feature = "rivals") || ALL.iter().position(|&n| n == name) < Some(7)
            );
        }
    }
}
