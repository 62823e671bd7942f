//! Instructions per operation, counted by callgrind: the same on a noisy machine as on a quiet one.
//!
//! `cargo xtask bench --counts` runs this and holds the counts against `benches/counts.json`. Each
//! bench does 1,000 operations on an engine that is warm: it has fired as many before. Counts say
//! nothing of caches, locks and waiting; they say when a change makes the code do more.

#![allow(missing_docs, reason = "the macros make public items")]

use std::hint::black_box;

use gungraun::{library_benchmark, library_benchmark_group, main};
use wheel_benches::Tick;
use wheel_core::{Budget, Config, Driver, Key, LocalWheel, Wheel};
use wheel_overflow::{HeapKey, HeapTimers};

const OPERATIONS: u64 = 1_000;
const TIMEOUT: u64 = 30_000;

type Value = (u64, u64);
type Shared = (Wheel<Value>, Driver<Value>, Vec<Key>);
type Local = (LocalWheel<Value>, Vec<Key>);
type Heap = (HeapTimers<Value>, Vec<HeapKey>);

/// Where the clock stands when an engine is warm.
const NOW: u64 = 2 * (TIMEOUT + OPERATIONS);

fn due(now: u64, index: u64) -> Tick {
    Tick::new(now + TIMEOUT + index)
}

/// A wheel that has fired as many timers before, twice, and has none now.
fn warm() -> Shared {
    let (wheel, mut driver) = Config::new().build();
    for now in [0, NOW / 2] {
        for index in 0..OPERATIONS {
            wheel.insert(due(now, index), (index, 0)).expect("no limit");
        }
        driver.advance(Tick::new(now + NOW / 2), Budget::UNLIMITED, |_| ());
    }
    (wheel, driver, Vec::with_capacity(OPERATIONS as usize))
}

/// The same with timers pending, placed by the driver.
fn filled() -> Shared {
    let (wheel, mut driver, mut keys) = warm();
    keys.extend((0..OPERATIONS).map(|i| wheel.insert(due(NOW, i), (i, 0)).expect("no limit")));
    driver.advance(Tick::new(NOW), Budget::UNLIMITED, |_| ());
    (wheel, driver, keys)
}

#[library_benchmark(setup = warm)]
#[bench::thousand()]
fn wheel_insert((wheel, driver, mut keys): Shared) -> Shared {
    for index in 0..OPERATIONS {
        keys.push(wheel.insert(due(NOW, index), (index, 0)).expect("no limit"));
    }
    (wheel, driver, keys)
}

#[library_benchmark(setup = filled)]
#[bench::thousand()]
fn wheel_cancel((wheel, driver, keys): Shared) -> Shared {
    for &key in &keys {
        black_box(wheel.cancel(key));
    }
    (wheel, driver, keys)
}

#[library_benchmark(setup = filled)]
#[bench::thousand()]
fn wheel_reset((wheel, driver, mut keys): Shared) -> Shared {
    for key in &mut keys {
        *key = wheel
            .reset(*key, Tick::new(NOW + 2 * TIMEOUT))
            .expect("it is pending");
    }
    (wheel, driver, keys)
}

// Tick by tick, the moving from coarse to fine levels and the empty ticks before included.
#[library_benchmark(setup = filled)]
#[bench::thousand()]
fn wheel_fire((wheel, mut driver, keys): Shared) -> Shared {
    let mut fired = 0;
    for now in NOW..=NOW + TIMEOUT + OPERATIONS {
        let fire = |timer: wheel_core::Fired<Value>| {
            black_box(timer.value);
        };
        fired += driver
            .advance(Tick::new(now), Budget::UNLIMITED, fire)
            .fired;
    }
    assert_eq!(fired as u64, OPERATIONS);
    (wheel, driver, keys)
}

// The network pattern: with each that is set the oldest is cancelled.
#[library_benchmark(setup = filled)]
#[bench::thousand()]
fn wheel_pair((wheel, driver, mut keys): Shared) -> Shared {
    for (index, oldest) in (0..).zip(&mut keys) {
        let key = wheel.insert(due(NOW, index), (index, 0));
        let oldest = std::mem::replace(oldest, key.expect("no limit"));
        black_box(wheel.cancel(oldest));
    }
    (wheel, driver, keys)
}

