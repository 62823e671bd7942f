//! The walk over the far timers: it removes what is refused, misses nothing, and ends.

use proptest::prelude::*;
use wheel_core::Tick;

use crate::FarHeap;
use crate::quad::Untold;

fn filled(dues: &[u64]) -> FarHeap<usize> {
    let mut heap = FarHeap::of_entries();
    for (entry, &due) in dues.iter().enumerate() {
        heap.quad().push(Tick::new(due), entry, &mut Untold);
    }
    heap
}

fn left(heap: &mut FarHeap<usize>) -> Vec<usize> {
    let mut left: Vec<usize> = std::iter::from_fn(|| heap.quad().pop(&mut Untold))
        .map(|(_, entry)| entry)
        .collect();
    left.sort_unstable();
    left
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn one_round_removes_exactly_what_is_refused(
        timers in prop::collection::vec((0..60_u64, any::<bool>()), 0..300),
        limit in 1..40_usize,
    ) {
        let dues: Vec<u64> = timers.iter().map(|&(due, _)| due).collect();
        let mut heap = filled(&dues);
        let mut looked = 0;
        loop {
            let now = heap.sweep_entries(limit, |entry| timers[entry].1);
            heap.quad().assert_ordered();
            looked += now;
            if now < limit {
                break;
            }
        }
        let refused = timers.iter().filter(|&&(_, keep)| !keep).count();
        prop_assert!(looked <= timers.len() + refused, "looked {looked} times");
        let kept: Vec<usize> = (0..timers.len()).filter(|&entry| timers[entry].1).collect();
        prop_assert_eq!(left(&mut heap), kept);
    }

    #[test]
    fn entries_that_are_taken_meanwhile_hide_no_other(
        timers in prop::collection::vec((0..60_u64, any::<bool>()), 0..300),
        limit in 1..20_usize,
    ) {
        let dues: Vec<u64> = timers.iter().map(|&(due, _)| due).collect();
        let mut heap = filled(&dues);
        let mut taken = Vec::new();
        while heap.sweep_entries(limit, |entry| timers[entry].1) == limit {
            taken.extend(heap.quad().pop(&mut Untold).map(|(_, entry)| entry));
        }
        let mut kept = left(&mut heap);
        prop_assert!(kept.iter().all(|&entry| timers[entry].1), "a refused entry stayed");
        kept.extend(taken.into_iter().filter(|&entry| timers[entry].1));
        kept.sort_unstable();
        let expected: Vec<usize> = (0..timers.len()).filter(|&entry| timers[entry].1).collect();
        prop_assert_eq!(kept, expected);
    }
}

#[test]
fn a_sweep_looks_at_no_more_than_it_may() {
    let mut heap = filled(&[9; 100]);
    let mut looked = 0;
    assert_eq!(
        heap.sweep_entries(7, |_| {
            looked += 1;
            true
        }),
        7
    );
    assert_eq!(looked, 7);
    assert_eq!(
        heap.sweep_entries(0, |_| unreachable!("nothing was asked for")),
        0
    );
}

#[test]
fn a_sweep_goes_on_where_it_ended() {
    let mut heap = filled(&[1, 2, 3, 4, 5]);
    let mut seen = Vec::new();
    for _ in 0..3 {
        heap.sweep_entries(2, |entry| {
            seen.push(entry);
            true
        });
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}

#[test]
fn a_round_that_ends_with_the_limit_is_followed_by_an_empty_call() {
    let mut heap = filled(&[1, 2, 3, 4]);
    assert_eq!(heap.sweep_entries(4, |_| true), 4);
    assert_eq!(heap.sweep_entries(4, |_| true), 0, "the round is over");
    assert_eq!(heap.sweep_entries(5, |_| true), 4, "the next round");
    assert_eq!(filled(&[]).sweep_entries(1, |_| true), 0);
}

#[test]
fn an_entry_that_an_insert_pushed_past_the_walk_is_found_in_the_next_round() {
    // Entry 0 is the root. The walk has looked at all others when a new root pushes it to a place
    // behind.
    let mut heap = filled(&[10, 20, 30, 40]);
    assert_eq!(heap.sweep_entries(3, |entry| entry != 0), 3);
    heap.quad().push(Tick::new(5), 4, &mut Untold);
    assert_eq!(
        heap.sweep_entries(3, |entry| entry != 0),
        1,
        "the new root alone"
    );
    assert_eq!(
        heap.sweep_entries(9, |entry| entry != 0),
        5,
        "the next round"
    );
    assert_eq!(left(&mut heap), [1, 2, 3, 4]);
}
