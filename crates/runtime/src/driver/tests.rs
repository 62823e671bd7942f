//! The engine by promise, below the doors: on a manual clock, with a sink that writes down.

use std::sync::Arc;
use std::time::Duration;

use wheel_sync::Mutex;

use super::*;
use crate::clock::{ClockJumpKind, ManualClock};

type Log = Arc<Mutex<Vec<(u32, Duration)>>>;

struct Writer(Log);

impl Sink<u32> for Writer {
    fn fire(&mut self, timer: DueTimer<u32>) {
        let at = timer.now.since(Moment::ZERO);
        self.0.lock().push((timer.value, at));
    }
}

fn engine(clock: impl Into<Clock>) -> (Engine<u32>, Log) {
    let log = Log::default();
    let settings = EngineSettings {
        clock: Some(clock.into()),
        ..EngineSettings::default()
    };
    let config = settings.checked("test-driver".to_owned());
    let config = config.expect("the defaults are possible");
    let engine = Engine::start(config, Writer(Arc::clone(&log))).expect("a thread");
    (engine, log)
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn a_timer_fires_on_its_tick_and_not_before() {
    let clock = ManualClock::new();
    let (engine, log) = engine(clock.clone());
    engine.after(ms(10), 1).unwrap();
    clock.advance(Duration::from_nanos(9_999_999));
    assert!(log.lock().is_empty());
    clock.advance(Duration::from_nanos(1));
    assert_eq!(*log.lock(), [(1, ms(10))]);
}

#[test]
fn run_for_fires_each_at_its_own_tick() {
    let clock = ManualClock::new();
    let (engine, log) = engine(clock.clone());
    for n in [5, 1, 3] {
        engine.after(ms(u64::from(n) * 100), n).unwrap();
    }
    clock.run_for(ms(1000));
    assert_eq!(*log.lock(), [(1, ms(100)), (3, ms(300)), (5, ms(500))]);
    assert_eq!(engine.stats().lateness.max, Duration::ZERO);
}

#[test]
fn wall_timers_follow_the_steps_of_the_wall_clock_and_others_do_not() {
    let clock = ManualClock::new();
    let (engine, log) = engine(clock.clone());
    let start = clock.wall();
    engine.at_wall(start + ms(2000), 1).unwrap();
    engine.after(ms(2000), 2).unwrap();
    clock.advance(ms(500));
    clock.set_wall(start - Duration::from_secs(3600));
    clock.advance(ms(1500));
    assert_eq!(*log.lock(), [(2, ms(2000))]);
    clock.set_wall(start + ms(2000));
    assert_eq!(*log.lock(), [(2, ms(2000)), (1, ms(2000))]);
    assert_eq!(engine.stats().driver.jumps.total(), 2);
}

/// Writes down the jumps that it is told of, with what had fired by then.
struct Jumps(Log, Arc<Mutex<Vec<(ClockJump, usize)>>>);

impl Sink<u32> for Jumps {
    fn fire(&mut self, timer: DueTimer<u32>) {
        self.0
            .lock()
            .push((timer.value, timer.now.since(Moment::ZERO)));
    }

    fn clock_jumped(&mut self, jump: ClockJump) {
        self.1.lock().push((jump, self.0.lock().len()));
    }
}

#[test]
fn a_sink_is_told_of_each_jump_with_its_size_before_what_it_makes_due() {
    let (clock, log) = (ManualClock::new(), Log::default());
    let jumps = Arc::default();
    let settings = EngineSettings {
        clock: Some(clock.clone().into()),
        ..EngineSettings::default()
    };
    let config = settings.checked("test-driver".to_owned()).unwrap();
    let sink = Jumps(Arc::clone(&log), Arc::clone(&jumps));
    let engine = Engine::start(config, sink).unwrap();
    let start = clock.wall();
    engine.at_wall(start + ms(60_000), 1).unwrap();
    clock.set_wall(start + ms(90_000));
    clock.set_wall(start);
    // Else it would not know how far the clock had come.
    engine.after(ms(1_000), 2).unwrap();
    clock.advance(ms(1_000));
    clock.go_back(ms(400));
    let told = |kind, by| ClockJump { kind, by };
    let expected = [
        (told(ClockJumpKind::Forward, ms(90_000)), 0),
        (told(ClockJumpKind::Back, ms(90_000)), 1),
        (told(ClockJumpKind::MonotonicBack, ms(400)), 2),
    ];
    assert_eq!(*jumps.lock(), expected);
    assert_eq!(engine.stats().driver.jumps.last, Some(expected[2].0));
}

#[test]
fn close_returns_what_never_fired_once() {
    let clock = ManualClock::new();
    let (engine, log) = engine(clock.clone());
    engine.after(ms(10), 1).unwrap();
    engine.after(Duration::MAX, 2).unwrap();
    engine.at_wall(clock.wall() + ms(5), 3).unwrap();
    let mut left = engine.close();
    left.sort_unstable();
    assert_eq!(left, [1, 2, 3]);
    assert!(engine.close().is_empty());
    assert!(matches!(
        engine.after(ms(1), 4),
        Err(InsertError::Closed(4))
    ));
    assert!(log.lock().is_empty());
}

#[test]
fn cancel_and_reset_of_both_kinds() {
    let clock = ManualClock::new();
    let (engine, log) = engine(clock.clone());
    let cancelled = engine.after(ms(10), 1).unwrap();
    let wall = engine.at_wall(clock.wall() + ms(10), 2).unwrap();
    let moved = engine.at_wall(clock.wall() + ms(10), 3).unwrap();
    assert_eq!(engine.cancel(cancelled), Some(1));
    assert_eq!(engine.cancel(cancelled), None);
    assert_eq!(engine.cancel(wall), Some(2));
    assert_eq!(engine.cancel(wall), None);
    let moved = engine.reset(moved, ms(30)).unwrap();
    let moved = engine.reset(moved, ms(20)).unwrap();
    clock.run_for(ms(100));
    assert_eq!(*log.lock(), [(3, ms(20))]);
    assert!(engine.reset(moved, ms(1)).is_none());
    assert_eq!(engine.len(), 0);
}

#[test]
fn the_real_clock_is_never_early_and_fires_what_is_past_at_once() {
    let (engine, log) = engine(Clock::default());
    engine.after(ms(20), 1).unwrap();
    engine.after(Duration::ZERO, 2).unwrap();
    engine.at_moment(Moment::ZERO, 3).unwrap();
    let begun = engine.clock().now();
    while log.lock().len() < 3 && engine.clock().now().since(begun) < ms(10_000) {
        thread::yield_now();
    }
    let fired: Vec<u32> = log.lock().iter().map(|entry| entry.0).collect();
    assert_eq!(fired.last(), Some(&1), "fired {fired:?}");
    assert!(log.lock()[2].1 >= ms(20));
}
