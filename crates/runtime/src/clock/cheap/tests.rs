//! The cheap reading by promise, on a machine that the test plays.

use super::*;
use std::cell::Cell;

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
