//! cancel-or-place: `cancel` while the driver moves the entry from the intake to a slot, from a
//! slot to a finer one, or out of the overflow. The value leaves once, the entry is freed once.

use wheel_core::{Budget, Config, Tick};
use wheel_loom_tests::{Census, advance, advance_within, assert_at_rest, with_a_placed_timer};
use wheel_overflow::FarHeap;
use wheel_sync::{model, thread};

#[test]
fn a_timer_cancelled_on_its_way_to_a_slot_leaves_once_and_its_entry_is_used_again() {
    model("cancel-or-place", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(3), census.value(1)).unwrap();
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.cancel(key).is_some())
        };
        // From the intake to a slot, and from there to a finer one.
        assert!(advance(&mut driver, 0).is_empty());
        assert!(advance(&mut driver, 2).is_empty());
        assert!(canceller.join().unwrap());
        assert!(advance(&mut driver, 9).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_timer_cancelled_between_two_slots_leaves_once() {
    model("cancel-or-place, between slots", || {
        let census = Census::default();
        // Due at 9: placed two levels up, and it comes down slot by slot.
        let (wheel, mut driver, key) = with_a_placed_timer(9, census.value(1));
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(key).is_some()))
        };
        let mut fired = 0;
        for now in [5, 7, 9] {
            fired += advance_within(&mut driver, now, Budget::new(1)).len();
        }
        assert_eq!(fired + canceller.join().unwrap(), 1);
        assert!(advance(&mut driver, 20).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_far_timer_cancelled_on_its_way_back_leaves_once() {
    model("cancel-or-place, overflow", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().overflow(FarHeap::new()).build();
        let key = wheel.insert(Tick::new(40), census.value(1)).unwrap();
        assert!(advance(&mut driver, 0).is_empty());
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(key).is_some()))
        };
        // From the heap to the coarsest level, down, and due.
        let mut fired = advance(&mut driver, 32).len();
        fired += advance(&mut driver, 40).len();
        assert_eq!(fired + canceller.join().unwrap(), 1);
        assert!(advance(&mut driver, 80).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn two_timers_cancelled_by_two_threads_while_they_are_placed_are_freed_once_each() {
    model("cancel-or-place, two cancellers", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let cancellers = [1, 2].map(|id| {
            let key = wheel.insert(Tick::new(3), census.value(id)).unwrap();
            let wheel = wheel.clone();
            thread::spawn(move || assert!(wheel.cancel(key).is_some()))
        });
        assert!(advance_within(&mut driver, 2, Budget::new(1)).is_empty());
        for canceller in cancellers {
            canceller.join().unwrap();
        }
        assert!(advance(&mut driver, 9).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}
