//! Micro benches with criterion's statistics and reports, for work on one engine at a time.
//!
//! The same workloads as `cargo xtask bench` runs, at 100 thousand timers, of ours and of what one
//! would write first. Criterion compares with its run before, and writes pages with the
//! distributions to `target/criterion/`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::Duration;
use wheel_benches::Contestant;
use wheel_benches::contestants::{Heap, MutexWheel, OneOwner, WheelAndDriver};
use wheel_benches::workloads::{Service, Shuffle, fill, fill_hour, fire_tick_by_tick};

const TIMERS: u64 = 100_000;
/// Pairs before the first timer of a `Shuffle` comes due, and to spare.
const SHUFFLE_MAX: u64 = 4_000_000;

/// The time for `asked` operations, measured over as many whole rounds of `TIMERS` as cover them.
fn in_whole_rounds(asked: u64, mut round: impl FnMut() -> Duration) -> Duration {
    let rounds = asked.div_ceil(TIMERS);
    let took: Duration = (0..rounds).map(|_| round()).sum();
    let nanos = took.as_nanos() * u128::from(asked) / u128::from(rounds * TIMERS);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

fn measure<C: Contestant>(criterion: &mut Criterion) {
    let mut bench = |name: &str, run: &mut dyn FnMut(u64) -> Duration| {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::from_parameter(C::NAME), |bencher| {
            bencher.iter_custom(&mut *run);
        });
        group.finish();
    };
    let mut service = Service::<C>::new(TIMERS);
    bench("pair_fifo", &mut |pairs| service.pairs(pairs).own);
    bench("pair_random", &mut |pairs| {
        let mut left = pairs;
        let mut took = Duration::ZERO;
        while left > 0 {
            let some = left.min(SHUFFLE_MAX);
            took += Shuffle::<C>::new(TIMERS).pairs(some).own;
            left -= some;
        }
        took
    });
    bench("insert", &mut |inserts| {
        in_whole_rounds(inserts, || {
            let (caller, driver) = fill::<C>(TIMERS);
            caller.own + driver.own
        })
    });
    bench("fire_all", &mut |fires| {
        in_whole_rounds(fires, || {
            let (mut engine, _keys) = fill_hour::<C>(TIMERS);
            let (fired, took) = fire_tick_by_tick(&mut engine);
            assert_eq!(fired, TIMERS, "{} lost timers", C::NAME);
            took.own
        })
    });
}

fn micro(criterion: &mut Criterion) {
    measure::<WheelAndDriver>(criterion);
    measure::<OneOwner>(criterion);
    measure::<Heap>(criterion);
    measure::<MutexWheel>(criterion);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = micro
}
criterion_main!(benches);
