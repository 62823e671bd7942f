//! The arithmetic of the levels, for every length of a tick: where a timer is placed and when it is
//! visited.
//!
//! A wheel with few timers shows both from outside. `next_due` is the earliest visit, and a timer's
//! visits follow from where it is: its due tick on the finest level, the begin of its slot on a
//! coarser one, the begin of the day before its own beyond the span. So the visits are worked out
//! here from first principles, in 128 bits, by division and without banks, rings or bitmaps, and
//! the wheel must name the very same ticks. The engines' own targets demand less: no visit too
//! late, and none without an end.

use std::collections::BTreeMap;
use std::time::Duration;

use wheel_core::{Budget, Config, LocalWheel, Tick, TickLength};
use wheel_overflow::FarHeap;
use wheel_testkit::Choices;

/// Milliseconds in a slot of each level above ticks; the last is the span.
const UNITS_MS: [u128; 5] = [1, 1_000, 60_000, 3_600_000, 86_400_000];

/// Ticks to a millisecond: all that there can be.
const PER_MS: [u32; 15] = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100];

/// Numbers at which counters of some width wrap.
const WRAPS: [u64; 6] = [1 << 31, 1 << 32, 1 << 36, 1 << 40, 1 << 63, u64::MAX];

/// Timers at a time. With more than a tick moves at its pace in one slot, a cascade begins before
/// the slot does.
const TIMERS_MAX: usize = 200;

/// A wheel that starts somewhere, with timers put in, driven from visit to visit and by jumps.
pub fn levels(bytes: &[u8]) {
    let mut choices = Choices::Bytes(bytes);
    let per_ms = choices.choose(&PER_MS);
    let mut scene = Scene::new(per_ms, |units| tick_near_a_mark(&mut choices, units, 0));
    while !choices.are_over() {
        match choices.below(8) {
            0..=3 => {
                let due = tick_near_a_mark(&mut choices, scene.units, scene.cursor);
                scene.insert(due);
            }
            4 => {
                if let Some(visit) = scene.next_visit() {
                    scene.advance(visit);
                }
            }
            5 => {
                let visit = scene.next_visit().unwrap_or(scene.cursor);
                scene.advance(visit.saturating_sub(1));
            }
            _ => {
                let now = tick_near_a_mark(&mut choices, scene.units, scene.cursor);
                scene.advance(now);
            }
        }
    }
    // From here on as a driver does it, and then to the end of time.
    for _ in 0..scene.visits_max() {
        if let Some(visit) = scene.next_visit() {
            scene.advance(visit);
        }
    }
    scene.advance(u64::MAX);
    assert!(scene.timers.is_empty(), "left at the end of time");
}

/// Ticks in a slot of each level that is used, the finest first; the last is the span.
type Units = [u128; 6];

/// A tick where something may turn: after `from` by a few slots of a level, or at a begin of one,
/// or at a power of two, give or take a few.
fn tick_near_a_mark(choices: &mut Choices<'_>, units: Units, from: u64) -> u64 {
    let unit = choices.choose(&units) as u64;
    let slots = choices.below(130);
    let mark = match choices.below(4) {
        0 => from.saturating_add(unit.saturating_mul(slots)),
        1 => (from / unit).saturating_add(slots).saturating_mul(unit),
        2 => choices.choose(&WRAPS),
        _ => from.saturating_add(choices.of_any_size()),
    };
    match choices.below(4) {
        0 => mark,
        1 => mark.saturating_add(1),
        2 => mark.saturating_sub(1),
        _ => mark.saturating_sub(choices.below(3_000)),
    }
}

/// A timer, and the tick at which the wheel must look at it next.
#[derive(Clone, Copy, Debug)]
struct Timer {
    due: u64,
    visit: u64,
}

struct Scene {
    wheel: LocalWheel<u64>,
    units: Units,
    finest: usize,
    /// The tick to do next.
    cursor: u64,
    timers: BTreeMap<u64, Timer>,
    inserted: u64,
}

