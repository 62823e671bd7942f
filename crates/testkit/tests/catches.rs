//! The judge is judged: a sound engine passes, and one with a flaw is caught within a few seeds.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use wheel_testkit::{
    Places, Random, Refused, Scale, Setup, Step, Subject, check, check_bytes, seeds, try_choices,
};

/// What may be wrong with an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flaw {
    Nothing,
    FiresEarly,
    FiresLate,
    FiresTwice,
    LosesOnReset,
    LosesAtClose,
    FiresInReverse,
    IgnoresTheBudget,
    SaysMoreForEver,
    SleepsTooLong,
    SpinsInThePast,
    NeverRests,
    ForgetsTheLimit,
    CountsWrong,
    HonoursStaleKeys,
    StaysOpen,
    NeverWakes,
    AlwaysWakes,
    TellsOfTooFew,
    TellsOfALaterSlot,
    TellsOfPlacesAtRest,
    Panics,
}

/// A sorted map with a flaw.
struct Engine {
    flaw: Flaw,
    timers: BTreeMap<(u64, u64), u64>,
    dues: BTreeMap<u64, u64>,
    next_key: u64,
    limit: usize,
    closed: bool,
    now: u64,
    inserted: usize,
    asleep_until: u64,
    wakes: u64,
}

impl Engine {
    fn new(flaw: Flaw, setup: &Setup) -> Engine {
        Engine {
            flaw,
            timers: BTreeMap::new(),
            dues: BTreeMap::new(),
            next_key: 0,
            limit: setup.max_timers.unwrap_or(usize::MAX),
            closed: false,
            now: setup.start,
            inserted: 0,
            asleep_until: 0,
            wakes: 0,
        }
    }

    fn add(&mut self, due: u64, value: u64) -> u64 {
        let needed = due < self.asleep_until && self.flaw != Flaw::NeverWakes;
        self.wakes += u64::from(needed || self.flaw == Flaw::AlwaysWakes);
        self.next_key += 1;
        self.timers.insert((due, self.next_key), value);
        self.dues.insert(self.next_key, due);
        self.next_key
    }
}

impl Subject for Engine {
    type Key = u64;
    const LIMITS: bool = true;
    const CLOSES: bool = true;

    fn insert(&mut self, due: u64, value: u64) -> Result<u64, Refused> {
        if self.closed && self.flaw != Flaw::StaysOpen {
            return Err(Refused::Closed(value));
        }
        if self.timers.len() >= self.limit && self.flaw != Flaw::ForgetsTheLimit {
            return Err(Refused::Full(value));
        }
        self.inserted += 1;
        Ok(self.add(due, value))
    }

    fn cancel(&mut self, key: u64) -> Option<u64> {
        let Some(due) = self.dues.remove(&key) else {
            return (self.flaw == Flaw::HonoursStaleKeys)
                .then(|| self.timers.pop_first().map(|(_, value)| value))?;
        };
        self.timers.remove(&(due, key))
    }

    fn reset(&mut self, key: u64, due: u64) -> Option<u64> {
        let value = self.cancel(key)?;
        let new = self.add(due, value);
        if self.flaw == Flaw::LosesOnReset && due < self.now {
            self.timers.remove(&(due, new));
        }
        Some(new)
    }

    fn advance(&mut self, now: u64, budget: usize, fire: &mut dyn FnMut(u64, u64)) -> Step {
        self.now = now;
        self.asleep_until = 0;
        let mut step = Step {
            fired: 0,
            moved: 0,
            more: false,
        };
        let horizon = match self.flaw {
            Flaw::FiresEarly => now.saturating_add(1),
            Flaw::FiresLate => now.saturating_sub(1),
            _ => now,
        };
        assert!(
            self.flaw != Flaw::Panics || now < 1 << 32,
            "the clock is {now}"
        );
        loop {
            let earliest = match self.flaw {
                Flaw::FiresInReverse => self.timers.range(..=(horizon, u64::MAX)).next_back(),
                _ => self.timers.first_key_value(),
            };
            let Some((&(due, key), &value)) = earliest.filter(|((due, _), _)| *due <= horizon)
            else {
                break;
            };
            if step.fired == budget && self.flaw != Flaw::IgnoresTheBudget {
                step.more = true;
                break;
            }
            self.timers.remove(&(due, key));
            self.dues.remove(&key);
            if self.flaw == Flaw::FiresTwice {
                fire(due, value);
            }
            step.fired += 1;
            fire(due, value);
        }
        if self.flaw == Flaw::SaysMoreForEver {
            (step.moved, step.more) = (1, true);
        }
        step
    }

