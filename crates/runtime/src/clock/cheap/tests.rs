//! The cheap reading by promise, on a machine that the test plays.

use super::*;
use std::cell::Cell;

use wheel_testkit::Random;

/// A machine whose counter runs at 2 GHz, and whose clock can be slewed.
#[derive(Default)]
struct Machine {
    cycles: Cell<u64>,
    nanos: Cell<f64>,
    true_readings: Cell<u32>,
    preempted_for: Cell<u64>,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine::default();
        machine.cycles.set(1_000_000);
        machine
    }

    fn pass(&self, cycles: u64, nanos_per_cycle: f64) {
        self.cycles.set(self.cycles.get() + cycles);
        self.nanos
            .set(self.nanos.get() + cycles as f64 * nanos_per_cycle);
    }
}

impl Sources for Machine {
    fn cycles(&self) -> u64 {
        self.pass(20, 0.5);
        self.cycles.get()
    }

    fn nanos(&self) -> u64 {
        self.pass(20 + self.preempted_for.get(), 0.5);
        let nanos = self.nanos.get() as u64;
        self.pass(20 + self.preempted_for.get(), 0.5);
        self.true_readings.set(self.true_readings.get() + 1);
        nanos
    }
}

fn calibrated() -> (CheapClock, Machine) {
    let (clock, machine) = (CheapClock::new(), Machine::new());
    clock.now_upper(&machine);
    machine.pass(30_000_000, 0.5);
    clock.now_upper(&machine);
    machine.true_readings.set(0);
    (clock, machine)
}

/// The error of one reading, in nanoseconds; never negative.
fn error(clock: &CheapClock, machine: &Machine) -> f64 {
    let before = machine.nanos.get();
    let upper = clock.now_upper(machine).as_nanos();
    assert!(
        upper >= before as u64,
        "{upper} is below the true time, which was {before} before the call"
    );
    upper as f64 - machine.nanos.get()
}

#[test]
fn readings_stay_above_the_true_time_and_close_to_it() {
    let (clock, machine) = calibrated();
    for step in 0..100_000u64 {
        machine.pass(step * 7919 % 5000, 0.5);
        assert!(error(&clock, &machine) < 26_000.0);
    }
    let true_readings = machine.true_readings.get();
    assert!(true_readings < 2_000, "{true_readings} true readings");
}

#[test]
fn the_likely_time_is_within_a_microsecond_on_a_steady_machine() {
    let (clock, machine) = calibrated();
    for step in 0..10_000u64 {
        machine.pass(step * 7919 % 5000, 0.5);
        let about = clock.now_about(&machine).as_nanos() as f64;
        assert!((about - machine.nanos.get()).abs() < 1000.0);
    }
}

#[test]
fn the_bound_holds_while_the_kernel_slews_its_clock_as_far_as_it_can() {
    let (clock, machine) = calibrated();
    for step in 0..200_000u64 {
        // A second and a quarter each way, so that it is calibrated at both ends.
        let rate = if step / 100_000 == 0 { 0.445 } else { 0.555 };
        machine.pass(step * 7919 % 50_000, rate);
        assert!(error(&clock, &machine) < 60_000.0);
    }
}

#[test]
fn the_bound_holds_for_a_thread_that_is_preempted_in_its_true_reading() {
    let (clock, machine) = calibrated();
    for step in 0..10_000u64 {
        machine.preempted_for.set((step % 5) * 2_900);
        machine.pass(step * 7919 % 500_000, 0.5);
        assert!(error(&clock, &machine) < 30_000.0);
        machine.preempted_for.set((step % 5) * 4_000_000);
        machine.pass(step * 7919 % 500_000, 0.5);
        assert!(error(&clock, &machine) < 30_000.0);
    }
}

#[test]
fn until_it_is_calibrated_a_reading_is_the_true_one() {
    let (clock, machine) = (CheapClock::new(), Machine::new());
    for _ in 0..100 {
        machine.pass(10_000, 0.5);
        assert!(error(&clock, &machine) <= 0.0);
    }
    assert_eq!(machine.true_readings.get(), 100);
}

#[test]
fn a_counter_that_goes_back_is_calibrated_anew() {
    let (clock, machine) = calibrated();
    machine.cycles.set(1000);
    for _ in 0..100 {
        machine.pass(1_000_000, 0.5);
        error(&clock, &machine);
    }
    machine.true_readings.set(0);
    error(&clock, &machine);
    assert_eq!(machine.true_readings.get(), 0, "it is not in use again");
}

#[test]
fn a_counter_that_keeps_disagreeing_is_given_up() {
    let (clock, machine) = calibrated();
    for round in 0..1000u64 {
        machine.pass(100_000_000, if round % 2 == 0 { 0.5 } else { 2.0 });
        clock.now_upper(&machine);
    }
    machine.true_readings.set(0);
    for _ in 0..100 {
        machine.pass(100, 0.5);
        assert!(error(&clock, &machine) <= 0.0);
    }
    assert_eq!(machine.true_readings.get(), 100, "it is still in use");
}

const HOUR_NS: f64 = 3_600e9;

