//! The clock by itself, without a driver.

use super::*;

#[test]
fn time_stands_still_until_it_is_moved() {
    let clock = ManualClock::new();
    assert_eq!(clock.now(), Duration::ZERO);
    clock.advance(Duration::from_secs(3));
    clock.run_for(Duration::from_millis(1));
    assert_eq!(clock.now(), Duration::from_millis(3001));
}

#[test]
fn a_wall_step_leaves_the_monotonic_time_alone() {
    let clock = ManualClock::new();
    clock.advance(Duration::from_secs(10));
    let back = clock.wall() - Duration::from_secs(3600);
    clock.set_wall(back);
    assert_eq!(clock.now(), Duration::from_secs(10));
    clock.advance(Duration::from_secs(1));
    assert_eq!(clock.wall(), back + Duration::from_secs(1));
}

#[test]
fn moves_from_several_threads_add_up() {
    let clock = ManualClock::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    clock.advance(Duration::from_millis(1));
                    clock.run_for(Duration::from_millis(1));
                }
            });
        }
    });
    assert_eq!(clock.now(), Duration::from_millis(800));
}

#[test]
fn the_end_of_time_is_reached_without_a_panic() {
    let clock = ManualClock::new();
    clock.advance(Duration::MAX);
    clock.run_for(Duration::MAX);
    let _ = clock.wall();
}
