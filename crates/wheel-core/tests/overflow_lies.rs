//! An overflow that does not keep to its contract: no timer fires early or twice, each value leaves
//! once, and no call goes on for ever. Panics and lateness are its due.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use wheel_core::{Budget, Config, FarEntry, InsertError, Key, Overflow, Tick};
use wheel_testkit::Random;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    /// Nothing: the test itself is right.
    None,
    TellsOfATimerAndHasNone,
    NeverTellsOfATimer,
    SaysTooEarly,
    SaysTooLate,
    GivesTheLatestFirst,
    GivesEachTwice,
    LosesSome,
    /// Two wheels share one.
    GivesAnothersEntries,
    KeepsWhatWasSwept,
    SweepsAwayWhatIsKept,
    CountsWrongly,
    ShowsMoreThanItWasAsked,
    NeverEndsARound,
    PanicsNowAndThen,
}

const LIES: [Lie; 15] = [
    Lie::None,
    Lie::TellsOfATimerAndHasNone,
    Lie::NeverTellsOfATimer,
    Lie::SaysTooEarly,
    Lie::SaysTooLate,
    Lie::GivesTheLatestFirst,
    Lie::GivesEachTwice,
    Lie::LosesSome,
    Lie::GivesAnothersEntries,
    Lie::KeepsWhatWasSwept,
    Lie::SweepsAwayWhatIsKept,
    Lie::CountsWrongly,
    Lie::ShowsMoreThanItWasAsked,
    Lie::NeverEndsARound,
    Lie::PanicsNowAndThen,
];

type Entries = Arc<Mutex<Vec<(Tick, FarEntry)>>>;

struct Liar {
    lie: Lie,
    entries: Entries,
    calls: usize,
    again: Option<(Tick, FarEntry)>,
}

impl Liar {
    fn new(lie: Lie, entries: &Entries) -> Liar {
        Liar {
            lie,
            entries: Arc::clone(entries),
            calls: 0,
            again: None,
        }
    }

    /// Every so often.
    fn now_and_then(&mut self, every: usize) -> bool {
        self.calls += 1;
        self.calls.is_multiple_of(every)
    }

    /// Also when a call of this has panicked in the midst of it.
    fn entries(&self) -> MutexGuard<'_, Vec<(Tick, FarEntry)>> {
        self.entries
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    fn told(&self, due: Tick) -> Tick {
        match self.lie {
            Lie::SaysTooEarly => Tick::new(due.get() / 2),
            Lie::SaysTooLate => Tick::new(due.get() + 3 * HOUR),
            _ => due,
        }
    }

    fn earliest(&self) -> Option<usize> {
        let entries = self.entries();
        let places = 0..entries.len();
        match self.lie {
            Lie::GivesTheLatestFirst => places.max_by_key(|place| entries[*place].0),
            _ => places.min_by_key(|place| entries[*place].0),
        }
    }
}

impl Overflow for Liar {
    fn insert(&mut self, due: Tick, entry: FarEntry) {
        if self.lie == Lie::PanicsNowAndThen && self.now_and_then(11) {
            panic!("of the test");
        }
        if self.lie == Lie::LosesSome && self.now_and_then(3) {
            return;
        }
        self.entries().push((due, entry));
    }

    fn next_due(&self) -> Option<Tick> {
        if self.lie == Lie::NeverTellsOfATimer {
            return None;
        }
        let earliest = self.earliest().map(|at| self.entries()[at].0);
        match self.lie {
            Lie::TellsOfATimerAndHasNone => Some(earliest.unwrap_or(Tick::new(DAY))),
            _ => earliest.map(|due| self.told(due)),
        }
    }

    fn pop(&mut self) -> Option<(Tick, FarEntry)> {
        if self.lie == Lie::PanicsNowAndThen && self.now_and_then(7) {
            panic!("of the test");
        }
        if let Some(again) = self.again.take() {
            return Some(again);
        }
        let earliest = self.earliest()?;
        let (due, entry) = self.entries().swap_remove(earliest);
        let told = (self.told(due), entry);
        if self.lie == Lie::GivesEachTwice {
            self.again = Some(told);
        }
        Some(told)
    }

