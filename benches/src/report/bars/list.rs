//! The bars themselves, in the order of the table. Pure.

use super::{Against, Bar, Better, NO_BAR, Place};
use crate::Workload;
use crate::measure::figure;

const fn of(workload: Workload, pending: u64, engine: &'static str, figure: &'static str) -> Place {
    Place {
        workload,
        pending,
        threads: 1,
        engine,
        figure,
    }
}

const fn on(workload: Workload, threads: usize) -> Place {
    Place {
        workload,
        pending: threads as u64 * 1024,
        threads,
        engine: "wheel",
        figure: figure::MOPS,
    }
}

const fn less(place: Place, against: Against, bar: f64, stretch: f64, unit: &'static str) -> Bar {
    Bar {
        place,
        against,
        better: Better::Less,
        bar,
        stretch,
        unit,
    }
}

const fn more(place: Place, against: Against, bar: f64, stretch: f64, unit: &'static str) -> Bar {
    Bar {
        place,
        against,
        better: Better::More,
        bar,
        stretch,
        unit,
    }
}

const K100: u64 = 100_000;
const M1: u64 = 1_000_000;
const M10: u64 = 10_000_000;
const NS: &str = figure::NS_PER_OP;
const W5: &str = "of what W5 allows";
/// As little as no thread at all uses: what it takes to read the two clocks.
const IDLE_CPU_US: f64 = 10.0;
const PER_THREAD: &str = "mutex_wheel_per_thread";

pub(super) fn bars() -> Vec<Bar> {
    use Against::{Best, Cas, Engine, Itself, Pending};
    use Workload as W;
    let fifo = of(W::PairFifo, K100, "wheel", NS);
    let local = of(W::PairFifo, K100, "local_wheel", NS);
    let random = of(W::PairRandom, M1, "wheel", NS);
    let with_driver = of(W::Insert, M1, "wheel", figure::WITH_DRIVER_NS_PER_OP);
    let late = |engine, figure| of(W::Lateness, 10_000, engine, figure);
    let jitter_held = Place {
        figure: figure::OF_W5,
        ..on(W::MtJitter, 2)
    };
    let storm = |figure| of(W::Memory, M1, "wheel", figure);
    let idle = |figure| of(W::Idle, K100, "wheel", figure);
    let tasks = |figure| of(W::Tasks, M1, "wheel", figure);
    let slow = |figure| of(W::SlowTasks, 500, "wheel", figure);
    let mut all = vec![
        less(fifo, Engine(PER_THREAD), 0.6, 0.45, "x"),
        less(fifo, Engine("heap"), 0.6, 0.45, "x"),
        less(fifo, Engine("tokio"), 0.2, 0.14, "x"),
        less(fifo, Cas, 13.0, 13.0, "ns where a CAS takes 5"),
        less(local, Cas, 8.0, 5.0, "ns where a CAS takes 5"),
    ];
    for threads in [2, 4] {
        all.push(more(on(W::MtLocal, threads), Best(&[]), 1.5, 2.0, "x"));
        all.push(more(
            on(W::MtLocal, threads),
            Best(&[PER_THREAD]),
            6.0,
            10.0,
            "x",
        ));
        all.push(more(on(W::MtRemote, threads), Best(&[]), 1.3, 2.0, "x"));
    }
    all.extend([
        more(on(W::MtJitter, 2), Engine(PER_THREAD), 1.0, 1.5, "x"),
        less(jitter_held, Itself, 1.0, 1.0, W5),
        less(random, Engine("heap"), 1.0, 0.6, "x"),
        less(random, Engine("tokio"), 0.3, 0.3, "x"),
        less(
            of(W::Insert, M1, "wheel", NS),
            Engine("heap"),
            1.3,
            0.8,
            "x",
        ),
        less(with_driver, Engine("heap"), 2.0, 1.3, "x"),
        less(
            of(W::FireAll, M1, "wheel", NS),
            Engine("heap"),
            0.5,
            0.3,
            "x",
        ),
        less(
            of(W::FireAll, M10, "wheel", NS),
            Engine("heap"),
            0.22,
            0.12,
            "x",
        ),
    ]);
    for pending in [M1, M10] {
        let longest = of(W::TickMax, pending, "wheel", figure::TICK_MAX);
        all.push(less(longest, Engine("heap"), 2.0, 1.0, "x"));
        all.push(less(longest, Engine("tokio"), 0.02, 0.02, "x"));
    }
    all.extend([
        less(
            of(W::PairFifo, M10, "wheel", NS),
            Pending(1_000),
            2.0,
            1.3,
            "x",
        ),
        less(
            of(W::Memory, M1, "wheel", figure::BYTES_PER_TIMER),
            Itself,
            56.0,
            44.0,
            "bytes",
        ),
        less(storm(figure::FIXED_OF_W5), Itself, 1.0, 1.0, W5),
        less(storm(figure::OF_W5), Itself, 1.0, 1.0, W5),
        less(storm(figure::WIDE_OF_W5), Itself, 1.0, 1.0, W5),
        less(
            of(W::Sparse, K100, "wheel", NS),
            Itself,
            10_000.0,
            1_000.0,
            "ns",
        ),
        less(
            late("wheel", figure::LATE_P99),
            Engine("tokio"),
            0.6,
            0.6,
            "x",
        ),
        less(
            late("wheel:fine_tick", figure::LATE_P50),
            Itself,
            60.0,
            60.0,
            "us",
        ),
        less(
            late("wheel:fine_tick", figure::LATE_P99),
            Itself,
            120.0,
            120.0,
            "us",
        ),
        less(
            late("wheel:precise_wait", figure::LATE_P50),
            Itself,
            1.0,
            1.0,
            "us",
        ),
        less(
            late("wheel", figure::OUT_OF_ORDER),
            Itself,
            NO_BAR,
            0.0,
            "%",
        ),
        less(idle(figure::WAKE_UPS), Itself, 0.0, 0.0, "a second"),
        less(
            idle(figure::IDLE_CPU),
            Itself,
            IDLE_CPU_US,
            IDLE_CPU_US,
            "us a second",
        ),
        more(tasks("per_s"), Itself, 500_000.0, 1_000_000.0, "a second"),
        less(tasks("start_ms.p99"), Itself, 50.0, 50.0, "ms"),
        less(tasks("insert_s"), Itself, 1.5, 0.7, "s"),
        less(tasks("insert_mb"), Itself, 250.0, 160.0, "MB"),
        less(
            of(W::Storm, M1, "wheel", "next_tick_late_us"),
            Itself,
            1_000.0,
            1_000.0,
            "us",
        ),
        less(
            of(W::Storm, M1, "wheel", "over_pool"),
            Itself,
            1.5,
            1.1,
            "x",
        ),
        less(
            of(W::Timeouts, K100, "wheel", NS),
            Engine("tokio"),
            0.5,
            0.25,
            "x",
        ),
        less(
            of(W::Timeouts, K100, "wheel", figure::PENDING_ONCE_NS),
            Engine("tokio"),
            1.0,
            0.5,
            "x",
        ),
        more(slow("rate_of_best"), Itself, 0.97, 0.97, "x"),
        less(slow("p99_of_best"), Itself, 1.1, 1.1, "x"),
        less(
            slow("threads_used"),
            Itself,
            17.0,
            17.0,
            "threads, the driver with them",
        ),
    ]);
    all
}