    fn next_due(&mut self) -> Option<u64> {
        let earliest = self.timers.keys().next().map(|&(due, _)| due);
        let next = match self.flaw {
            Flaw::SleepsTooLong => earliest.map(|due| {
                if due >> 32 == 0 {
                    due
                } else {
                    due.saturating_add(1)
                }
            }),
            Flaw::SpinsInThePast => earliest.map(|due| due - due % 64),
            Flaw::NeverRests => Some(earliest.unwrap_or(self.now.saturating_add(1))),
            _ => earliest,
        };
        self.asleep_until = next.unwrap_or(u64::MAX);
        next
    }

    fn wakes(&mut self) -> Option<u64> {
        Some(self.wakes)
    }

    fn pending(&mut self) -> usize {
        let wrong = self.flaw == Flaw::CountsWrong && self.inserted > 20;
        self.timers.len() + usize::from(wrong)
    }

    /// A slot for each thousand ticks.
    fn places(&mut self) -> Option<Places> {
        let late = match self.flaw {
            Flaw::TellsOfALaterSlot => 1,
            _ => 0,
        };
        let slots = self
            .timers
            .keys()
            .map(|&(due, _)| ((due / 1000 + late).saturating_mul(1000), 1));
        let all = self.timers.len();
        Some(Places {
            slots: slots
                .skip(usize::from(self.flaw == Flaw::TellsOfTooFew))
                .collect(),
            elsewhere: 0,
            live: all,
            vacant: usize::from(self.flaw == Flaw::TellsOfPlacesAtRest && all == 0),
        })
    }

    fn close(&mut self) -> Vec<u64> {
        self.closed = true;
        self.dues.clear();
        let mut values: Vec<u64> = std::mem::take(&mut self.timers).into_values().collect();
        if self.flaw == Flaw::LosesAtClose {
            values.pop();
        }
        values
    }
}

#[test]
fn a_sound_engine_passes() {
    for seed in seeds(300) {
        check(seed, Scale::Millisecond, |setup| {
            Engine::new(Flaw::Nothing, setup)
        });
        check(seed, Scale::TenMicroseconds, |setup| {
            Engine::new(Flaw::Nothing, setup)
        });
    }
}

/// The first verdict against an engine with this flaw.
fn verdict(flaw: Flaw) -> String {
    for seed in 0..60 {
        let trial = || check(seed, Scale::Millisecond, |setup| Engine::new(flaw, setup));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(trial)) {
            return *panic.downcast::<String>().expect("a verdict is a text");
        }
    }
    panic!("60 seeds did not catch an engine that has the flaw {flaw:?}");
}

macro_rules! catches {
    ($($name:ident: $flaw:ident, $fault:literal;)+) => {$(
        #[test]
        fn $name() {
            let verdict = verdict(Flaw::$flaw);
            assert!(verdict.contains($fault), "caught for another reason: {verdict}");
            assert!(verdict.contains("seed "), "the verdict names no seed: {verdict}");
        }
    )+};
}

