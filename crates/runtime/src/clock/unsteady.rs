//! Clocks that go back, jump, freeze and suspend, under both doors.
//!
//! A monotonic clock may not go back, but machines were seen whose clock did. It is taken at its
//! word: what is set counts from the reading of that moment, and fires when a reading reaches it.
//! The wall clock steps as it likes, before 1970 as well.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wheel_sync::{Arc, Mutex};
use wheel_testkit::Random;

use super::ManualClock;
use crate::{InlineExecutor, OnConflict, Scheduler, TimerKey, Timers};

const HOUR: Duration = Duration::from_secs(3600);
const YEAR: Duration = Duration::from_secs(365 * 86_400);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

type Log = Arc<Mutex<Vec<u64>>>;

/// One of the doors, as the tests need it: timers that have numbers, and a log of those that fired.
trait Door {
    const NAME: &'static str;
    fn open(clock: &ManualClock, log: &Log) -> Self;
    fn after(&mut self, number: u64, delay: Duration);
    fn at(&mut self, number: u64, at: SystemTime);
    fn cancel(&mut self, number: u64) -> bool;
    /// Due `delay` from now instead.
    fn reset(&mut self, number: u64, delay: Duration) -> bool;
    /// How many this door has told of, if it tells.
    fn clock_jumps(&self) -> Option<u64>;
    fn pending(&self) -> u64;
}

struct Bare {
    timers: Timers,
    keys: Vec<(u64, TimerKey)>,
    log: Log,
}

impl Bare {
    fn keep(&mut self, number: u64, key: TimerKey) {
        self.keys.retain(|entry| entry.0 != number);
        self.keys.push((number, key));
    }

    fn key(&mut self, number: u64) -> Option<TimerKey> {
        let place = self.keys.iter().position(|entry| entry.0 == number)?;
        Some(self.keys.swap_remove(place).1)
    }
}

impl Door for Bare {
    const NAME: &'static str = "timers";

    fn open(clock: &ManualClock, log: &Log) -> Bare {
        Bare {
            timers: Timers::builder().clock(clock.clone()).build().unwrap(),
            keys: Vec::new(),
            log: Arc::clone(log),
        }
    }

    fn after(&mut self, number: u64, delay: Duration) {
        let log = Arc::clone(&self.log);
        let key = self.timers.after(delay, move || log.lock().push(number));
        self.keep(number, key.unwrap());
    }

    fn at(&mut self, number: u64, at: SystemTime) {
        let log = Arc::clone(&self.log);
        let key = self.timers.at(at, move || log.lock().push(number));
        self.keep(number, key.unwrap());
    }

    fn cancel(&mut self, number: u64) -> bool {
        self.key(number).is_some_and(|key| self.timers.cancel(key))
    }

    fn reset(&mut self, number: u64, delay: Duration) -> bool {
        let new = self
            .key(number)
            .and_then(|key| self.timers.reset(key, delay));
        self.keys.extend(new.map(|key| (number, key)));
        new.is_some()
    }

    fn clock_jumps(&self) -> Option<u64> {
        Some(self.timers.stats().clock_jumps)
    }

    fn pending(&self) -> u64 {
        self.timers.len() as u64
    }
}

struct Named {
    scheduler: Scheduler,
    log: Log,
}

impl Door for Named {
    const NAME: &'static str = "scheduler";

    fn open(clock: &ManualClock, log: &Log) -> Named {
        let builder = Scheduler::builder().clock(clock.clone());
        Named {
            scheduler: builder.executor(InlineExecutor).build().unwrap(),
            log: Arc::clone(log),
        }
    }

    fn after(&mut self, number: u64, delay: Duration) {
        let log = Arc::clone(&self.log);
        let task = self.scheduler.task(number.to_string()).after(delay);
        task.run(move |_| log.lock().push(number)).unwrap();
    }

    fn at(&mut self, number: u64, at: SystemTime) {
        let log = Arc::clone(&self.log);
        let task = self.scheduler.task(number.to_string()).at(at);
        task.run(move |_| log.lock().push(number)).unwrap();
    }

