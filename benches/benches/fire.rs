//! Firing: timers due at random within a minute, the clock going on one tick at a time.
//!
//! Only the driver's calls are timed, so the figure is per timer fired and holds its share of empty
//! ticks, of moving timers from coarse to fine levels, and of handing the value over.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::{Duration, Instant};
use wheel_benches::{
    Contestant, LockedHeap, LockedLocalWheel, Random, Tick, WheelAndDriver, in_whole_rounds,
};

const TIMERS: u64 = 100_000;
const MINUTE_TICKS: u64 = 60_000;

/// Time for firing `TIMERS` timers.
fn drain<C: Contestant>() -> Duration {
    let mut random = Random::new(7);
    let mut engine = C::new();
    for index in 0..TIMERS {
        engine.insert(Tick::new(1 + random.below(MINUTE_TICKS)), [index, 0]);
    }
    engine.advance(Tick::new(0));
    let mut fired = 0;
    let started = Instant::now();
    for now in 1..=MINUTE_TICKS {
        fired += engine.advance(Tick::new(now));
    }
    let took = started.elapsed();
    assert_eq!(fired as u64, TIMERS, "{} lost timers", C::NAME);
    took
}

fn measure<C: Contestant>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fire");
    group.throughput(Throughput::Elements(1));
    group.bench_function(
        BenchmarkId::new(C::NAME, format!("{TIMERS} within a minute")),
        |bencher| {
            bencher.iter_custom(|fires| in_whole_rounds(fires, TIMERS, drain::<C>));
        },
    );
    group.finish();
}

fn fire(criterion: &mut Criterion) {
    measure::<WheelAndDriver>(criterion);
    measure::<LockedLocalWheel>(criterion);
    measure::<LockedHeap>(criterion);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = fire
}
criterion_main!(benches);
