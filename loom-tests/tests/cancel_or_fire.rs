//! cancel-or-fire: `cancel` and the driver claim one entry. One step decides; the other sees
//! nothing.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, advance, assert_at_rest, with_a_placed_timer};
use wheel_sync::{model, thread};

#[test]
fn a_timer_is_cancelled_or_fires() {
    model("cancel-or-fire", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(1), census.value(1)).unwrap();
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || wheel.cancel(key).map(|value| value.id))
        };
        let fired = advance(&mut driver, 1);
        let cancelled = canceller.join().unwrap();
        assert_eq!(
            fired.len() + usize::from(cancelled.is_some()),
            1,
            "the value left {} times by fire, by cancel {cancelled:?}",
            fired.len()
        );
        assert!(wheel.is_empty());
        drop(fired);
        assert!(wheel.cancel(key).is_none());
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn two_cancels_and_a_fire_have_one_winner() {
    model("cancel-or-fire, two cancels", || {
        let census = Census::default();
        let (wheel, mut driver, key) = with_a_placed_timer(1, census.value(1));
        let cancellers = [0, 1].map(|_| {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(key).is_some()))
        });
        let fired = advance(&mut driver, 1).len();
        let cancelled: usize = cancellers.into_iter().map(|c| c.join().unwrap()).sum();
        assert_eq!(fired + cancelled, 1);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn an_entry_is_used_again_only_after_its_canceller_has_read_the_value() {
    model("cancel-or-fire, used again", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let keys = [1, 2].map(|id| wheel.insert(Tick::new(1), census.value(id)).unwrap());
        assert!(advance(&mut driver, 0).is_empty());
        let canceller = {
            let wheel = wheel.clone();
            thread::spawn(move || usize::from(wheel.cancel(keys[0]).is_some()))
        };
        // Both entries come back as one batch, unless the canceller is halfway through.
        let mut fired = advance(&mut driver, 1).len();
        for id in [3, 4] {
            wheel.insert(Tick::new(3), census.value(id)).unwrap();
        }
        let cancelled = canceller.join().unwrap();
        fired += advance(&mut driver, 3).len();
        assert_eq!(fired + cancelled, 4);
        assert_at_rest(&mut driver, &census);
    });
}