    fn cancel(&mut self, number: u64) -> bool {
        let answer = self.scheduler.cancel(&number.to_string());
        answer == crate::CancelOutcome::Cancelled
    }

    fn reset(&mut self, number: u64, delay: Duration) -> bool {
        let later = crate::Schedule::after(delay);
        self.scheduler
            .reschedule(&number.to_string(), later)
            .is_ok()
    }

    fn clock_jumps(&self) -> Option<u64> {
        None
    }

    fn pending(&self) -> u64 {
        self.scheduler.stats().scheduled as u64
    }
}

/// A test for each door.
macro_rules! for_each_door {
    ($($test:ident)+) => {
        mod bare {
            $(#[test] fn $test() { super::$test::<super::Bare>(); })+
        }
        mod named {
            $(#[test] fn $test() { super::$test::<super::Named>(); })+
        }
    };
}

for_each_door! {
    a_monotonic_clock_that_goes_back_makes_nothing_early
    what_is_inserted_while_the_clock_is_back_is_on_time
    a_monotonic_clock_that_goes_back_is_counted_once_for_each_step
    a_clock_that_stands_still_fires_nothing
    a_jump_of_an_hour_fires_what_it_passes_once
    a_suspended_machine_delays_what_follows_the_monotonic_clock_only
    any_sequence_of_clock_events_fires_each_timer_once_at_the_first_look
}

fn open<D: Door>() -> (ManualClock, D, Log) {
    let (clock, log) = (ManualClock::new(), Log::default());
    let door = D::open(&clock, &log);
    (clock, door, log)
}

fn a_monotonic_clock_that_goes_back_makes_nothing_early<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    clock.advance(HOUR);
    door.after(1, ms(10));
    door.at(2, clock.wall() + ms(20));
    clock.go_back(HOUR);
    assert_eq!(clock.now(), Duration::ZERO);
    clock.run_for(ms(19));
    assert_eq!(
        *log.lock(),
        [],
        "the reading that they wait for has not come"
    );
    clock.run_for(ms(1));
    assert_eq!(*log.lock(), [2], "the wall clock has not gone back");
    clock.run_for(HOUR - ms(11));
    assert_eq!(*log.lock(), [2]);
    clock.run_for(ms(1));
    assert_eq!(*log.lock(), [2, 1]);
    assert_eq!(door.pending(), 0);
}

fn what_is_inserted_while_the_clock_is_back_is_on_time<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    clock.advance(HOUR + ms(1));
    for step in [HOUR, ms(1), Duration::from_nanos(1)] {
        clock.go_back(step);
        door.after(1, ms(10));
        door.after(2, ms(10));
        assert!(door.cancel(2));
        door.after(3, ms(40));
        assert!(door.reset(3, ms(20)));
        clock.run_for(ms(9));
        assert_eq!(*log.lock(), [], "{step:?} back");
        clock.run_for(ms(2));
        assert_eq!(*log.lock(), [1], "{step:?} back");
        clock.run_for(ms(8));
        assert_eq!(*log.lock(), [1], "{step:?} back");
        clock.run_for(ms(2));
        assert_eq!(*log.lock(), [1, 3], "{step:?} back");
        log.lock().clear();
    }
}

fn a_monotonic_clock_that_goes_back_is_counted_once_for_each_step<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    // A driver that had nothing to look for would not know how late it was.
    door.after(0, HOUR);
    clock.advance(HOUR);
    for steps in 1..=5 {
        clock.go_back(ms(500));
        for number in 0..10 {
            door.after(number, ms(1 + number));
        }
        clock.run_for(ms(400));
        let jumps = door.clock_jumps();
        assert!(
            jumps.is_none_or(|jumps| jumps == steps),
            "{steps} steps, {jumps:?} counted"
        );
        assert_eq!(log.lock().len() as u64, 1 + 10 * steps);
    }
}

