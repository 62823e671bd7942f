//! segment-growth: threads grow the arena at once. One segment survives, and every thread gets
//! entries of its own.

use wheel_core::{Config, Tick, Wheel};
use wheel_loom_tests::{Census, Value, advance, assert_at_rest, ids_of};
use wheel_sync::{model, thread};

/// Threads that insert a timer each, due at 1, and say whether it was taken.
fn inserters(
    wheel: &Wheel<Value>,
    census: &Census,
    ids: [u32; 2],
) -> [thread::JoinHandle<bool>; 2] {
    ids.map(|id| {
        let (wheel, value) = (wheel.clone(), census.value(id));
        thread::spawn(move || wheel.insert(Tick::new(1), value).is_ok())
    })
}

#[test]
fn two_threads_that_grow_the_arena_get_different_entries() {
    model("segment-growth", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let inserters = inserters(&wheel, &census, [1, 2]);
        for inserter in inserters {
            assert!(inserter.join().unwrap());
        }
        assert_eq!(ids_of(&advance(&mut driver, 1)), [1, 2]);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn two_threads_that_need_the_same_segment_share_it() {
    model("segment-growth, one segment", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        // The first segment is used up; the second has room for both threads.
        for id in [1, 2] {
            wheel.insert(Tick::new(1), census.value(id)).unwrap();
        }
        let inserters = inserters(&wheel, &census, [3, 4]);
        for inserter in inserters {
            assert!(inserter.join().unwrap());
        }
        assert_eq!(ids_of(&advance(&mut driver, 1)), [1, 2, 3, 4]);
        assert_at_rest(&mut driver, &census);
    });
}

#[test]
fn a_driver_finds_what_was_inserted_into_a_segment_that_others_make() {
    model("segment-growth, driver", || {
        let census = Census::default();
        let (wheel, mut driver) = Config::new().build();
        let inserters = inserters(&wheel, &census, [1, 2]);
        let mut fired = advance(&mut driver, 1);
        for inserter in inserters {
            assert!(inserter.join().unwrap());
        }
        fired.extend(advance(&mut driver, 1));
        assert_eq!(ids_of(&fired), [1, 2]);
        drop(fired);
        assert_at_rest(&mut driver, &census);
    });
}
