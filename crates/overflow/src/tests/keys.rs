//! A key names one entry for ever.

use wheel_core::Tick;

use crate::IndexedHeap;

const SOON: Tick = Tick::new(5);

#[test]
fn a_key_does_nothing_after_its_entry_left() {
    let mut heap = IndexedHeap::new();
    let old = heap.insert(SOON, "old");
    heap.pop();
    let new = heap.insert(SOON, "new");
    assert_ne!(old, new);
    assert_eq!(heap.remove(old), None);
    assert!(!heap.reset(old, Tick::ZERO));
    assert_eq!(heap.get(old), None);
    assert_eq!(heap.get(new), Some((SOON, &"new")));
}

#[test]
fn a_key_does_nothing_on_another_heap() {
    let (mut one, mut other) = (IndexedHeap::new(), IndexedHeap::new());
    let key = one.insert(SOON, "one");
    other.insert(SOON, "other");
    assert_eq!(other.remove(key), None);
    assert!(!other.reset(key, Tick::ZERO));
    assert_eq!(one.remove(key), Some((SOON, "one")));
}

#[test]
fn a_key_stays_valid_when_its_due_tick_changes() {
    let mut heap = IndexedHeap::new();
    let key = heap.insert(SOON, ());
    assert!(heap.reset(key, Tick::MAX));
    assert!(heap.reset(key, Tick::ZERO));
    assert_eq!(heap.remove(key), Some((Tick::ZERO, ())));
}

#[test]
fn a_key_does_nothing_after_its_node_was_dropped_and_made_again() {
    let mut heap = IndexedHeap::new();
    let mut old = Vec::new();
    for _ in 0..3 {
        let new: Vec<_> = (0..20_000).map(|n| heap.insert(SOON, n)).collect();
        assert!(old.iter().all(|&key| heap.remove(key).is_none()));
        drop(heap.drain());
        assert!(heap.room().1 < 10_000, "nodes were dropped");
        old.extend(new);
    }
    assert!(old.iter().all(|&key| heap.remove(key).is_none()));
}

#[test]
fn a_node_at_its_last_generation_is_not_used_again() {
    let mut heap = IndexedHeap::new();
    let first = heap.insert(SOON, 1);
    heap.remove(first);
    heap.age(first, u32::MAX - 1);
    let last = heap.insert(SOON, 2);
    assert_eq!(heap.remove(last), Some((SOON, 2)));
    heap.assert_consistent();

    for n in 0..5_000 {
        let key = heap.insert(SOON, n);
        assert_ne!(key, first);
        assert_ne!(key, last);
    }
    assert_eq!(heap.remove(last), None);
    heap.assert_consistent();
}

#[test]
fn a_worn_node_is_not_dropped_lest_all_new_ones_start_worn() {
    let mut heap = IndexedHeap::new();
    let mut keys: Vec<_> = (0..20_000).map(|n| heap.insert(SOON, n)).collect();
    let worn = keys[15_000];
    heap.remove(worn);
    heap.age(worn, u32::MAX - 1);
    keys.reverse();
    for key in keys {
        heap.remove(key);
    }
    assert!(
        heap.room().1 > 15_000,
        "the worn node and those before it are there"
    );
    for n in 0..40_000 {
        heap.insert(SOON, n);
    }
    drop(heap.drain());
    assert!(heap.room().1 < 40_000, "those behind it were dropped");
    assert_eq!(heap.remove(worn), None);
    heap.assert_consistent();
}