fn a_clock_that_stands_still_fires_nothing<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    clock.advance(ms(5));
    door.after(1, Duration::from_nanos(1));
    door.at(2, clock.wall() + ms(1));
    door.after(3, Duration::ZERO);
    for _ in 0..100 {
        clock.advance(Duration::ZERO);
    }
    assert_eq!(*log.lock(), [3]);
    clock.run_for(ms(1));
    assert_eq!(log.lock().len(), 3);
}

fn a_jump_of_an_hour_fires_what_it_passes_once<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    let wall = clock.wall();
    for number in 0..50 {
        door.after(number, ms(1 + number * 100_000));
        door.at(50 + number, wall + ms(1 + number * 100_000));
    }
    clock.advance(HOUR);
    assert_eq!(log.lock().len(), 72, "36 of each kind are due within it");
    clock.advance(HOUR);
    clock.advance(HOUR);
    let mut fired = std::mem::take(&mut *log.lock());
    fired.sort_unstable();
    assert_eq!(fired, Vec::from_iter(0..100));
    let quiet = door.clock_jumps().is_none_or(|jumps| jumps == 0);
    assert!(quiet, "the clocks have not moved against each other");
}

/// While the machine sleeps, the wall clock goes on and the monotonic clock does not.
fn a_suspended_machine_delays_what_follows_the_monotonic_clock_only<D: Door>() {
    let (clock, mut door, log) = open::<D>();
    door.after(1, ms(600_000));
    door.at(2, clock.wall() + ms(600_000));
    clock.advance(ms(300_000));
    clock.set_wall(clock.wall() + HOUR);
    assert_eq!(*log.lock(), [2]);
    assert!(door.clock_jumps().is_none_or(|jumps| jumps == 1));
    clock.run_for(ms(299_999));
    assert_eq!(*log.lock(), [2], "ten minutes awake are not over");
    clock.run_for(ms(1));
    assert_eq!(*log.lock(), [2, 1]);
}

/// When a timer is due, and by which clock, in nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Due {
    Monotonic(u128),
    Wall(i128),
}

/// What is pending, kept as simply as can be.
struct Model {
    pending: Vec<(u64, Due)>,
}

fn up_to_ms(nanos: u128) -> u128 {
    nanos.next_multiple_of(1_000_000)
}

fn wall_up_to_ms(at: SystemTime) -> i128 {
    let nanos = super::unix_nanos(at);
    nanos + (-nanos).rem_euclid(1_000_000)
}

impl Model {
    /// What a look at both clocks finds due.
    fn look(&mut self, clock: &ManualClock) -> Vec<u64> {
        let (now, wall) = (clock.now().as_nanos(), super::unix_nanos(clock.wall()));
        let due = self.pending.extract_if(.., |(_, due)| match *due {
            Due::Monotonic(due) => due <= now,
            Due::Wall(due) => due <= wall,
        });
        due.map(|(number, _)| number).collect()
    }
}

/// A step of the wall clock: small ones and large ones, to before 1970 and back.
fn any_wall(random: &mut Random, wall: SystemTime) -> SystemTime {
    let step = match random.below(5) {
        0 => Duration::from_micros(random.below(3_000)),
        1 => ms(random.below(1_000)),
        2 => HOUR,
        3 => YEAR * u32::try_from(random.between(1, 3)).unwrap(),
        _ => Duration::from_nanos(random.below(1 << 40)),
    };
    match random.below(8) {
        0 => UNIX_EPOCH + step,
        1 => UNIX_EPOCH - step,
        2..=4 => wall + step,
        _ => wall - step,
    }
}

fn any_step(random: &mut Random) -> Duration {
    match random.below(12) {
        0 => HOUR,
        1 => YEAR,
        2 => Duration::ZERO,
        _ => Duration::from_nanos(random.number() >> random.between(30, 60)),
    }
}

