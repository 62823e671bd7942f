//! Two wheels side by side against one: the load of `mt_jitter`, each thread on one of them.
//!
//! A service shards by its keys, so a timer is set and cancelled in the same wheel. Each wheel has a
//! driver with a thread of its own.

use std::time::Duration;

use super::Effort;
use super::threads::storm;
use crate::contestants::WheelAndDriver;
use crate::measure::Sample;
use crate::{Contestant, Shared};

const SPREAD_MS: u64 = 1_000;

/// With the variant `two`, two wheels; else one.
pub(super) fn run(threads: usize, variant: &str, effort: Effort) -> Result<Sample, String> {
    let engine = match variant {
        "two" => side_by_side(threads),
        _ => WheelAndDriver::share(threads),
    };
    let time = effort.pick(Duration::from_millis(250), Duration::from_millis(800));
    Ok(storm(engine, SPREAD_MS, time).sample())
}

fn side_by_side(threads: usize) -> Shared<WheelAndDriver> {
    let mut first = WheelAndDriver::share(threads.div_ceil(2));
    let second = WheelAndDriver::share(threads / 2);
    first.hands.extend(second.hands);
    first.drivers.extend(second.drivers);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_wheels_have_two_drivers_and_every_thread_a_hand() {
        let both = side_by_side(3);
        assert_eq!((both.hands.len(), both.drivers.len()), (3, 2));
    }
}
