//! replace-or-fire: another value takes the place of a pending timer's, while the driver fires it,
//! the wheel is closed, or another thread does the same. One of the two values fires, and the other
//! one is in the hands of who replaced it.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, Note, Seen, advance, assert_at_rest, with_a_placed_timer};
use wheel_sync::{Arc, model, thread};

#[test]
fn one_of_the_two_values_fires_and_what_was_written_before_is_visible() {
    let seen = Seen::default();
    let sees = seen.clone();
    model("replace-or-fire", move || {
        let census = Census::default();
        let (wheel, mut driver, key) = with_a_placed_timer(1, census.value(1));
        let note = Arc::new(Note::default());
        let replacer = {
            let (value, note) = (census.value(2), Arc::clone(&note));
            thread::spawn(move || {
                note.write(7);
                wheel
                    .replace(key, value)
                    .map_or_else(|new| new.id, |old| old.id)
            })
        };
        let mut fired = advance(&mut driver, 1);
        if fired.iter().any(|timer| timer.value.id == 2) {
            assert_eq!(note.read(), 7);
        }
        let left = replacer.join().unwrap();
        // A busy entry is looked at again in the next tick.
        fired.append(&mut advance(&mut driver, 2));
        let ids: Vec<u32> = fired.iter().map(|timer| timer.value.id).collect();
        assert_eq!(ids, [3 - left]);
        sees.note(left as usize - 1);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
    seen.all(2);
}

#[test]
fn two_who_replace_get_different_values() {
    model("replace-or-fire, two", || {
        let census = Census::default();
        let (wheel, mut driver, key) = with_a_placed_timer(1, census.value(1));
        let other = {
            let (wheel, value) = (wheel.clone(), census.value(2));
            thread::spawn(move || {
                let left = wheel.replace(key, value);
                left.map_or_else(|new| new.id, |old| old.id)
            })
        };
        let left = wheel.replace(key, census.value(3));
        let left = left.map_or_else(|new| new.id, |old| old.id);
        let lefts = [left, other.join().unwrap()];
        let fired = advance(&mut driver, 1);
        let ids: Vec<u32> = fired.iter().map(|timer| timer.value.id).collect();
        assert_eq!(ids.len(), 1);
        let mut all = [ids[0], lefts[0], lefts[1]];
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3], "fired {ids:?}");
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_close_hands_back_whichever_value_has_the_place() {
    model("replace-or-fire, close", || {
        let census = Census::default();
        let (wheel, driver) = Config::new().build();
        let key = wheel.insert(Tick::new(2), census.value(1)).unwrap();
        let replacer = {
            let value = census.value(2);
            thread::spawn(move || {
                let left = wheel.replace(key, value);
                left.map_or_else(|new| new.id, |old| old.id)
            })
        };
        let unfired: Vec<u32> = driver.close().map(|value| value.id).collect();
        let left = replacer.join().unwrap();
        assert_eq!(unfired, [3 - left]);
        assert_eq!(census.alive(), 0);
    });
}