fn any_sequence_of_clock_events_fires_each_timer_once_at_the_first_look<D: Door>() {
    for seed in wheel_testkit::seeds(15) {
        let mut random = Random::new(seed);
        let (clock, mut door, log) = open::<D>();
        let mut model = Model {
            pending: Vec::new(),
        };
        let mut expected = Vec::new();
        let mut numbers = 0;
        for step in 0..300 {
            let number = numbers;
            let picked = match model.pending.len() {
                0 => None,
                len => Some(random.below(len as u64) as usize),
            };
            match (random.below(12), picked) {
                (0..=2, _) => {
                    let delay = any_step(&mut random).max(Duration::from_nanos(1));
                    door.after(number, delay);
                    let due = (clock.now() + delay).as_nanos();
                    model.pending.push((number, Due::Monotonic(up_to_ms(due))));
                    numbers += 1;
                }
                (3..=4, _) => {
                    let at = any_wall(&mut random, clock.wall());
                    door.at(number, at);
                    model.pending.push((number, Due::Wall(wall_up_to_ms(at))));
                    numbers += 1;
                }
                (5, Some(picked)) => {
                    let (number, _) = model.pending.swap_remove(picked);
                    assert!(door.cancel(number), "seed {seed}, step {step}");
                }
                (6, Some(picked)) => {
                    let delay = any_step(&mut random).max(Duration::from_nanos(1));
                    let due = up_to_ms((clock.now() + delay).as_nanos());
                    model.pending[picked].1 = Due::Monotonic(due);
                    let number = model.pending[picked].0;
                    assert!(door.reset(number, delay), "seed {seed}, step {step}");
                }
                (7, _) => clock.go_back(any_step(&mut random)),
                (8, _) => clock.set_wall(any_wall(&mut random, clock.wall())),
                _ => clock.advance(any_step(&mut random)),
            }
            // Whatever it was, the driver looks at the clocks before this returns.
            clock.advance(Duration::ZERO);
            let mut due = model.look(&clock);
            let mut fired = std::mem::take(&mut *log.lock());
            due.sort_unstable();
            fired.sort_unstable();
            let name = D::NAME;
            assert_eq!(
                fired, due,
                "{name}: fired and due, seed {seed}, step {step}"
            );
            expected.append(&mut due);
            assert_eq!(door.pending(), model.pending.len() as u64, "seed {seed}");
        }
        expected.sort_unstable();
        expected.dedup();
        assert!(expected.len() > 20, "seed {seed} fires too little");
    }
}

#[test]
fn a_grid_goes_on_when_the_monotonic_clock_has_caught_up() {
    let (clock, door, log) = open::<Named>();
    let ticks = Arc::clone(&log);
    let (now, task) = (clock.clone(), door.scheduler.task("grid"));
    let note = move |_: &crate::Context| ticks.lock().push(now.now().as_millis() as u64);
    let task = task.on_conflict(OnConflict::Refuse).every(ms(100));
    let task = task.run(note).unwrap();
    clock.run_for(ms(350));
    clock.go_back(ms(200));
    clock.run_for(ms(300));
    assert_eq!(
        *log.lock(),
        [100, 200, 300, 400],
        "no point of the grid comes twice"
    );
    clock.go_back(HOUR);
    clock.run_for(ms(600));
    assert_eq!(log.lock()[4..], [500, 600]);
    assert_eq!((task.info().missed, task.info().skipped), (0, 0));
}

#[test]
fn a_pause_counts_from_the_end_of_the_run_by_the_clock_of_that_moment() {
    let (clock, door, log) = open::<Named>();
    let (times, now) = (Arc::clone(&log), clock.clone());
    let note = move |_: &crate::Context| times.lock().push(now.now().as_millis() as u64);
    door.scheduler.every_after(ms(100), note).unwrap();
    clock.advance(HOUR);
    clock.go_back(HOUR - ms(50));
    clock.run_for(ms(100));
    assert_eq!(
        log.lock().len(),
        1,
        "set at an hour, for a tenth of a second later"
    );
    clock.advance(HOUR);
    clock.run_for(ms(150));
    assert_eq!(log.lock()[1..], [3_600_150, 3_600_250]);
}
