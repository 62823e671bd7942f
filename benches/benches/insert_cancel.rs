//! The usual life of a timeout: inserted, and cancelled before it fires.
//!
//! A window of 1024 timeouts of 30 s is open at any time; each step inserts one and cancels the
//! oldest. Every 1024 pairs a millisecond has passed and the driver runs, on the same thread, so
//! its work is in the figure. After 31 million pairs the driver comes to where the first ones
//! stood.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use wheel_benches::{Contestant, LockedHeap, LockedLocalWheel, Tick, WheelAndDriver};

const WINDOW: usize = 1024;
const TIMEOUT_TICKS: u64 = 30_000;

/// A service with `WINDOW` open timeouts, and `standing` others that nobody touches.
struct Service<C: Contestant> {
    engine: C,
    open: Vec<C::Key>,
    oldest: usize,
    now: u64,
}

impl<C: Contestant> Service<C> {
    fn new(standing: u64) -> Self {
        let mut engine = C::new();
        // Spread over 16 to 24 hours, which no run reaches.
        for index in 0..standing {
            engine.insert(
                Tick::new(57_600_000 + index * 28_800_000 / standing),
                [index, 0],
            );
        }
        let open = (0..WINDOW)
            .map(|index| engine.insert(Tick::new(TIMEOUT_TICKS), [index as u64, 0]))
            .collect();
        engine.advance(Tick::new(0));
        Service {
            engine,
            open,
            oldest: 0,
            now: 0,
        }
    }

    fn pair(&mut self) {
        let key = self
            .engine
            .insert(Tick::new(self.now + TIMEOUT_TICKS), [self.now, 1]);
        let oldest = std::mem::replace(&mut self.open[self.oldest], key);
        assert!(
            black_box(self.engine.cancel(oldest)).is_some(),
            "a timeout is gone at tick {}",
            self.now
        );
        self.oldest += 1;
        if self.oldest == WINDOW {
            self.oldest = 0;
            self.now += 1;
            self.engine.advance(Tick::new(self.now));
        }
    }
}

fn measure<C: Contestant>(criterion: &mut Criterion, standing: u64) {
    let mut group = criterion.benchmark_group("insert_cancel");
    group.throughput(Throughput::Elements(1));
    let mut service = Service::<C>::new(standing);
    group.bench_function(
        BenchmarkId::new(C::NAME, format!("{standing} others")),
        |bencher| {
            bencher.iter(|| service.pair());
        },
    );
    group.finish();
}

fn insert_cancel(criterion: &mut Criterion) {
    for standing in [0, 1_000_000] {
        measure::<WheelAndDriver>(criterion, standing);
        measure::<LockedLocalWheel>(criterion, standing);
        measure::<LockedHeap>(criterion, standing);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30);
    targets = insert_cancel
}
criterion_main!(benches);
