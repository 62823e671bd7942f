//! Timers that follow the wall clock, and those that must not, while it steps.

mod manual_bench;

use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use manual_bench::{Bench, days, ms};
use wheel_runtime::{ManualClock, Timers};

#[test]
fn a_reset_wall_timer_follows_the_monotonic_clock_from_then_on() {
    let bench = Bench::new();
    let start = bench.clock.wall();
    let key = bench.timers.at(start + ms(100), bench.note(1)).unwrap();
    bench.timers.reset(key, ms(50)).unwrap();
    bench.clock.set_wall(start + days(1));
    assert!(bench.ran().is_empty());
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

const HOUR: Duration = Duration::from_secs(3600);

/// Where the wall clock goes and comes back from: to each of these and back, while `at` timers are
/// pending.
fn excursions() -> [(&'static str, SystemTime); 7] {
    let start = ManualClock::new().wall();
    [
        ("an hour ahead", start + HOUR),
        ("an hour back", start - HOUR),
        ("years ahead", start + days(10 * 365)),
        ("years back", start - days(10 * 365)),
        ("the epoch", UNIX_EPOCH),
        ("before 1970", UNIX_EPOCH - days(365)),
        ("a long time before 1970", UNIX_EPOCH - days(300 * 365)),
    ]
}

// CK-01
#[test]
fn an_instant_is_met_wherever_the_wall_clock_has_been() {
    for (name, there) in excursions() {
        let bench = Bench::new();
        let start = bench.clock.wall();
        bench.timers.at(start + ms(2000), bench.note(1)).unwrap();
        bench.clock.run_for(ms(500));
        bench.clock.set_wall(there + ms(100));
        bench.timers.at(there + ms(200), bench.note(2)).unwrap();
        let passed = usize::from(there > start);
        assert_eq!(bench.ran().len(), passed, "{name}: what the step went over");
        bench.clock.run_for(ms(99));
        assert_eq!(bench.ran().len(), passed, "{name}: nothing is early there");
        bench.clock.run_for(ms(1));
        assert_eq!(bench.ran().len(), passed + 1, "{name}: met there");
        bench.clock.set_wall(start + ms(1999));
        assert_eq!(bench.ran().len(), passed + 1, "{name}: not early back here");
        bench.clock.run_for(ms(1));
        assert_eq!(bench.ran().len(), 2, "{name}: met back here");
        bench.clock.set_wall(there);
        bench.clock.run_for(days(1));
        assert_eq!(bench.ran().len(), 2, "{name}: nothing comes twice");
    }
}

#[test]
fn instants_before_1970_keep_their_order_and_their_millisecond() {
    let clock = ManualClock::starting_at(UNIX_EPOCH - days(365));
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    let start = clock.wall();
    let (sent, ran) = mpsc::channel();
    for name in [300, 1, 20, 7] {
        let (sent, now) = (sent.clone(), clock.clone());
        let part = Duration::from_nanos(1);
        let callback = move || sent.send((name, now.now())).unwrap();
        timers.at(start + ms(name) - part, callback).unwrap();
    }
    clock.run_for(ms(299));
    let first = Vec::from_iter(ran.try_iter());
    assert_eq!(first, [1, 7, 20].map(|name| (name, ms(name))));
    clock.run_for(ms(1));
    assert_eq!(ran.try_recv(), Ok((300, ms(300))));
}

// CK-01
#[test]
fn small_steps_again_and_again_are_followed_each_time() {
    for back in [true, false] {
        let bench = Bench::new();
        let due = bench.clock.wall() + ms(1000);
        bench.timers.at(due, bench.note(1)).unwrap();
        bench.after(ms(1000), 2);
        let grid: Vec<_> = (1..=40).map(|n| bench.after(ms(n * 100), 100)).collect();
        let mut reached = false;
        while !reached {
            bench.clock.run_for(ms(10));
            reached |= bench.clock.wall() >= due;
            let wall = bench.clock.wall();
            bench.clock.set_wall(match back {
                true => wall - ms(7),
                false => wall + ms(7),
            });
            reached |= bench.clock.wall() >= due;
            let has_run = bench.ran().iter().any(|entry| entry.0 == 1);
            assert_eq!(has_run, reached, "at {:?}", bench.clock.now());
        }
        bench.clock.run_for(ms(5000));
        let ran = bench.ran();
        assert!(ran.contains(&(2, ms(1000))));
        assert_eq!(ran.len(), 2 + grid.len());
        assert_eq!(bench.timers.stats().clock_jumps, 0, "too small to count");
    }
}

#[test]
fn steps_of_the_wall_clock_are_counted_whether_or_not_somebody_follows_it() {
    let bench = Bench::new();
    let step = || bench.clock.set_wall(bench.clock.wall() + HOUR);
    step();
    assert_eq!(bench.timers.stats().clock_jumps, 1, "nobody follows it");
    let far = bench.clock.wall() + days(365);
    let key = bench.timers.at(far, bench.note(1)).unwrap();
    bench.clock.advance(Duration::ZERO);
    for steps in 1..=5 {
        step();
        assert_eq!(bench.timers.stats().clock_jumps, 1 + steps);
    }
    assert!(bench.timers.cancel(key));
    step();
    bench.timers.at(far, bench.note(1)).unwrap();
    bench.clock.advance(Duration::ZERO);
    assert_eq!(bench.timers.stats().clock_jumps, 7);
}

#[test]
fn a_wall_timer_that_a_step_made_due_cannot_be_cancelled_or_reset_any_more() {
    let bench = Bench::new();
    let start = bench.clock.wall();
    let keys = [1, 2, 3].map(|name| {
        let at = start + days(u64::from(name));
        bench.timers.at(at, bench.note(name)).unwrap()
    });
    assert!(bench.timers.cancel(keys[0]));
    bench.clock.set_wall(start + days(2));
    assert_eq!(bench.ran(), [(2, Duration::ZERO)]);
    assert!(!bench.timers.cancel(keys[1]));
    assert!(bench.timers.reset(keys[1], ms(1)).is_none());
    bench.clock.set_wall(start - days(10_000));
    let moved = bench.timers.reset(keys[2], ms(5)).unwrap();
    assert!(!bench.timers.cancel(keys[2]));
    bench.clock.run_for(ms(5));
    assert_eq!(bench.ran().last(), Some(&(3, ms(5))));
    assert!(!bench.timers.cancel(moved));
    assert!(bench.timers.is_empty());
}
