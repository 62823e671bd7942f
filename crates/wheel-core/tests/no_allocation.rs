//! Once warm, no insert, cancel, reset or advance allocates. Alone in its process: it counts
//! allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;

use wheel_core::{Budget, Config, Driver, Key, Tick, Wheel};
use wheel_testkit::Random;

struct Counting;

thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

// SAFETY: passes everything on to the system's allocator as it came, and counts in a plain cell
// that has no destructor and does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: came from `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this thread during `run`.
fn allocations(run: impl FnOnce()) -> usize {
    let before = COUNT.get();
    run();
    COUNT.get() - before
}

struct Bench {
    wheel: Wheel<[u64; 2]>,
    driver: Driver<[u64; 2]>,
    keys: VecDeque<Key>,
    random: Random,
    now: u64,
}

impl Bench {
    fn new() -> Bench {
        let (wheel, driver) = Config::new().build();
        Bench {
            wheel,
            driver,
            keys: VecDeque::with_capacity(3_000),
            random: Random::new(7),
            now: 0,
        }
    }

    /// Timers come, are cancelled, reset or fire, for some ticks.
    fn run(&mut self, ticks: u64, due: impl Fn(&mut Random) -> u64) {
        for _ in 0..ticks {
            for _ in 0..8 {
                let due = Tick::new(self.now + due(&mut self.random));
                self.keys.push_back(self.wheel.insert(due, [1, 2]).unwrap());
            }
            while self.keys.len() > 2_000 {
                let key = self.keys.pop_front().unwrap();
                self.wheel.cancel(key);
            }
            let at = self.random.below(self.keys.len() as u64) as usize;
            let due = Tick::new(self.now + due(&mut self.random));
            if let Some(key) = self.wheel.reset(self.keys[at], due) {
                self.keys[at] = key;
            }
            self.now += 1;
            self.driver
                .advance(Tick::new(self.now), Budget::UNLIMITED, drop);
            self.driver.next_due();
        }
    }
}

#[test]
fn the_count_counts() {
    assert_eq!(allocations(|| drop(Box::new([0_u8; 100]))), 1);
}

#[test]
fn timeouts_of_one_length() {
    let mut bench = Bench::new();
    bench.run(5_000, |_| 30_000);
    assert_eq!(allocations(|| bench.run(5_000, |_| 30_000)), 0);
}

#[test]
fn random_timeouts_that_fire_or_are_cancelled() {
    let mut bench = Bench::new();
    let dues = |random: &mut Random| random.below(400);
    bench.run(10_000, dues);
    assert_eq!(allocations(|| bench.run(10_000, dues)), 0);
}

#[test]
fn random_timeouts_on_several_levels() {
    let mut bench = Bench::new();
    let dues = |random: &mut Random| random.below(100_000);
    bench.run(60_000, dues);
    assert_eq!(allocations(|| bench.run(10_000, dues)), 0);
}
