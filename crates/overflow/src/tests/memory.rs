//! Memory follows what is held.

use std::rc::Rc;

use wheel_core::Tick;

use crate::quad::Untold;
use crate::{FarHeap, HeapKey, HeapTimers, IndexedHeap};

fn filled(count: u64) -> (IndexedHeap<u64>, Vec<HeapKey>) {
    let mut heap = IndexedHeap::new();
    // 7919 is prime: a walk through all residues.
    let keys = (0..count)
        .map(|n| heap.insert(Tick::new(n * 7919 % count), n))
        .collect();
    (heap, keys)
}

/// The least that is kept: a page, and nodes that are not worth giving back.
const LEAST: (usize, usize) = (1, 4 * 1_024);

#[test]
fn what_a_burst_took_is_given_back_in_whatever_order_it_leaves() {
    type Way = fn(&mut IndexedHeap<u64>, Vec<HeapKey>);
    let by_age: Way = |heap, keys| assert!(keys.into_iter().all(|key| heap.remove(key).is_some()));
    let youngest_first: Way =
        |heap, keys| assert!(keys.into_iter().rev().all(|key| heap.remove(key).is_some()));
    let by_due: Way = |heap, _| while heap.pop().is_some() {};
    let at_once: Way = |heap, _| drop(heap.drain());
    let ways = [by_age, youngest_first, by_due, at_once];
    for empty in ways {
        let (mut heap, keys) = filled(50_000);
        assert!(heap.room().0 == 49 && heap.room().1 >= 50_000);
        empty(&mut heap, keys);
        heap.assert_consistent();
        assert!(
            heap.room().0 <= LEAST.0 && heap.room().1 <= LEAST.1,
            "{:?} is kept",
            heap.room()
        );
    }
}

/// Behind a wheel nobody removes a far timer by its key: a sweep takes out those that were
/// cancelled, some at a time.
#[test]
fn what_a_sweep_takes_out_of_the_far_timers_is_given_back() {
    let mut heap = FarHeap::of_entries();
    for round in 0..3 {
        for entry in 0..50_000_u64 {
            let due = Tick::new(entry * 7919 % 50_000);
            heap.quad().push(due, entry, &mut Untold);
        }
        assert_eq!(heap.quad().pages(), 49);
        let (mut looked, mut calls) = (0, 0);
        while heap.quad().len() > 0 {
            looked += heap.sweep_entries(256, |_| false);
            calls += 1;
        }
        assert!(heap.quad().pages() <= LEAST.0, "round {round}");
        assert_eq!(looked, 50_000, "each is looked at once");
        assert!(calls <= 50_000 / 256 + 2, "{calls} calls");
    }
}

#[test]
fn entries_that_come_and_go_after_a_burst_let_it_drain() {
    let (mut heap, keys) = filled(50_000);
    let mut keys = std::collections::VecDeque::from(keys);
    // A thousand stay pending at any time. Whoever survived the burst leaves in the end.
    for n in 0..150_000 {
        if keys.len() > 1_000 {
            heap.remove(keys.pop_front().unwrap());
        }
        if n % 4 == 0 {
            heap.remove(keys.pop_front().unwrap());
            keys.push_back(heap.insert(Tick::new(n), n));
        }
    }
    heap.assert_consistent();
    assert_eq!(heap.len(), 1_000);
    assert!(heap.room().1 <= 16 * 1_024, "{:?} is kept", heap.room());
}

#[test]
fn a_timer_that_comes_and_goes_at_the_edge_of_a_page_keeps_the_pages() {
    for count in [0, 1_020, 1_021, 1_022, 1_023, 1_024, 1_025] {
        let (mut heap, _) = filled(count);
        let mut key = heap.insert(Tick::MAX, 0);
        let room = heap.room();
        for _ in 0..10 {
            heap.remove(key);
            assert_eq!(heap.room(), room);
            key = heap.insert(Tick::MAX, 0);
            assert_eq!(heap.room(), room);
        }
    }
}

#[test]
fn a_storm_of_insert_and_cancel_takes_one_node() {
    let mut heap = IndexedHeap::new();
    for n in 0..100_000_u64 {
        let key = heap.insert(Tick::new(n + 30_000), n);
        assert!(heap.remove(key).is_some());
    }
    assert!(
        heap.room().0 == 1 && heap.room().1 <= 4,
        "{:?}",
        heap.room()
    );
    heap.assert_consistent();
}

#[test]
fn a_cancelled_value_is_dropped_at_once() {
    // MG-01
    let payload = Rc::new([0_u8; 1_024]);
    let mut timers = HeapTimers::new();
    for n in 0..10_000 {
        let key = timers.insert(Tick::new(3_600_000 + n), Rc::clone(&payload));
        assert!(timers.cancel(key).is_some());
        assert_eq!(Rc::strong_count(&payload), 1);
    }
}

#[test]
fn what_a_drain_did_not_hand_out_is_dropped_with_it() {
    let payload = Rc::new(());
    let mut heap = IndexedHeap::new();
    for n in 0..3_000 {
        heap.insert(Tick::new(n), Rc::clone(&payload));
    }
    let mut drain = heap.drain();
    assert_eq!(drain.len(), 3_000);
    assert!(drain.next().is_some_and(|(due, _)| due == Tick::ZERO));
    drop(drain);
    assert_eq!(Rc::strong_count(&payload), 1);
    assert!(heap.is_empty());
    heap.assert_consistent();
}

#[test]
fn a_dropped_heap_drops_its_values() {
    let payload = Rc::new(());
    let mut heap = IndexedHeap::new();
    for n in 0..3_000 {
        heap.insert(Tick::new(n), Rc::clone(&payload));
    }
    drop(heap);
    assert_eq!(Rc::strong_count(&payload), 1);
}
