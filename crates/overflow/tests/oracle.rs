//! The heap against the oracle: random streams of operations, compared with a sorted map after
//! every step.

mod heap;

use heap::Heap;
use wheel_testkit::{Scale, check, seeds};

#[test]
fn heap_timers_agree_with_the_oracle() {
    for seed in seeds(600) {
        check(seed, Scale::Millisecond, Heap::build);
    }
}

#[test]
fn heap_timers_agree_with_the_oracle_at_fine_ticks() {
    for seed in seeds(600) {
        check(seed, Scale::TenMicroseconds, Heap::build);
    }
}
