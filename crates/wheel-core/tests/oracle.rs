//! Wheel and LocalWheel against the oracle: random streams of operations, compared with a sorted
//! map after every step. `WHEEL_SEED=n` runs one seed alone.

mod engine;

use engine::{Local, Shared};
use wheel_testkit::{Scale, check, seeds};

#[test]
fn wheel_agrees_with_the_oracle() {
    for seed in seeds(600) {
        check(seed, Scale::Millisecond, Shared::build);
    }
}

#[test]
fn wheel_agrees_with_the_oracle_at_fine_ticks() {
    for seed in seeds(600) {
        check(seed, Scale::TenMicroseconds, Shared::build);
    }
}

#[test]
fn local_wheel_agrees_with_the_oracle() {
    for seed in seeds(600) {
        check(seed, Scale::Millisecond, Local::build);
    }
}

#[test]
fn local_wheel_agrees_with_the_oracle_at_fine_ticks() {
    for seed in seeds(600) {
        check(seed, Scale::TenMicroseconds, Local::build);
    }
}
