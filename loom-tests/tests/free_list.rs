//! free-list and segment-growth: batches of free entries pass between threads, and two threads grow the
//! arena at once. No entry is handed out twice, and one segment survives.

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, advance};
use wheel_sync::{model, thread};

#[test]
fn two_threads_that_grow_the_arena_get_different_entries() {
    model("segment-growth", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let inserters = [1, 2].map(|id| {
            let (wheel, value) = (wheel.clone(), census.value(id));
            thread::spawn(move || wheel.insert(Tick::new(1), value).is_ok())
        });
        assert!(
            inserters
                .into_iter()
                .all(|inserter| inserter.join().unwrap())
        );
        let mut ids: Vec<_> = advance(&mut driver, 1).iter().map(|t| t.value.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [1, 2]);
        assert_eq!(census.alive(), 0);
    });
}

#[test]
fn a_batch_of_free_entries_goes_to_one_thread() {
    model("free-list", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        for id in [1, 2] {
            wheel.insert(Tick::new(1), census.value(id)).unwrap();
        }
        // The batch of both is in stock, and nothing else.
        assert_eq!(advance(&mut driver, 1).len(), 2);
        let inserter = {
            let (wheel, value) = (wheel.clone(), census.value(3));
            thread::spawn(move || wheel.insert(Tick::new(2), value).unwrap())
        };
        let mine = wheel.insert(Tick::new(2), census.value(4)).unwrap();
        let other = inserter.join().unwrap();
        assert_ne!(mine, other);
        let mut ids: Vec<_> = advance(&mut driver, 2).iter().map(|t| t.value.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [3, 4]);
        assert_eq!(census.alive(), 0);
    });
}