    fn len(&self) -> usize {
        let len = self.entries().len();
        match self.lie {
            Lie::CountsWrongly => 100 - len.min(100),
            _ => len,
        }
    }

    fn sweep(&mut self, limit: usize, keep: &mut dyn FnMut(FarEntry) -> bool) -> usize {
        if self.lie == Lie::PanicsNowAndThen && self.now_and_then(2) {
            panic!("of the test");
        }
        let mut seen = 0;
        let lie = self.lie;
        let mut entries = self.entries();
        entries.retain(|(_, entry)| {
            if seen == limit {
                return true;
            }
            seen += 1;
            match lie {
                Lie::KeepsWhatWasSwept => keep(*entry) || seen.is_multiple_of(2),
                Lie::SweepsAwayWhatIsKept => keep(*entry) && !seen.is_multiple_of(2),
                _ => keep(*entry),
            }
        });
        match lie {
            Lie::ShowsMoreThanItWasAsked => limit.saturating_add(5),
            Lie::NeverEndsARound => limit,
            _ => seen,
        }
    }
}

/// A value that counts itself.
#[derive(Debug)]
struct Value {
    name: usize,
    alive: Arc<AtomicUsize>,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What became of the values of one engine.
struct Fates {
    lie: Lie,
    alive: Arc<AtomicUsize>,
    dues: Vec<u64>,
    gone: Vec<bool>,
}

impl Fates {
    fn new(lie: Lie) -> Fates {
        Fates {
            lie,
            alive: Arc::default(),
            dues: Vec::new(),
            gone: Vec::new(),
        }
    }

    fn value(&mut self, due: u64) -> Value {
        self.alive.fetch_add(1, Ordering::Relaxed);
        self.dues.push(due);
        self.gone.push(false);
        Value {
            name: self.dues.len() - 1,
            alive: Arc::clone(&self.alive),
        }
    }

    fn leaves(&mut self, value: &Value) {
        let again = std::mem::replace(&mut self.gone[value.name], true);
        assert!(!again, "{:?}: {value:?} leaves twice", self.lie);
    }

    fn fires(&mut self, value: &Value, now: u64) {
        let due = self.dues[value.name];
        assert!(due <= now, "{:?}: due at {due}, fired at {now}", self.lie);
        self.leaves(value);
    }

