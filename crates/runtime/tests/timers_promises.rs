//! What `Timers` promises, on a clock that is moved by hand: exact ticks, no sleeping.

mod manual_bench;

use std::sync::mpsc;
use std::time::{Duration, UNIX_EPOCH};

use manual_bench::{Bench, days, ms};
use wheel_runtime::{BuildError, ManualClock, TimerKey, Timers};
use wheel_sync::atomic::{AtomicUsize, Ordering};
use wheel_sync::{Arc, Mutex, thread};

#[test]
fn a_delay_is_rounded_up_to_the_tick() {
    let bench = Bench::new();
    bench.after(Duration::from_nanos(1), 1);
    bench.after(ms(2), 2);
    bench.after(ms(2) + Duration::from_nanos(1), 3);
    bench.clock.run_for(ms(10));
    assert_eq!(bench.ran(), [(1, ms(1)), (2, ms(2)), (3, ms(3))]);
}

#[test]
fn a_fine_tick_rounds_up_to_itself() {
    let clock = ManualClock::new();
    let timers = Timers::builder()
        .clock(clock.clone())
        .tick(Duration::from_micros(10))
        .build()
        .unwrap();
    let (sent, ran) = mpsc::channel();
    let now = clock.clone();
    timers
        .after(Duration::from_micros(123), move || {
            sent.send(now.now()).unwrap();
        })
        .unwrap();
    clock.run_for(ms(1));
    assert_eq!(ran.try_recv(), Ok(Duration::from_micros(130)));
}

// EA-04
#[test]
fn lateness_does_not_depend_on_the_phase_in_which_the_engine_started() {
    let micros = Duration::from_micros;
    let mut late_in_all = Vec::new();
    for phase in (0..1000).step_by(20) {
        let bench = Bench::new();
        bench.clock.advance(micros(phase));
        let timers = Timers::builder()
            .clock(bench.clock.clone())
            .build()
            .unwrap();
        let start = bench.clock.now();
        // Spread evenly over one tick, so that every part of it is asked for.
        for name in 0..100 {
            timers.after(ms(3), bench.note(name)).unwrap();
            bench.clock.advance(micros(10));
        }
        bench.clock.run_for(ms(10));
        let ran = bench.ran();
        assert_eq!(ran.len(), 100, "phase {phase} us");
        let late = ran.into_iter().map(|(name, at)| {
            let due = start + micros(10) * name + ms(3);
            let late = at.checked_sub(due).expect("it ran early");
            assert!(late < ms(1), "{late:?} late at phase {phase} us");
            late
        });
        late_in_all.push(late.sum::<Duration>());
    }
    let same = late_in_all.iter().all(|late| *late == late_in_all[0]);
    assert!(same, "by phase: {late_in_all:?}");
}

// ZP-03
#[test]
fn zero_and_the_past_run_once_and_not_inside_the_call() {
    let bench = Bench::new();
    bench.clock.advance(ms(5));
    let wall = bench.clock.wall();
    let (enter, entered) = mpsc::channel::<()>();
    // The driver is kept busy, so whatever ran before it is free ran inside the call.
    let (busy, is_busy) = mpsc::channel();
    bench
        .timers
        .after(Duration::ZERO, move || {
            busy.send(()).unwrap();
            entered.recv().unwrap();
        })
        .unwrap();
    is_busy.recv().unwrap();
    bench.after(Duration::ZERO, 1);
    let past = [wall - ms(46), wall - days(365), UNIX_EPOCH, wall];
    for (name, at) in (2..).zip(past) {
        bench.timers.at(at, bench.note(name)).unwrap();
    }
    assert!(bench.ran().is_empty());
    enter.send(()).unwrap();
    bench.clock.advance(Duration::ZERO);
    let mut ran = bench.ran();
    ran.sort_unstable();
    assert_eq!(ran, [1, 2, 3, 4, 5].map(|name| (name, ms(5))));
}

// OV-01, OV-05
#[test]
fn the_longest_delays_are_never_and_can_be_cancelled() {
    let bench = Bench::new();
    let never = [Duration::MAX, Duration::from_secs(i64::MAX as u64)].map(|d| bench.after(d, 0));
    let far_wall = UNIX_EPOCH + Duration::from_secs(i64::MAX as u64 / 2);
    let wall = bench.timers.at(far_wall, bench.note(0)).unwrap();
    bench.after(ms(10), 1);
    bench.clock.advance(days(365 * 500));
    assert_eq!(bench.ran().len(), 1, "only the 10 ms one runs");
    assert_eq!(bench.timers.len(), 3);
    for key in never.into_iter().chain([wall]) {
        assert!(bench.timers.cancel(key));
    }
    assert!(bench.timers.is_empty());
}

