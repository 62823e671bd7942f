//! Values whose `Drop` panics, and `fire` that does, in the heap as a scheduler of its own: what is
//! left is pending, and the heap goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use wheel_core::{Budget, Tick};
use wheel_overflow::{HeapKey, HeapTimers};

/// A value that counts itself, and panics as it is dropped if it is armed.
struct Value {
    alive: Rc<Cell<usize>>,
    armed: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - 1);
        assert!(!self.armed, "a value of this test panics");
    }
}

#[derive(Default)]
struct Scene {
    timers: HeapTimers<Value>,
    alive: Rc<Cell<usize>>,
}

impl Scene {
    fn add(&mut self, due: u64, armed: bool) -> HeapKey {
        self.alive.set(self.alive.get() + 1);
        let alive = Rc::clone(&self.alive);
        self.timers.insert(Tick::new(due), Value { alive, armed })
    }

    fn assert_left(&self, left: usize) {
        assert_eq!((self.alive.get(), self.timers.len()), (left, left));
    }
}

fn caught<R>(call: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

#[test]
fn a_value_that_panics_at_cancel_is_gone() {
    let mut scene = Scene::default();
    let keys: Vec<_> = (0..100).map(|due| scene.add(due, true)).collect();
    for (n, key) in keys.into_iter().enumerate() {
        assert!(caught(|| drop(scene.timers.cancel(key))));
        assert!(scene.timers.cancel(key).is_none());
        assert!(!scene.timers.reset(key, Tick::new(1)));
        scene.assert_left(99 - n);
    }
}

#[test]
fn a_fire_that_panics_has_fired_that_timer_and_no_other() {
    for budget in [1, 3, usize::MAX] {
        let mut scene = Scene::default();
        for n in 0..100 {
            scene.add(n / 10, n % 3 == 0);
        }
        let (mut calls, mut panics) = (0, 0);
        while !scene.timers.is_empty() {
            let before = scene.timers.len();
            let call = catch_unwind(AssertUnwindSafe(|| {
                let budget = Budget::new(budget);
                scene
                    .timers
                    .advance(Tick::new(9), budget, |_, value| drop(value))
            }));
            let left = scene.timers.len();
            scene.assert_left(left);
            assert!(left < before, "a call that fires nothing");
            panics += usize::from(call.is_err());
            calls += 1;
        }
        assert_eq!(panics, 34, "in {calls} calls");
        let kept = scene.add(20, false);
        assert!(scene.timers.cancel(kept).is_some());
    }
}

#[test]
fn values_that_all_panic_as_they_are_drained_or_dropped_with_the_heap_are_all_dropped() {
    for taken in [None, Some(0), Some(1), Some(30), Some(50)] {
        let mut scene = Scene::default();
        for due in 0..50 {
            scene.add(due, true);
        }
        match taken {
            None => assert!(caught(|| drop(std::mem::take(&mut scene.timers)))),
            Some(taken) => {
                let mut drain = scene.timers.drain();
                for _ in 0..taken {
                    assert!(caught(|| drop(drain.next())));
                }
                assert_eq!(caught(|| drop(drain)), taken < 50);
            }
        }
        scene.assert_left(0);
        let kept = scene.add(20, false);
        assert!(scene.timers.cancel(kept).is_some());
    }
}

#[test]
fn a_drain_that_unwinds_drops_the_rest() {
    let mut scene = Scene::default();
    for due in 0..50 {
        scene.add(due, due % 7 == 0);
    }
    assert!(caught(|| scene.timers.drain().for_each(drop)));
    scene.assert_left(0);
}
