//! An entry that has been its last timer is retired and never handed out again.

use super::Rig;
use crate::{Config, Key, Tick};

/// A wheel whose free entries in stock have one timer left to be each.
fn worn_out() -> Rig<u32> {
    let rig = Rig::new(Config::new());
    let key = rig.wheel.insert(Tick::new(1_000), 0).unwrap();
    rig.wheel.cancel(key);
    let arena = &rig.driver.engine.arena;
    for (index, entry) in (0..arena.used()).filter_map(|number| arena.find(number)) {
        if index != key.index() {
            entry.state.wear_out();
        }
    }
    rig
}

/// The next keys, of entries that were worn out, and the timer that each of them was.
fn last_timers(rig: &Rig<u32>, due: u64) -> Vec<Key> {
    // Due before the entry that the first key has left vacant.
    let before = rig.used() - 1;
    let keys: Vec<Key> = (0..before as u32)
        .map(|value| rig.wheel.insert(Tick::new(due), value).unwrap())
        .collect();
    assert_eq!(rig.used(), before + 1);
    for key in &keys {
        let word = rig.driver.engine.arena.get(key.index()).state.look();
        assert!(word.is_spent(), "{word:?} of {key:?}");
    }
    keys
}

/// None of the entries of `spent` comes back, though many more are handed out.
fn never_handed_out_again(rig: &mut Rig<u32>, spent: &[Key]) {
    for round in 0..20 {
        let due = Tick::new(rig.now + 100);
        let keys: Vec<Key> = (0..spent.len() as u32)
            .map(|value| rig.wheel.insert(due, value).unwrap())
            .collect();
        for key in &keys {
            assert!(
                spent.iter().all(|spent| spent.index() != key.index()),
                "a spent entry was handed out again"
            );
        }
        if round % 2 == 0 {
            for &key in &keys {
                assert!(rig.wheel.cancel(key).is_some());
            }
        }
        rig.advance(rig.now + 100);
    }
    for &key in spent {
        assert_eq!(rig.wheel.cancel(key), None);
        assert_eq!(rig.wheel.reset(key, Tick::new(u64::MAX)), None);
    }
    assert_eq!(rig.wheel.len(), 0);
}

#[test]
fn after_it_fired() {
    let mut rig = worn_out();
    let spent = last_timers(&rig, 0);
    assert_eq!(rig.advance(0).fired, spent.len());
    never_handed_out_again(&mut rig, &spent);
}

#[test]
fn after_it_was_cancelled() {
    let mut rig = worn_out();
    let spent = last_timers(&rig, 0);
    for (value, &key) in spent.iter().enumerate() {
        assert_eq!(rig.wheel.cancel(key), Some(value as u32));
    }
    never_handed_out_again(&mut rig, &spent);
}

#[test]
fn after_it_was_cancelled_in_its_slot() {
    let mut rig = worn_out();
    let spent = last_timers(&rig, 50);
    // Gives all of them a place; the cancels come later.
    rig.advance(10);
    for &key in &spent {
        assert!(rig.wheel.cancel(key).is_some());
    }
    never_handed_out_again(&mut rig, &spent);
}

/// A reset, also to later, takes the timer to another entry.
#[test]
fn after_it_was_reset() {
    let mut rig = worn_out();
    let spent = last_timers(&rig, 0);
    for (value, &key) in spent.iter().enumerate() {
        let moved = rig.wheel.reset(key, Tick::new(5)).expect("it is pending");
        assert_ne!(moved.index(), key.index());
        assert_eq!(rig.wheel.cancel(key), None, "the old key");
        assert_eq!(rig.wheel.cancel(moved), Some(value as u32));
    }
    never_handed_out_again(&mut rig, &spent);
}
