//! The picture of a running engine, through both doors: what it adds up to, and that asking for it
//! neither hangs nor holds anybody up.

use std::sync::mpsc;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, SystemTime};

use wheel_runtime::{
    EngineSnapshot, InlineExecutor, ManualClock, Pool, Scheduler, SnapshotError, Timers,
};
use wheel_testkit::{Random, seeds};

const MS: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(86_400);

fn on_a_manual_clock() -> (ManualClock, Timers) {
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    (clock, timers)
}

fn assert_adds_up(seen: &EngineSnapshot, pending: usize) {
    assert_eq!(seen.pending(), pending, "{seen:?}");
    let wheel = &seen.wheel;
    let everywhere = wheel.placed() + wheel.intake;
    assert_eq!(everywhere, wheel.live + wheel.vacant, "{seen:?}");
}

/// From 1 to a thousand million, small ones as often as large ones.
fn fraction(random: &mut Random) -> u32 {
    let bits = random.below(30);
    1 + random.below(1 << bits) as u32
}

#[test]
fn all_places_add_up_to_what_is_pending_through_cancels_cascades_and_sweeps() {
    for seed in seeds(10) {
        let mut random = Random::new(seed);
        let (clock, timers) = on_a_manual_clock();
        let (mut keys, mut vacant, mut far) = (Vec::new(), 0, 0);
        for _ in 0..20 {
            for _ in 0..random.below(1_000) {
                let delay = DAY * 4 / fraction(&mut random);
                keys.push(timers.after(delay, || ()).unwrap());
                if random.one_in(20) {
                    keys.push(timers.at(clock.wall() + delay, || ()).unwrap());
                }
            }
            assert_adds_up(&timers.snapshot().unwrap(), timers.len());
            keys.retain(|&key| random.one_in(3) || !timers.cancel(key));
            clock.run_for(DAY / fraction(&mut random));
            let seen = timers.snapshot().unwrap();
            assert_adds_up(&seen, timers.len());
            vacant += seen.wheel.vacant;
            far += seen.wheel.overflow;
        }
        assert!(
            vacant > 0 && far > 0,
            "seed {seed}: nothing was cancelled or far"
        );
        clock.run_for(DAY * 5);
        let seen = timers.snapshot().unwrap();
        assert_adds_up(&seen, 0);
        assert_eq!(seen.wheel.placed() + seen.wheel.vacant, 0, "{seen:?}");
    }
}

#[test]
fn a_slot_tells_how_many_timers_it_holds() {
    let (clock, timers) = on_a_manual_clock();
    for _ in 0..3 {
        timers.after(250 * MS, || ()).unwrap();
    }
    timers.after(Duration::from_secs(70), || ()).unwrap();
    timers
        .at(SystemTime::UNIX_EPOCH + DAY * 20_000, || ())
        .unwrap();
    timers.after(DAY * 9, || ()).unwrap();
    let seen = timers.snapshot().unwrap();
    let held = |level: usize| seen.wheel.levels[level].entries();
    assert_eq!([0, 1, 2, 3].map(held), [3, 1, 0, 0]);
    assert_eq!(seen.wheel.levels[0].this_turn[250], 3);
    assert_eq!((seen.wheel.overflow, seen.wall, seen.tick), (1, 1, MS));
    clock.run_for(250 * MS);
    let seen = timers.snapshot().unwrap();
    assert_eq!(
        (seen.wheel.levels[0].entries(), seen.wheel.levels[0].hand),
        (0, 251)
    );
}

#[test]
fn a_driver_that_sleeps_for_ever_is_woken_for_it() {
    let timers = Timers::builder().build().unwrap();
    for pending in 0..100 {
        assert_adds_up(&timers.snapshot().unwrap(), pending);
        timers.after(DAY, || ()).unwrap();
    }
}

/// What a callback is told that asks where it is called.
fn asked_by_a_callback(timers: &Timers) -> mpsc::Receiver<Result<(), SnapshotError>> {
    let (tell, told) = mpsc::channel();
    let inside = timers.clone();
    let ask = move || tell.send(inside.snapshot().map(|_| ())).unwrap();
    timers.after(MS, ask).unwrap();
    told
}

