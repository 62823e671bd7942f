//! Inserting timers that stay: due at random within an hour, with the driver placing them.
//!
//! Each round fills a fresh engine with `TIMERS` timers and lets the driver run after every 1024 of
//! them. The first round of an engine pays for its memory; that is part of what a user sees.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use wheel_benches::{
    Contestant, LockedHeap, LockedLocalWheel, Random, Tick, WheelAndDriver, in_whole_rounds,
};

const TIMERS: u64 = 100_000;
const HOUR_TICKS: u64 = 3_600_000;

/// Time for inserting `count` timers into a fresh engine.
fn fill<C: Contestant>(count: u64) -> Duration {
    let mut random = Random::new(7);
    let mut engine = C::new();
    let mut now = 0;
    let started = Instant::now();
    for index in 1..=count {
        engine.insert(
            Tick::new(now + 1_000 + random.below(HOUR_TICKS)),
            [index, 0],
        );
        if index % 1024 == 0 {
            now += 1;
            engine.advance(Tick::new(now));
        }
    }
    engine.advance(Tick::new(now + 1));
    started.elapsed()
}

fn measure<C: Contestant>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("insert");
    group.throughput(Throughput::Elements(1));
    group.bench_function(
        BenchmarkId::new(C::NAME, format!("{TIMERS} within an hour")),
        |bencher| {
            bencher.iter_custom(|inserts| in_whole_rounds(inserts, TIMERS, || fill::<C>(TIMERS)));
        },
    );
    group.finish();
}

fn insert(criterion: &mut Criterion) {
    measure::<WheelAndDriver>(criterion);
    measure::<LockedLocalWheel>(criterion);
    measure::<LockedHeap>(criterion);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = insert
}
criterion_main!(benches);
