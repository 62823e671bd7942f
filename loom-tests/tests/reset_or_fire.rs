//! reset-or-fire: `reset` while the driver finds the timer due. It fires once: at the new tick, or
//! at the old one and `reset` says so.

use wheel_core::{Budget, Config, Tick};
use wheel_loom_tests::{
    Census, Note, advance, advance_within, assert_at_rest, with_a_placed_timer,
};
use wheel_sync::{Arc, model, thread};

#[test]
fn a_reset_timer_fires_once_at_the_new_tick_or_the_old_one() {
    model("reset-or-fire", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(2), census.value(1)).unwrap();
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(key, Tick::new(1)).is_some())
        };
        let mut fired = advance(&mut driver, 2).len();
        let moved = resetter.join().unwrap();
        fired += advance(&mut driver, 3).len();
        assert_eq!(fired, 1, "moved: {moved}");
        assert!(wheel.cancel(key).is_none());
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn what_was_written_before_a_reset_is_visible_where_the_value_fires() {
    model("reset-or-fire, hand-over", || {
        let census = Census::default();
        let (wheel, mut driver, key) = with_a_placed_timer(1, census.value(1));
        let note = Arc::new(Note::default());
        let resetter = {
            let (wheel, note) = (wheel.clone(), Arc::clone(&note));
            thread::spawn(move || {
                note.write(1);
                wheel.reset(key, Tick::new(2)).is_some()
            })
        };
        let fired = advance(&mut driver, 2);
        if fired.iter().any(|timer| timer.due == Tick::new(2)) {
            assert_eq!(note.read(), 1);
        }
        resetter.join().unwrap();
    });
}

#[test]
fn a_timer_reset_to_later_fires_at_the_new_tick_and_not_before() {
    model("reset-or-fire, later", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(2, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(old, Tick::new(6)))
        };
        let fired = advance_within(&mut driver, 2, Budget::new(1)).len();
        let moved = resetter.join().unwrap();
        assert_eq!(fired, usize::from(moved.is_none()));
        assert!(advance(&mut driver, 5).is_empty(), "early");
        let fired = advance(&mut driver, 6);
        assert_eq!(fired.iter().map(|timer| timer.key).next(), moved);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_timer_reset_to_earlier_fires_once_at_the_new_tick() {
    model("reset-or-fire, earlier", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(6, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(old, Tick::new(2)))
        };
        // The slot of the old tick is on its way down meanwhile.
        let mut fired = advance_within(&mut driver, 4, Budget::new(1)).len();
        let moved = resetter.join().unwrap();
        fired += advance(&mut driver, 5).len();
        assert_eq!(fired, 1, "due at 2 since the reset: {moved:?}");
        assert!(advance(&mut driver, 6).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_reset_that_comes_too_late_gives_its_entry_back() {
    model("reset-or-fire, too late", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(6, census.value(1));
        let resetter = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.reset(old, Tick::new(2)).is_some())
        };
        let fired = advance(&mut driver, 6).len();
        let moved = resetter.join().unwrap();
        let late = advance(&mut driver, 7).len();
        assert_eq!(
            (fired, late),
            if fired == 1 {
                (1, 0)
            } else {
                (0, usize::from(moved))
            }
        );
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn two_resets_and_the_driver_leave_one_timer() {
    model("reset-or-fire, two resets", || {
        let census = Census::default();
        let (wheel, mut driver, old) = with_a_placed_timer(2, census.value(1));
        let resetters = [1, 4].map(|due| {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.reset(old, Tick::new(due)).is_some()))
        });
        let mut fired = advance(&mut driver, 2).len();
        let moved: usize = resetters.into_iter().map(|r| r.join().unwrap()).sum();
        assert!(moved <= 1, "an old key was good twice");
        fired += advance(&mut driver, 3).len();
        fired += advance(&mut driver, 4).len();
        assert_eq!(fired, 1);
        assert!(advance(&mut driver, 9).is_empty());
        assert_at_rest(&mut driver, &census);
    });
}
