//! A contestant that loses timers, or fires them early, would win every bench.

use std::thread;
use std::time::{Duration, Instant};

use crate::contestants::{ALL, Visitor, visit};
use crate::measure::Random;
use crate::workloads::{Service, Shuffle};
use crate::{Contestant, Recorder, Tick, Time, Workload};

const TIMERS: u64 = 500;
const SPAN: u64 = 3_000;

/// Sets timers, cancels every fifth, and goes on tick by tick: at each tick as many have fired as
/// were due.
struct Exactly;

impl Visitor for Exactly {
    type Answer = ();

    fn visit<C: Contestant>(self) {
        if C::left_out(Workload::FireAll).is_some() {
            return;
        }
        let mut random = Random::new(1);
        let mut engine = C::new(Time::ByHand);
        let mut due_at = vec![0_usize; SPAN as usize + 1];
        let mut kept = Vec::new();
        for index in 0..TIMERS {
            let due = 1 + random.below(SPAN);
            let key = engine.insert(Tick::new(due), (index, due));
            if index % 5 == 0 {
                assert!(engine.cancel(key), "{} has lost a timer", C::NAME);
            } else {
                kept.push(key);
                due_at[usize::try_from(due).unwrap()] += 1;
            }
        }
        let (mut fired, mut due) = (0, 0);
        for now in 1..=SPAN {
            fired += engine.advance(Tick::new(now));
            due += due_at[usize::try_from(now).unwrap()];
            assert_eq!(fired, due, "{} at tick {now}", C::NAME);
        }
        assert_eq!(fired as u64, TIMERS - TIMERS / 5, "{}", C::NAME);
    }
}

#[test]
fn every_contestant_fires_what_was_not_cancelled_and_when_it_is_due() {
    for name in ALL {
        visit(name, Exactly);
    }
}

/// Real time: all fire once. Early firing is asserted of none but those that promise not to.
struct InRealTime;

impl Visitor for InRealTime {
    type Answer = ();

    fn visit<C: Contestant>(self) {
        if C::left_out(Workload::Lateness).is_some() {
            return;
        }
        let first = Instant::now() + Duration::from_millis(20);
        let mut random = Random::new(2);
        let asked = (0..200).map(|_| first + Duration::from_micros(random.below(100_000)));
        let recorder = Recorder::new(asked.collect());
        let engine = C::fire_at(&recorder, "");
        while recorder.missing() > 0 && first.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(5));
        }
        std::mem::forget(engine);
        assert_eq!(recorder.missing(), 0, "{}", C::NAME);
        let promises = !matches!(C::NAME, "hash_wheel_timer" | "pingora_timeout");
        let early = recorder.late_ns().iter().filter(|&&late| late < 0).count();
        assert!(!promises || early == 0, "{}: {early} were early", C::NAME);
    }
}

#[test]
fn every_contestant_with_a_thread_fires_all_once() {
    for name in ALL {
        visit(name, InRealTime);
    }
}

/// Every cancel finds its timer, or the workloads panic.
struct Pairs;

impl Visitor for Pairs {
    type Answer = ();

    fn visit<C: Contestant>(self) {
        let mut service = Service::<C>::new(2_000);
        service.pairs(5_000);
        service.leave();
        let mut shuffle = Shuffle::<C>::new(1_000);
        shuffle.pairs(5_000);
        shuffle.leave();
    }
}

#[test]
fn every_contestant_finds_what_it_is_told_to_cancel() {
    for name in ALL {
        visit(name, Pairs);
    }
}