// OV-08
#[test]
fn delays_of_years_run_on_their_own_millisecond() {
    let bench = Bench::new();
    let delays = [days(249), days(3 * 365), days(100 * 365)];
    for (name, delay) in (0..).zip(delays) {
        bench.after(delay, name);
    }
    let cancelled = bench.after(days(10), 9);
    assert!(bench.timers.cancel(cancelled));
    for (name, delay) in (0..).zip(delays) {
        bench.clock.advance(delay - bench.clock.now() - ms(1));
        assert_eq!(bench.ran().len(), name as usize, "{delay:?} ran early");
        bench.clock.advance(ms(1));
        assert_eq!(bench.ran().last(), Some(&(name, delay)));
    }
}

// CA-01
#[test]
fn cancel_after_the_run_returns_false() {
    let bench = Bench::new();
    let key = bench.after(ms(1), 1);
    bench.clock.advance(ms(1));
    assert!(!bench.timers.cancel(key));
    assert!(!bench.timers.cancel(key));
    assert!(bench.timers.reset(key, ms(1)).is_none());
    assert_eq!(bench.ran(), [(1, ms(1))]);
}

// CA-05
#[test]
fn a_callback_may_cancel_others_of_its_own_tick() {
    let bench = Bench::new();
    let keys = Arc::new(Mutex::new(Vec::<(u32, TimerKey)>::new()));
    let cancelled = Arc::new(Mutex::new(Vec::new()));
    for name in 0..3 {
        let (timers, keys_of, cancelled) = (
            bench.timers.clone(),
            Arc::clone(&keys),
            Arc::clone(&cancelled),
        );
        let note = bench.note(name);
        let callback = move || {
            note();
            for (other, key) in keys_of.lock().iter() {
                if timers.cancel(*key) {
                    cancelled.lock().push(*other);
                }
            }
        };
        let key = bench.timers.after(ms(1), callback).unwrap();
        keys.lock().push((name, key));
    }
    bench.clock.advance(ms(1));
    let mut all: Vec<u32> = bench.ran().iter().map(|entry| entry.0).collect();
    all.append(&mut cancelled.lock());
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2], "each ran or was cancelled, and not both");
    assert!(bench.timers.is_empty());
}

// HD-02
#[test]
fn only_the_new_timer_runs_after_a_cancel_and_a_new_insert() {
    let bench = Bench::new();
    let old = bench.after(ms(60), 1);
    assert!(bench.timers.cancel(old));
    bench.after(ms(150), 2);
    assert!(!bench.timers.cancel(old), "the old key found the new timer");
    bench.clock.run_for(ms(300));
    assert_eq!(bench.ran(), [(2, ms(150))]);
}

#[test]
fn a_key_of_another_engine_does_nothing() {
    let (one, other) = (Bench::new(), Bench::new());
    let wheel = one.after(ms(10), 1);
    let wall = one
        .timers
        .at(one.clock.wall() + ms(10), one.note(2))
        .unwrap();
    other.after(ms(10), 3);
    let at = other.clock.wall() + ms(10);
    other.timers.at(at, other.note(4)).unwrap();
    for key in [wheel, wall] {
        assert!(!other.timers.cancel(key));
        assert!(other.timers.reset(key, ms(1)).is_none());
    }
    assert_eq!(other.timers.len(), 2);
    assert_eq!(one.timers.len(), 2);
}

// LV-12, WK-05
#[test]
fn a_reset_timer_runs_once_at_its_last_due_earlier_or_later() {
    let bench = Bench::new();
    let later = bench.after(ms(50), 1);
    bench.after(ms(200), 2);
    let earlier = bench.after(Duration::from_secs(10), 3);
    let later = bench.timers.reset(later, ms(400)).unwrap();
    bench.timers.reset(earlier, ms(20)).unwrap();
    assert!(!bench.timers.cancel(earlier), "the key of before the reset");
    bench.clock.run_for(Duration::from_secs(20));
    assert_eq!(bench.ran(), [(3, ms(20)), (2, ms(200)), (1, ms(400))]);
    assert!(!bench.timers.cancel(later));
}

// RE-02
#[test]
fn a_callback_may_use_the_engine_that_calls_it() {
    let bench = Bench::new();
    let (timers, note) = (bench.timers.clone(), bench.note(2));
    let doomed = bench.after(ms(100), 9);
    bench
        .timers
        .after(ms(10), move || {
            assert_eq!(timers.len(), 1);
            let key = timers.after(ms(5), note).unwrap();
            let key = timers.reset(key, ms(7)).unwrap();
            assert!(timers.cancel(doomed));
            assert_eq!(timers.stats().pending, 1);
            let _ = key;
        })
        .unwrap();
    bench.clock.run_for(ms(200));
    assert_eq!(bench.ran(), [(2, ms(17))]);
    assert_eq!(bench.timers.stats().panics, 0);
}