impl Scene {
    fn new(per_ms: u32, start: impl FnOnce(Units) -> u64) -> Scene {
        let tick = Duration::from_nanos(1_000_000 / u64::from(per_ms));
        let tick = TickLength::new(tick).expect("it divides a millisecond");
        let mut units = [1; 6];
        for (unit, ms) in units[1..].iter_mut().zip(UNITS_MS) {
            *unit = ms * u128::from(per_ms);
        }
        let start = start(units);
        let config = Config::new().tick_length(tick).start(Tick::new(start));
        Scene {
            wheel: config.overflow(FarHeap::new()).build_local(),
            units,
            finest: usize::from(per_ms == 1),
            cursor: start,
            timers: BTreeMap::new(),
            inserted: 0,
        }
    }

    /// When a timer that is put in while the cursor is there must be looked at: at its due tick, if
    /// that is in this turn of the finest level or the next; else when its slot begins, on the
    /// first level where it is in this turn or the next; else, beyond the span, when the day before
    /// its own begins.
    fn visit(&self, cursor: u64, due: u64) -> u64 {
        if due < cursor {
            return due;
        }
        let (cursor, due) = (u128::from(cursor), u128::from(due));
        let within = |level: &usize| {
            let turn = self.units[level + 1];
            due / turn - cursor / turn <= 1
        };
        let begin = |unit: u128, back: u128| ((due / unit).saturating_sub(back) * unit).max(cursor);
        let visit = match (self.finest..5).find(within) {
            Some(level) if level == self.finest => due,
            Some(level) => begin(self.units[level], 0),
            None => begin(self.units[5], 1),
        };
        u64::try_from(visit).expect("a visit is not after the due tick")
    }

    fn insert(&mut self, due: u64) {
        if self.timers.len() == TIMERS_MAX {
            return;
        }
        self.inserted += 1;
        let inserted = self.wheel.insert(Tick::new(due), self.inserted);
        inserted.expect("there is no limit");
        let visit = self.visit(self.cursor, due);
        self.timers.insert(self.inserted, Timer { due, visit });
        self.compare();
    }

    /// How many visits all timers can need: one on each level, and from beyond the span.
    fn visits_max(&self) -> usize {
        6 * self.timers.len()
    }

    fn next_visit(&self) -> Option<u64> {
        self.timers.values().map(|timer| timer.visit).min()
    }

    /// Without a budget: one that ends early puts off to the next tick what is ahead of need.
    fn advance(&mut self, now: u64) {
        let now = now.max(self.cursor.saturating_sub(1));
        let due_by_now = self.go_to(now);
        let mut fired = BTreeMap::new();
        let progress = self
            .wheel
            .advance(Tick::new(now), Budget::UNLIMITED, |timer| {
                fired.insert(timer.value, timer.due.get());
            });
        assert!(!progress.more, "{progress:?} without a budget");
        assert_eq!(fired, due_by_now, "what fired by {now}, and what was due");
        self.compare();
    }

    /// Moves the cursor behind `now`, as the wheel must: from visit to visit. What is due by then
    /// leaves.
    fn go_to(&mut self, now: u64) -> BTreeMap<u64, u64> {
        let mut fired = BTreeMap::new();
        let visits_max = self.visits_max();
        for visits in 0.. {
            let Some(visit) = self.next_visit().filter(|&visit| visit <= now) else {
                break;
            };
            assert!(visits < visits_max, "a timer is visited for ever");
            self.cursor = self.cursor.max(visit);
            let looked_at = self.timers.iter().filter(|(_, timer)| timer.visit == visit);
            let looked_at: Vec<u64> = looked_at.map(|(&value, _)| value).collect();
            for value in looked_at {
                let due = self.timers[&value].due;
                if due <= visit {
                    self.timers.remove(&value);
                    fired.insert(value, due);
                } else {
                    let visit = self.visit(self.cursor, due);
                    let timer = self.timers.get_mut(&value).expect("it is pending");
                    timer.visit = visit;
                }
            }
        }
        self.cursor = self.cursor.max(now.saturating_add(1));
        fired
    }

    fn compare(&mut self) {
        let next = self.wheel.next_due().map(Tick::get);
        let expected = self.next_visit();
        assert_eq!(
            next,
            expected,
            "the next visit, on ticks of {} to a millisecond, at {}, of {:?}",
            self.units[1],
            self.cursor,
            self.timers.values()
        );
        assert_eq!(self.wheel.len(), self.timers.len());
    }
}
