//! The structure holds after every step, whatever the steps are.

use proptest::prelude::*;
use wheel_core::Tick;

use crate::{HeapKey, IndexedHeap};

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64),
    Remove(usize),
    Reset(usize, u64),
    Pop,
}

/// Few different ticks, so that many are equal, and the ends of the range.
fn due() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..20_u64, 4 => any::<u64>(), 1 => Just(u64::MAX), 1 => Just(u64::MAX - 1)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => due().prop_map(Step::Insert),
        2 => any::<usize>().prop_map(Step::Remove),
        2 => (any::<usize>(), due()).prop_map(|(pick, due)| Step::Reset(pick, due)),
        1 => Just(Step::Pop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn heap_order_and_places_hold_after_every_step(steps in prop::collection::vec(step(), 1..200)) {
        let mut heap = IndexedHeap::new();
        let mut held: Vec<(HeapKey, u64)> = Vec::new();
        for step in steps {
            match step {
                Step::Insert(due) => held.push((heap.insert(Tick::new(due), due), due)),
                Step::Remove(pick) if !held.is_empty() => {
                    let (key, due) = held.swap_remove(pick % held.len());
                    prop_assert_eq!(heap.remove(key).map(|(due, _)| due.get()), Some(due));
                    prop_assert!(heap.remove(key).is_none());
                }
                Step::Reset(pick, due) if !held.is_empty() => {
                    let pick = pick % held.len();
                    prop_assert!(heap.reset(held[pick].0, Tick::new(due)));
                    held[pick].1 = due;
                }
                Step::Remove(_) | Step::Reset(..) | Step::Pop => {
                    let earliest = held.iter().map(|&(_, due)| due).min();
                    prop_assert_eq!(heap.next_due().map(Tick::get), earliest);
                    prop_assert_eq!(heap.pop().map(|(due, _)| due.get()), earliest);
                    held.retain(|&(key, _)| heap.get(key).is_some());
                }
            }
            heap.assert_consistent();
            prop_assert_eq!(heap.len(), held.len());
            for &(key, due) in &held {
                prop_assert_eq!(heap.get(key).map(|(due, _)| due.get()), Some(due));
            }
        }
        let rest: Vec<u64> = heap.drain().map(|(due, _)| due.get()).collect();
        let mut expected: Vec<u64> = held.into_iter().map(|(_, due)| due).collect();
        expected.sort_unstable();
        prop_assert_eq!(rest, expected);
    }
}

#[test]
fn the_structure_holds_across_pages() {
    let mut random = wheel_testkit::Random::new(4);
    let mut heap = IndexedHeap::new();
    let mut keys = Vec::new();
    for round in 0..12_000_u32 {
        // Grows to some 4,000 entries, and then to none.
        let odds = if round < 6_000 { 6 } else { 1 };
        if random.below(7) < odds {
            keys.push(heap.insert(Tick::new(random.of_any_size()), round));
        } else if !keys.is_empty() {
            let pick = random.below(keys.len() as u64) as usize;
            assert!(heap.remove(keys.swap_remove(pick)).is_some());
        }
        if round % 500 == 0 {
            heap.assert_consistent();
        }
    }
    heap.assert_consistent();
    assert_eq!(heap.len(), keys.len());
}

#[test]
fn entries_at_the_last_tick_are_not_confused_with_free_places() {
    let mut heap = IndexedHeap::new();
    for value in 0..3_000_u32 {
        heap.insert(Tick::MAX, value);
    }
    heap.insert(Tick::ZERO, 3_000);
    heap.assert_consistent();
    assert_eq!(heap.pop(), Some((Tick::ZERO, 3_000)));
    let mut left: Vec<u32> = heap.drain().map(|(_, value)| value).collect();
    left.sort_unstable();
    assert!(left.into_iter().eq(0..3_000));
}

#[test]
fn every_entry_is_listed_with_its_own_key_and_due_tick() {
    // HD-08
    let mut heap = IndexedHeap::new();
    let keys: Vec<HeapKey> = (0..10)
        .map(|n| heap.insert(Tick::new(1 << (6 * n)), n))
        .collect();
    for n in [2, 5, 9] {
        heap.remove(keys[n]);
    }
    let mut listed: Vec<(u32, Tick, HeapKey)> =
        heap.iter().map(|(key, due, &n)| (n, due, key)).collect();
    listed.sort_unstable_by_key(|&(n, ..)| n);
    let expected: Vec<(u32, Tick, HeapKey)> = [0, 1, 3, 4, 6, 7, 8]
        .map(|n| (n, Tick::new(1 << (6 * n)), keys[n as usize]))
        .into();
    assert_eq!(listed, expected);
}