// RE-04
#[test]
fn an_endless_chain_of_zero_delays_starves_nobody() {
    fn link(timers: Timers, left: Arc<AtomicUsize>) {
        if left.fetch_sub(1, Ordering::Relaxed) > 1 {
            let again = timers.clone();
            timers
                .after(Duration::ZERO, move || link(again, left))
                .unwrap();
        }
    }
    let bench = Bench::new();
    let left = Arc::new(AtomicUsize::new(100_000));
    // The chain is still going when the time of the other comes, moved by the chain's own callback.
    let (clock, chain, seen) = (bench.clock.clone(), Arc::clone(&left), Arc::clone(&left));
    let timers = bench.timers.clone();
    let (sent, left_then) = mpsc::channel();
    bench
        .timers
        .after(ms(50), move || {
            sent.send(seen.load(Ordering::Relaxed)).unwrap();
        })
        .unwrap();
    bench
        .timers
        .after(Duration::ZERO, move || {
            clock.advance(ms(50));
            link(timers, chain);
        })
        .unwrap();
    bench.clock.advance(Duration::ZERO);
    assert_eq!(left.load(Ordering::Relaxed), 0, "the chain ran to its end");
    let left_then = left_then.recv().unwrap();
    assert!(left_then > 0, "the other timer ran after the whole chain");
}

#[test]
fn after_a_jump_everything_due_has_run_in_order_when_advance_returns() {
    let bench = Bench::new();
    for name in [5000, 5, 500, 50] {
        bench.after(ms(u64::from(name)), name);
    }
    bench.clock.advance(ms(6000));
    let order: Vec<u32> = bench.ran().iter().map(|entry| entry.0).collect();
    assert_eq!(order, [5, 50, 500, 5000]);
    assert_eq!(bench.timers.stats().lateness.max, ms(5995));
}

#[test]
fn one_clock_drives_several_engines() {
    let bench = Bench::new();
    let second = Timers::builder()
        .clock(bench.clock.clone())
        .build()
        .unwrap();
    bench.after(ms(10), 1);
    second.after(ms(5), bench.note(2)).unwrap();
    second.after(ms(15), bench.note(3)).unwrap();
    bench.clock.run_for(ms(12));
    assert_eq!(bench.ran(), [(2, ms(5)), (1, ms(10))]);
    second.shutdown();
    bench.clock.run_for(ms(12));
    assert_eq!(bench.ran().len(), 2);
}

#[test]
fn concurrent_movers_of_the_clock_add_up_and_lose_nothing() {
    let bench = Bench::new();
    for name in 0..200 {
        bench.after(ms(u64::from(name)), name);
    }
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..50 {
                    bench.clock.advance(ms(1));
                    bench.clock.run_for(ms(1));
                }
            });
        }
    });
    assert_eq!(bench.clock.now(), ms(200));
    let mut names: Vec<u32> = bench.ran().iter().map(|entry| entry.0).collect();
    names.sort_unstable();
    assert_eq!(names, Vec::from_iter(0..200));
}

#[test]
fn impossible_settings_are_refused() {
    let tick = Timers::builder().tick(Duration::from_micros(7)).build();
    assert!(matches!(tick, Err(BuildError::Tick(_))));
    let none = Timers::builder().max_timers(0).build();
    assert!(matches!(none, Err(BuildError::OutOfRange { .. })));
    let spin = Timers::builder().precise_wait(Duration::MAX).build();
    assert!(matches!(spin, Err(BuildError::OutOfRange { .. })));
}

/// One that is due now lies below thousands that are not, which the driver looks at first.
#[test]
fn what_is_due_is_handed_over_before_the_clock_moves_however_much_came_after_it() {
    const LATER: usize = 5_000;
    let clock = ManualClock::new();
    let timers = Arc::new(Timers::builder().clock(clock.clone()).build().unwrap());
    let (sent, ran) = mpsc::channel();
    let inside = Arc::clone(&timers);
    let flood = move || {
        let due = move || sent.send(()).unwrap();
        inside.after(Duration::ZERO, due).unwrap();
        for _ in 0..LATER {
            inside.after(days(1), || ()).unwrap();
        }
    };
    timers.after(ms(1), flood).unwrap();
    clock.advance(ms(1));
    assert_eq!(ran.try_recv(), Ok(()), "advance returned before it had run");
    assert_eq!(timers.shutdown(), LATER);
}
