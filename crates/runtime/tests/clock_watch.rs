//! What both doors tell of the clocks and of their own driver: jumps by kind and size, and the lag of the
//! driver behind its ticks.

use std::time::{Duration, SystemTime};

use wheel_runtime::{
    ClockJump, ClockJumpKind, Event, EventKind, EventReceiver, InlineExecutor, ManualClock,
    Scheduler, Timers, TimersStats,
};

const HOUR: Duration = Duration::from_secs(3600);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn on_a_manual_clock() -> (ManualClock, Timers) {
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    (clock, timers)
}

fn a_scheduler_by_hand() -> (ManualClock, Scheduler) {
    let clock = ManualClock::new();
    let scheduler = Scheduler::builder().clock(clock.clone());
    let scheduler = scheduler.executor(InlineExecutor).build().unwrap();
    (clock, scheduler)
}

#[test]
fn jumps_are_told_by_direction_with_the_size_of_the_latest() {
    let (clock, scheduler) = a_scheduler_by_hand();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    let set = |back: bool, by| {
        clock.set_wall(match back {
            true => clock.wall() - by,
            false => clock.wall() + by,
        });
    };
    for (back, by) in [
        (false, HOUR),
        (true, ms(1500)),
        (true, ms(500)),
        (true, ms(499)),
    ] {
        set(back, by);
    }
    for jumps in [timers.stats().jumps, scheduler.stats().jumps] {
        assert_eq!((jumps.forward, jumps.back, jumps.total()), (1, 2, 3));
        let last = jumps.last.unwrap();
        assert_eq!((last.kind, last.by), (ClockJumpKind::Back, ms(500)));
        assert_eq!(jumps.of(last.kind), 2);
    }
    let totals = (timers.stats().clock_jumps, scheduler.stats().clock_jumps);
    assert_eq!(totals, (3, 3));
}

#[test]
fn without_a_jump_there_is_no_latest() {
    let (clock, timers) = on_a_manual_clock();
    clock.advance(HOUR * 24 * 365);
    let last: Option<ClockJump> = timers.stats().jumps.last;
    assert_eq!((last, timers.stats().clock_jumps), (None, 0));
}

/// What a scheduler that is just told of jumps has told until now.
fn jumps_told(events: &mut EventReceiver) -> Vec<(SystemTime, ClockJumpKind, Duration)> {
    let told = std::iter::from_fn(|| events.try_recv().ok());
    let jump = |event: Event| match event.kind {
        EventKind::ClockJumped { jump, .. } => {
            assert_eq!((event.task, event.name, event.serial), (None, None, 0));
            (event.at, jump.kind, jump.by)
        }
        other => panic!("{other:?}"),
    };
    told.map(jump).collect()
}

#[test]
fn a_jump_is_an_event_of_the_scheduler_by_the_wall_clock_as_it_reads_then() {
    let (clock, scheduler) = a_scheduler_by_hand();
    let start = clock.wall();
    clock.set_wall(start + HOUR); // Nobody listens yet.
    let mut events = scheduler.events();
    clock.set_wall(start);
    clock.set_wall(start + ms(499)); // A step like this is none.
    clock.set_wall(start + ms(499) + HOUR);
    assert_eq!(
        jumps_told(&mut events),
        [
            (start, ClockJumpKind::Back, HOUR),
            (start + ms(499) + HOUR, ClockJumpKind::Forward, HOUR)
        ]
    );
}

#[test]
fn a_jump_is_told_before_what_it_makes_due_starts() {
    let (clock, scheduler) = a_scheduler_by_hand();
    let at = clock.wall() + HOUR;
    scheduler.at(at, |_| ()).unwrap();
    let events = scheduler.events();
    clock.set_wall(at);
    scheduler.shutdown(Duration::ZERO).unwrap();
    let told: Vec<EventKind> = events.map(|event| event.kind).collect();
    let place = |wanted: fn(&EventKind) -> bool| told.iter().position(wanted);
    let jumped = place(|kind| matches!(kind, EventKind::ClockJumped { .. }));
    let started = place(|kind| matches!(kind, EventKind::Started { .. }));
    assert!(jumped == Some(0) && started.is_some(), "{told:?}");
}

#[test]
fn jumps_that_find_the_queue_of_a_receiver_full_are_lost_to_it_and_hold_nobody_up() {
    let (clock, scheduler) = a_scheduler_by_hand();
    let mut events = scheduler.events_bounded(1);
    let start = clock.wall();
    for n in 1..=3 {
        clock.set_wall(start + HOUR * n);
    }
    assert_eq!(scheduler.stats().jumps.forward, 3);
    assert_eq!(events.dropped(), 2);
    assert_eq!(events.try_recv().unwrap().at, start + HOUR);
    let lost = events.try_recv().unwrap().kind;
    assert!(
        matches!(lost, EventKind::Lost { events: 2, .. }),
        "{lost:?}"
    );
}

fn lag(stats: TimersStats) -> (u64, Duration) {
    (stats.driver_lag.count, stats.driver_lag.max)
}

#[test]
fn a_driver_that_is_in_time_has_no_lag() {
    let (clock, timers) = on_a_manual_clock();
    for n in 1..=10 {
        timers.after(ms(n * 7), || ()).unwrap();
    }
    clock.run_for(ms(100));
    assert_eq!(lag(timers.stats()), (10, Duration::ZERO));
}

#[test]
fn the_lag_is_how_long_after_its_tick_the_driver_came() {
    let (clock, timers) = on_a_manual_clock();
    timers.after(ms(10), || ()).unwrap();
    clock.advance(Duration::ZERO);
    clock.advance(ms(250));
    assert_eq!(lag(timers.stats()), (1, ms(240)));
    assert_eq!(timers.stats().driver_lag.p50, ms(240));
}

#[test]
fn what_was_past_when_it_was_set_is_no_lag_of_the_driver() {
    let (clock, timers) = on_a_manual_clock();
    clock.advance(HOUR);
    let again = timers.clone();
    let at_once = move || drop(again.after(Duration::ZERO, || ()));
    timers.after(Duration::ZERO, at_once).unwrap();
    timers.at(clock.wall() - HOUR, || ()).unwrap();
    clock.advance(Duration::ZERO);
    assert_eq!(timers.stats().fired, 3);
    assert_eq!(lag(timers.stats()), (0, Duration::ZERO));
}

#[test]
fn a_callback_that_takes_long_is_lag_at_the_next_tick() {
    let (clock, timers) = on_a_manual_clock();
    let slow = clock.clone();
    timers.after(ms(10), move || slow.advance(ms(50))).unwrap();
    timers.after(ms(20), || ()).unwrap();
    clock.run_for(ms(100));
    let (count, most) = lag(timers.stats());
    assert_eq!((count, most), (2, ms(40)));
}

#[test]
fn a_scheduler_tells_the_lag_of_its_driver() {
    let (clock, scheduler) = a_scheduler_by_hand();
    scheduler.task("beat").every(ms(100)).run(|_| ()).unwrap();
    clock.run_for(ms(1000));
    assert_eq!(scheduler.stats().driver_lag.max, Duration::ZERO);
    clock.advance(ms(1030));
    let lag = scheduler.stats().driver_lag;
    assert!((10..=20).contains(&lag.count), "{lag:?}");
    assert_eq!(lag.max, ms(930));
}
