//! The wheel with a heap behind it: timers beyond the span wait in the heap and come back in time.

mod wheel;

use wheel::WithFarHeap;
use wheel_testkit::{Scale, check, seeds};

wheel_testkit::engine_cases!(WithFarHeap::build);

#[test]
fn the_wheel_and_the_heap_together_agree_with_the_oracle() {
    for seed in seeds(600) {
        check(seed, Scale::Millisecond, WithFarHeap::build);
    }
}

#[test]
fn the_wheel_and_the_heap_together_agree_with_the_oracle_at_fine_ticks() {
    for seed in seeds(600) {
        check(seed, Scale::TenMicroseconds, WithFarHeap::build);
    }
}