/// What may become of the two sources between two readings. Linux keeps its time by the counter, so
/// the clock never runs ahead of it by more than it may be slewed.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Both go on, the clock slewed by up to 11 %.
    Pass,
    /// Neither goes on.
    Freeze,
    /// Both jump, by a second to hours.
    Jump,
    /// The counter jumps alone, by half a second or more.
    CounterJumps,
    /// The counter is set back, as by a reboot of a virtual machine.
    CounterRestarts,
    /// The clock goes back by an hour, and the counter with it or not.
    ClockGoesBack { counter_too: bool },
    /// The thread is preempted in the next reading of the clock, for so long.
    Preempted(u64),
    /// The machine sleeps for a second or more: the counter runs on or starts again, and the clock
    /// stands.
    Suspend { restarts: bool },
}

fn any_event(random: &mut Random) -> Event {
    match random.below(400) {
        0 => Event::Jump,
        1 => Event::CounterJumps,
        2 => Event::CounterRestarts,
        3 => Event::ClockGoesBack {
            counter_too: random.one_in(2),
        },
        4..20 => Event::Preempted(random.below(5) * random.below(4_000_000)),
        20 => Event::Suspend {
            restarts: random.one_in(2),
        },
        21..40 => Event::Freeze,
        _ => Event::Pass,
    }
}

impl Machine {
    fn meet(&self, event: Event, random: &mut Random) {
        let (cycles, nanos) = (self.cycles.get(), self.nanos.get());
        match event {
            Event::Pass => {
                let slew = random.between(890, 1110) as f64 / 1000.0;
                let bits = random.between(4, 24);
                let length = random.below(1 << bits);
                self.pass(length, 0.5 * slew);
            }
            Event::Freeze => {}
            Event::Jump => self.pass(random.between(1 << 31, 1 << 44), 0.5),
            Event::CounterJumps => self.cycles.set(cycles + random.between(1 << 30, 1 << 50)),
            Event::CounterRestarts => self.cycles.set(cycles - random.between(1 << 31, 1 << 42)),
            Event::ClockGoesBack { counter_too } => {
                let back = nanos.min(HOUR_NS);
                self.nanos.set(nanos - back);
                if counter_too {
                    let back = (back / 0.5) as u64;
                    self.cycles.set(cycles.saturating_sub(back));
                }
            }
            Event::Preempted(cycles) => self.preempted_for.set(cycles),
            Event::Suspend { restarts: true } => {
                self.cycles.set(cycles - random.between(1 << 31, 1 << 42))
            }
            Event::Suspend { restarts: false } => {
                self.cycles.set(cycles + random.between(1 << 31, 1 << 42));
            }
        }
    }
}

#[test]
fn whatever_becomes_of_the_sources_a_reading_is_never_below_the_true_time() {
    let (mut cheap, mut all) = (0, 0);
    for seed in wheel_testkit::seeds(100) {
        let mut random = Random::new(seed);
        let (clock, machine) = calibrated();
        machine.cycles.set(1 << 50);
        for step in 0..3_000 {
            let event = any_event(&mut random);
            machine.meet(event, &mut random);
            machine.true_readings.set(0);
            let before = machine.nanos.get() as u64;
            let upper = clock.now_upper(&machine).as_nanos();
            machine.preempted_for.set(0);
            assert!(
                upper >= before,
                "seed {seed}, step {step}: {upper} is below {before} after {event:?}"
            );
            all += 1;
            cheap += u32::from(machine.true_readings.get() == 0);
        }
    }
    assert!(
        cheap > all / 10,
        "only {cheap} of {all} readings were cheap ones"
    );
}

#[test]
fn a_clock_and_a_counter_that_stand_still_are_read_as_they_are() {
    let (clock, machine) = calibrated();
    let (cycles, nanos) = (machine.cycles.get(), machine.nanos.get());
    for _ in 0..1000 {
        machine.cycles.set(cycles);
        machine.nanos.set(nanos);
        let upper = clock.now_upper(&machine).as_nanos() as f64;
        assert!(
            (nanos.floor()..nanos + 30_000.0).contains(&upper),
            "{upper}"
        );
    }
}

#[test]
fn a_clock_that_went_back_is_followed_when_the_last_anchor_is_too_old() {
    let (clock, machine) = calibrated();
    for _ in 0..20 {
        machine.pass(2_000_000_000, 0.5);
        error(&clock, &machine);
    }
    machine.nanos.set(machine.nanos.get() - 5e9);
    for step in 0..1000u64 {
        machine.pass(200_000 + step * 7919 % 5000, 0.5);
        assert!(error(&clock, &machine) < 26_000.0, "it goes by what was");
    }
}

#[test]
fn after_a_clock_went_back_the_counter_is_soon_in_use_again() {
    let (clock, machine) = calibrated();
    machine.pass(20_000_000_000, 0.5);
    error(&clock, &machine);
    machine.nanos.set(machine.nanos.get() - 5e9);
    for _ in 0..100 {
        machine.pass(1_000_000, 0.5);
        error(&clock, &machine);
    }
    machine.true_readings.set(0);
    error(&clock, &machine);
    assert_eq!(machine.true_readings.get(), 0, "it is not in use again");
}