#[test]
fn on_the_driver_thread_it_is_refused_and_on_a_worker_it_is_not() {
    let (clock, timers) = on_a_manual_clock();
    let told = asked_by_a_callback(&timers);
    clock.run_for(MS);
    assert_eq!(told.recv(), Ok(Err(SnapshotError::OnDriverThread)));

    let pool = Arc::new(Pool::builder().workers(1).build().unwrap());
    let timers = Timers::builder()
        .executor(Arc::clone(&pool))
        .build()
        .unwrap();
    let told = asked_by_a_callback(&timers);
    assert_eq!(told.recv(), Ok(Ok(())));
}

#[test]
fn a_handler_gets_one_unless_it_runs_on_the_driver_thread() {
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone());
    let inline = builder.executor(InlineExecutor).build().unwrap();
    let pooled = Scheduler::builder()
        .clock(clock.clone())
        .workers(1)
        .build()
        .unwrap();
    let (tell, told) = mpsc::channel();
    for scheduler in [&inline, &pooled] {
        let (tell, inside) = (tell.clone(), scheduler.clone());
        let look = move |_: &wheel_runtime::Context| tell.send(inside.snapshot().err()).unwrap();
        scheduler.task("look").after(MS).run(look).unwrap();
        clock.run_for(MS);
    }
    assert_eq!(told.recv(), Ok(Some(SnapshotError::OnDriverThread)));
    assert_eq!(told.recv(), Ok(None));
}

#[test]
fn after_the_shutdown_it_is_refused() {
    let (_clock, timers) = on_a_manual_clock();
    timers.shutdown();
    assert_eq!(timers.snapshot().unwrap_err(), SnapshotError::Closed);
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(scheduler.snapshot().unwrap_err(), SnapshotError::Closed);
}

/// A callback that holds the driver up until the other end is dropped.
fn hold_up(timers: &Timers) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let (tell, begun) = mpsc::channel();
    let callback = move || {
        tell.send(()).unwrap();
        let _ = held.recv();
    };
    timers.after(Duration::ZERO, callback).unwrap();
    begun.recv().unwrap();
    release
}

#[test]
fn whoever_asks_a_driver_that_is_held_up_is_told_so_and_does_not_hang() {
    let timers = Timers::builder().build().unwrap();
    let release = hold_up(&timers);
    assert_eq!(timers.snapshot().unwrap_err(), SnapshotError::Busy);
    drop(release);
    assert_adds_up(&timers.snapshot().unwrap(), 0);
}

#[test]
fn whoever_waits_for_an_engine_that_closes_is_told_so() {
    const ASK: usize = 20;
    let timers = Timers::builder().build().unwrap();
    let release = hold_up(&timers);
    let all = Barrier::new(ASK + 1);
    thread::scope(|scope| {
        let asks = || {
            all.wait();
            timers.snapshot()
        };
        let asked = [(); ASK].map(|()| scope.spawn(asks));
        all.wait();
        scope.spawn(|| timers.shutdown());
        while timers.after(DAY, || ()).is_ok() {}
        drop(release);
        // One pass may still answer some of them.
        let answers = asked.map(|asker| asker.join().unwrap());
        let closed = |answer: &&Result<_, _>| **answer == Err(SnapshotError::Closed);
        assert!(answers.iter().filter(closed).count() > ASK / 2);
        assert!(!answers.contains(&Err(SnapshotError::Busy)));
    });
}

#[test]
fn many_ask_while_others_insert_and_cancel_and_all_are_answered() {
    let timers = Timers::builder().build().unwrap();
    let start = Barrier::new(12);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                for round in 0..20_000u32 {
                    let key = timers.after(MS * (1 + round % 5_000), || ()).unwrap();
                    if round % 4 > 0 {
                        timers.cancel(key);
                    }
                }
            });
        }
        for _ in 0..10 {
            scope.spawn(|| {
                start.wait();
                for _ in 0..50 {
                    let seen = timers.snapshot().unwrap();
                    assert!(seen.pending() <= 40_000, "{seen:?}");
                }
            });
        }
    });
    let seen = timers.snapshot().unwrap();
    let wheel = &seen.wheel;
    assert_eq!(wheel.placed() + wheel.intake, wheel.live + wheel.vacant);
}