    fn assert_all_left(&self) {
        assert_eq!(self.alive.load(Ordering::Relaxed), 0, "{:?}", self.lie);
        assert!(self.gone.iter().all(|gone| *gone), "{:?}", self.lie);
    }
}

fn any_due(random: &mut Random, now: u64) -> u64 {
    now + match random.below(4) {
        0 => random.below(1_000),
        1 => random.below(DAY),
        _ => random.between(2 * DAY, 30 * DAY),
    }
}

/// Inserts, cancels, resets and advances at random. `budget` is small enough that no call can take
/// long, whatever it is told.
macro_rules! play {
    ($lie:ident, $seed:ident, $fates:ident, $wheel:expr, $advance:expr, $next_due:expr) => {
        let mut random = Random::new($seed);
        let mut keys: Vec<Key> = Vec::new();
        let mut now = 0;
        for _ in 0..400 {
            let pick = random.below(keys.len().max(1) as u64) as usize;
            match random.below(10) {
                0..5 => {
                    let due = any_due(&mut random, now);
                    let value = $fates.value(due);
                    let inserted = catch_unwind(AssertUnwindSafe(|| {
                        $wheel.insert(Tick::new(due), value).unwrap()
                    }));
                    match inserted {
                        Ok(key) => keys.push(key),
                        // Its value waits for the end.
                        Err(_) => assert_eq!($lie, Lie::PanicsNowAndThen),
                    }
                }
                5..8 if !keys.is_empty() => {
                    if let Some(value) = $wheel.cancel(keys.swap_remove(pick)) {
                        $fates.leaves(&value);
                    }
                }
                _ => {
                    now += random.below(2 * DAY) >> random.below(30);
                    for _ in 0..20 {
                        let done = catch_unwind(AssertUnwindSafe(|| {
                            $advance(now, Budget::new(64), &mut |value: Value| {
                                $fates.fires(&value, now);
                            })
                        }));
                        assert!(done.is_ok() || $lie != Lie::None);
                        if done.is_ok_and(|done| !done.more) {
                            break;
                        }
                    }
                    let _ = catch_unwind(AssertUnwindSafe(|| $next_due));
                }
            }
        }
    };
}

#[test]
fn a_wheel_whose_overflow_lies_fires_nothing_early_or_twice_and_loses_nothing() {
    for (lie, seed) in LIES
        .into_iter()
        .flat_map(|lie| (0..4).map(move |seed| (lie, seed)))
    {
        let entries = Entries::default();
        let far = Liar::new(lie, &entries);
        let (wheel, mut driver) = Config::new().overflow(far).build::<Value>();
        let mut fates = Fates::new(lie);
        // A neighbour puts entries of its own into the same, some of which this wheel never had.
        let far = Liar::new(Lie::None, &entries);
        let (other, mut neighbour) = Config::new().overflow(far).build::<u64>();
        if lie == Lie::GivesAnothersEntries {
            for n in 0..5_000 {
                other.insert(Tick::new(3 * DAY + n * HOUR), n).unwrap();
            }
            neighbour.advance(Tick::new(1), Budget::UNLIMITED, |_| ());
            entries
                .lock()
                .unwrap()
                .retain(|(due, _)| due.get() % 7 == 0);
        }
        play!(
            lie,
            seed,
            fates,
            wheel,
            |now, budget, fire: &mut dyn FnMut(Value)| {
                driver.advance(Tick::new(now), budget, |timer| fire(timer.value))
            },
            driver.next_due()
        );
        let refused = {
            let unfired = driver.close();
            for value in unfired {
                fates.leaves(&value);
            }
            let value = fates.value(0);
            wheel.insert(Tick::new(0), value)
        };
        match refused {
            Err(InsertError::Closed(value)) => fates.leaves(&value),
            other => panic!("{other:?}"),
        }
        fates.assert_all_left();
        assert_eq!(wheel.len(), 0);
    }
}

#[test]
fn a_local_wheel_whose_overflow_lies_fires_nothing_early_or_twice_and_loses_nothing() {
    for (lie, seed) in LIES
        .into_iter()
        .flat_map(|lie| (0..4).map(move |seed| (lie, seed)))
    {
        if matches!(lie, Lie::GivesAnothersEntries) {
            continue;
        }
        let far = Liar::new(lie, &Entries::default());
        let mut wheel = Config::new().overflow(far).build_local::<Value>();
        let mut fates = Fates::new(lie);
        play!(
            lie,
            seed,
            fates,
            wheel,
            |now, budget, fire: &mut dyn FnMut(Value)| {
                wheel.advance(Tick::new(now), budget, |timer| fire(timer.value))
            },
            wheel.next_due()
        );
        for value in wheel.close() {
            fates.leaves(&value);
        }
        fates.assert_all_left();
    }
}

/// The one lie that would keep an advance for ever.
#[test]
fn an_unlimited_advance_ends_when_the_overflow_tells_of_a_timer_and_has_none() {
    let far = Liar::new(Lie::TellsOfATimerAndHasNone, &Entries::default());
    let (wheel, mut driver) = Config::new().overflow(far).build();
    wheel.insert(Tick::new(10), "near").unwrap();
    for now in [20, DAY, 3 * DAY] {
        let call = catch_unwind(AssertUnwindSafe(|| {
            driver.advance(Tick::new(now), Budget::UNLIMITED, |_| ())
        }));
        assert!(call.is_err(), "the driver is told so, at {now}");
    }
    assert_eq!(driver.close().collect::<Vec<_>>(), ["near"]);
}