fn local_warm() -> Local {
    let mut wheel: LocalWheel<Value> = Config::new().build_local();
    for now in [0, NOW / 2] {
        for index in 0..OPERATIONS {
            wheel.insert(due(now, index), (index, 0)).expect("no limit");
        }
        wheel.advance(Tick::new(now + NOW / 2), Budget::UNLIMITED, |_| ());
    }
    (wheel, Vec::with_capacity(OPERATIONS as usize))
}

fn local_filled() -> Local {
    let (mut wheel, mut keys) = local_warm();
    keys.extend((0..OPERATIONS).map(|i| wheel.insert(due(NOW, i), (i, 0)).expect("no limit")));
    (wheel, keys)
}

#[library_benchmark(setup = local_warm)]
#[bench::thousand()]
fn local_wheel_insert((mut wheel, mut keys): Local) -> Local {
    for index in 0..OPERATIONS {
        keys.push(wheel.insert(due(NOW, index), (index, 0)).expect("no limit"));
    }
    (wheel, keys)
}

#[library_benchmark(setup = local_filled)]
#[bench::thousand()]
fn local_wheel_cancel((mut wheel, keys): Local) -> Local {
    for &key in &keys {
        black_box(wheel.cancel(key));
    }
    (wheel, keys)
}

#[library_benchmark(setup = local_filled)]
#[bench::thousand()]
fn local_wheel_reset((mut wheel, mut keys): Local) -> Local {
    for key in &mut keys {
        *key = wheel
            .reset(*key, Tick::new(NOW + 2 * TIMEOUT))
            .expect("it is pending");
    }
    (wheel, keys)
}

#[library_benchmark(setup = local_filled)]
#[bench::thousand()]
fn local_wheel_fire((mut wheel, keys): Local) -> Local {
    let mut fired = 0;
    for now in NOW..=NOW + TIMEOUT + OPERATIONS {
        let fire = |timer: wheel_core::Fired<Value>| {
            black_box(timer.value);
        };
        fired += wheel.advance(Tick::new(now), Budget::UNLIMITED, fire).fired;
    }
    assert_eq!(fired as u64, OPERATIONS);
    (wheel, keys)
}

#[library_benchmark(setup = local_filled)]
#[bench::thousand()]
fn local_wheel_pair((mut wheel, mut keys): Local) -> Local {
    for (index, oldest) in (0..).zip(&mut keys) {
        let key = wheel.insert(due(NOW, index), (index, 0));
        let oldest = std::mem::replace(oldest, key.expect("no limit"));
        black_box(wheel.cancel(oldest));
    }
    (wheel, keys)
}

fn heap_filled() -> Heap {
    let mut heap = HeapTimers::new();
    let keys = (0..OPERATIONS).map(|index| heap.insert(due(0, index), (index, 0)));
    let keys = keys.collect();
    (heap, keys)
}

#[library_benchmark(setup = heap_filled)]
#[bench::thousand()]
fn heap_cancel((mut heap, keys): Heap) -> Heap {
    for &key in &keys {
        black_box(heap.cancel(key));
    }
    (heap, keys)
}

#[library_benchmark(setup = heap_filled)]
#[bench::thousand()]
fn heap_fire((mut heap, keys): Heap) -> Heap {
    while let Some((_, value)) = heap.pop_due(Tick::MAX) {
        black_box(value);
    }
    (heap, keys)
}

library_benchmark_group!(
    name = counts,
    benchmarks = [
        wheel_insert,
        wheel_cancel,
        wheel_reset,
        wheel_fire,
        wheel_pair,
        local_wheel_insert,
        local_wheel_cancel,
        local_wheel_reset,
        local_wheel_fire,
        local_wheel_pair,
        heap_cancel,
        heap_fire
    ]
);
main!(library_benchmark_groups = counts);
