//! Timers that follow the wall clock, and those that must not, while it steps.

mod manual_bench;

use std::time::{Duration, UNIX_EPOCH};

use manual_bench::{Bench, days, ms};

#[test]
fn a_reset_wall_timer_follows_the_monotonic_clock_from_then_on() {
    let bench = Bench::new();
    let start = bench.clock.wall();
    let key = bench.timers.at(start + ms(100), bench.note(1)).unwrap();
    bench.timers.reset(key, ms(50)).unwrap();
    bench.clock.set_wall(start + days(1));
    assert_eq!(bench.ran(), []);
    bench.clock.run_for(ms(200));
    assert_eq!(bench.ran(), [(1, ms(50))]);
}

// CK-01
#[test]
fn wall_timers_follow_steps_and_delays_do_not() {
    let bench = Bench::new();
    let start = bench.clock.wall();
    bench.timers.at(start + ms(2000), bench.note(1)).unwrap();
    for name in 1..=15 {
        bench.after(ms(u64::from(name) * 200), 100 + name);
    }
    bench.clock.run_for(ms(500));
    bench
        .clock
        .set_wall(bench.clock.wall() - Duration::from_secs(3600));
    bench.clock.run_for(ms(1000));
    bench
        .clock
        .set_wall(bench.clock.wall() + Duration::from_secs(3600));
    bench.clock.run_for(ms(3000));
    let mut due: Vec<_> = (1..=15)
        .map(|n| (100 + n, ms(u64::from(n) * 200)))
        .collect();
    due.push((1, ms(2000)));
    due.sort_unstable();
    let mut ran = bench.ran();
    ran.sort_unstable();
    assert_eq!(ran, due);
}

#[test]
fn a_wall_timer_that_is_the_first_wakes_a_driver_that_sits() {
    let bench = Bench::new();
    bench.clock.advance(Duration::ZERO);
    let start = bench.clock.wall();
    for (name, delay) in [(1, ms(200)), (2, ms(100))] {
        bench.timers.at(start + delay, bench.note(name)).unwrap();
        bench.clock.advance(Duration::ZERO);
    }
    bench.clock.run_for(ms(1000));
    assert_eq!(bench.ran(), [(2, ms(100)), (1, ms(200))]);
}

#[test]
fn a_forward_step_over_the_instant_runs_the_timer_at_once() {
    let bench = Bench::new();
    let start = bench.clock.wall();
    bench.timers.at(start + days(1), bench.note(1)).unwrap();
    // The driver has seen the wall clock before the step, and so can tell that there was one.
    bench.clock.advance(Duration::ZERO);
    bench.clock.set_wall(start + days(2));
    assert_eq!(bench.ran(), [(1, Duration::ZERO)]);
    assert_eq!(bench.timers.stats().clock_jumps, 1);
}

// CK-06
#[test]
fn steps_of_the_wall_clock_do_not_move_a_delay() {
    let bench = Bench::new();
    bench.after(ms(1000), 1);
    let far = bench.clock.wall() + days(1000);
    bench.timers.at(far, bench.note(2)).unwrap();
    for step in 0..10 {
        bench.clock.run_for(ms(50));
        bench.clock.set_wall(UNIX_EPOCH + days(step * 37 % 100));
    }
    bench.clock.run_for(ms(1000));
    assert_eq!(bench.ran(), [(1, ms(1000))]);
}