catches! {
    early_firing_is_caught: FiresEarly, "fired early";
    late_firing_is_caught: FiresLate, "nothing more was due";
    firing_twice_is_caught: FiresTwice, "was not pending";
    a_value_lost_on_reset_is_caught: LosesOnReset, "len is";
    a_value_lost_at_close_is_caught: LosesAtClose, "close returned";
    a_wrong_order_is_caught: FiresInReverse, "fired after one";
    an_ignored_budget_is_caught: IgnoresTheBudget, "with a budget of";
    work_that_never_ends_is_caught: SaysMoreForEver, "more is due even after";
    a_late_wake_up_is_caught: SleepsTooLong, "a timer is due at";
    a_wake_up_in_the_past_is_caught: SpinsInThePast, "nothing is due";
    an_engine_that_never_rests_is_caught: NeverRests, "visits";
    an_ignored_limit_is_caught: ForgetsTheLimit, "beyond the limit";
    a_wrong_len_is_caught: CountsWrong, "len is";
    a_stale_key_that_works_is_caught: HonoursStaleKeys, "stale key";
    an_insert_after_close_is_caught: StaysOpen, "after close";
    a_driver_that_sleeps_on_is_caught: NeverWakes, "was not woken";
    a_needless_wake_up_is_caught: AlwaysWakes, "was woken for";
    places_without_a_timer_are_caught: TellsOfTooFew, "in slots and";
    a_timer_in_a_later_slot_is_caught: TellsOfALaterSlot, "are in slots before it";
    places_at_rest_are_caught: TellsOfPlacesAtRest, "vacant";
    a_panic_is_caught: Panics, "the engine panicked: the clock is";
}

#[test]
fn a_failing_stream_is_thinned_to_what_matters() {
    let verdict = verdict(Flaw::FiresEarly);
    let operations = verdict
        .lines()
        .filter(|line| line.starts_with("  "))
        .count();
    assert!(
        (1..=3).contains(&operations),
        "an insert and an advance are enough: {verdict}"
    );
}

/// Bytes as a fuzzer might send them.
fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let length = random.between(0, 400);
    (0..length).map(|_| random.number() as u8).collect()
}

#[test]
fn a_sound_engine_passes_whatever_the_bytes_are() {
    for seed in seeds(300) {
        let bytes = bytes(seed);
        check_bytes(&bytes, |setup| Engine::new(Flaw::Nothing, setup));
        let operations: Vec<&[u8]> = bytes.chunks(7).collect();
        try_choices(&bytes, &operations, |setup| {
            Engine::new(Flaw::Nothing, setup)
        })
        .unwrap();
    }
}

#[test]
fn bytes_catch_the_flaws_that_seeds_catch() {
    for (flaw, fault) in [
        (Flaw::FiresEarly, "fired early"),
        (Flaw::FiresLate, "nothing more was due"),
        (Flaw::IgnoresTheBudget, "with a budget of"),
        (Flaw::SleepsTooLong, "a timer is due at"),
        (Flaw::SpinsInThePast, "nothing is due"),
        (Flaw::ForgetsTheLimit, "beyond the limit"),
        (Flaw::HonoursStaleKeys, "stale key"),
        (Flaw::LosesAtClose, "close returned"),
        (Flaw::NeverRests, "visits"),
    ] {
        let build = |setup: &Setup| Engine::new(flaw, setup);
        let caught = (0..200).find_map(|seed| {
            let trial = || check_bytes(&bytes(seed), build);
            let panic = catch_unwind(AssertUnwindSafe(trial)).err()?;
            let verdict = *panic.downcast::<String>().expect("a verdict is a text");
            verdict.contains(fault).then_some(verdict)
        });
        let verdict = caught.unwrap_or_else(|| panic!("200 inputs did not catch {flaw:?}"));
        assert!(verdict.contains("after these operations"), "{verdict}");
        let shrinkable = (0..200).find_map(|seed| {
            let bytes = bytes(seed);
            let operations: Vec<&[u8]> = bytes[bytes.len().min(8)..].chunks(7).collect();
            try_choices(&bytes, &operations, build).err()
        });
        let verdict = shrinkable.unwrap_or_else(|| panic!("no choices caught {flaw:?}"));
        assert!(verdict.contains("after these operations"), "{verdict}");
    }
}

#[test]
fn a_stream_ends_where_its_bytes_do() {
    // No operation: not even an engine that panics at the first one is found out.
    check_bytes(&[], |setup| Engine::new(Flaw::Panics, setup));
    let nothing: [&[u8]; 0] = [];
    try_choices(&[], &nothing, |setup| Engine::new(Flaw::Panics, setup)).unwrap();
}

mod a_sound_engine {
    use super::{Engine, Flaw, Setup};

    fn build(setup: &Setup) -> Engine {
        Engine::new(Flaw::Nothing, setup)
    }

    wheel_testkit::engine_cases!(build);

    #[test]
    fn the_limit_is_exact() {
        wheel_testkit::cases::keys::the_limit_is_exact(build);
    }
}
