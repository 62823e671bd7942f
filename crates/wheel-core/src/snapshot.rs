//! The picture of a running wheel: how many entries each slot holds, and how many wait elsewhere.
//!
//! For people and their dashboards. Levels and slots are plain memory of the driver, so the driver
//! takes the picture, between two of its calls: nothing is counted for it meanwhile, and threads
//! that insert and cancel go on. A slot knows how many items it holds, so the cost is a look at each
//! slot, the same however many timers there are; nothing of an entry is touched.
//!
//! ```text
//!           intake --> placed: levels, overdue, overflow, put off
//!   live + vacant   =  intake + placed
//! ```
//!
//! Whether an entry is pending or was cancelled stands in the entry, and nobody walks there. So the
//! slots tell of entries, and the number of live ones is the wheel's own count.

use crate::Tick;
use crate::driver::Driver;
use crate::level::{LEVELS, NAMES};
use crate::levels::Levels;
use crate::local::LocalWheel;

/// What a wheel holds, and where. Taken by [`Driver::snapshot`] or [`LocalWheel::snapshot`].
///
/// What belongs to the driver is of one moment: `levels`, `overdue`, `overflow`, `put_off`, and
/// their sum, [`placed`](Snapshot::placed). `intake` and `live` are read right after it, while other
/// threads go on. When none is in a call, `live + vacant` is `intake + placed()` exactly; else
/// `vacant`, which is what is left, may be off by a few per thread. A [`LocalWheel`]'s is always
/// exact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The tick of the latest advance.
    pub now: Tick,
    /// The levels in use, the finest first.
    pub levels: Vec<LevelSnapshot>,
    /// Entries that came when their tick was over, and were not looked at since.
    pub overdue: usize,
    /// Entries that are due beyond the span, outside the levels.
    pub overflow: usize,
    /// Entries whose turn came while a thread was in the midst of a call on them.
    pub put_off: usize,
    /// Entries that were inserted and have no place yet.
    pub intake: usize,
    /// Timers that are pending: [`Wheel::len`](crate::Wheel::len).
    pub live: usize,
    /// Entries that were cancelled, and hold their place until somebody uses them again or the driver
    /// meets them.
    pub vacant: usize,
}

/// One level of a wheel: two turns of slots, as of the hand of a clock.
///
/// An entry is in the slot in which the driver will look at it, which is the one of its due tick, or
/// an earlier one for a timer that took over the entry of a cancelled one. Before a slot of a coarse
/// level begins, its entries go to the finer ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LevelSnapshot {
    /// `ms`, `s`, `min`, `hour`; `tick` for the finest of a wheel whose tick is shorter than 1 ms.
    pub name: &'static str,
    /// How many ticks a slot is long.
    pub slot_ticks: u64,
    /// The tick at which the first slot of this turn begins.
    pub begins: Tick,
    /// Where in this turn the driver stands: the slot of the next tick to be done.
    pub hand: usize,
    /// How many entries each slot of this turn holds. Those before the hand are done, and hold none.
    pub this_turn: Vec<u32>,
    /// How many each one of the next turn holds.
    pub next_turn: Vec<u32>,
}

impl Snapshot {
    /// Entries that have a place: in the levels, overdue, in the overflow, or put off.
    pub fn placed(&self) -> usize {
        let levels = self.levels.iter().map(LevelSnapshot::entries);
        levels.sum::<usize>() + self.overdue + self.overflow + self.put_off
    }

    fn of(levels: &Levels, now: Tick, put_off: usize) -> Snapshot {
        let used = levels.scale.finest()..LEVELS;
        let snapshot = Snapshot {
            now,
            levels: used.map(|level| levels.level_snapshot(level)).collect(),
            overdue: levels.overdue_len(),
            overflow: levels.far_len(),
            put_off,
            intake: 0,
            live: 0,
            vacant: 0,
        };
        debug_assert_eq!(snapshot.placed(), levels.held, "a place was left out");
        snapshot
    }

    fn with(self, intake: usize, live: usize) -> Snapshot {
        let vacant = (intake + self.placed()).saturating_sub(live);
        Snapshot {
            intake,
            live,
            vacant,
            ..self
        }
    }
}

impl LevelSnapshot {
    /// Entries in the slots of both turns.
    pub fn entries(&self) -> usize {
        let slots = self.this_turn.iter().chain(&self.next_turn);
        slots.map(|&len| len as usize).sum()
    }

    /// The slots of both turns in order of time: the tick at which each begins, and how many entries
    /// it holds.
    pub fn slots(&self) -> impl Iterator<Item = (Tick, u32)> {
        let slots = self.this_turn.iter().chain(&self.next_turn);
        slots.enumerate().map(|(nth, &len)| {
            let ahead = self.slot_ticks.saturating_mul(nth as u64);
            (Tick::new(self.begins.get().saturating_add(ahead)), len)
        })
    }
}

impl Levels {
    fn level_snapshot(&self, level: usize) -> LevelSnapshot {
        let (scale, turn) = (self.scale, self.scale.turn(level));
        let first = scale.number(level + 1, self.cursor) * turn as u64;
        // At the end of time the numbers of a turn go on beyond the last one, and so do their places.
        let len = |nth: usize| self.rings[level].len(first.wrapping_add(nth as u64));
        LevelSnapshot {
            name: NAMES[level],
            slot_ticks: scale.unit(level),
            begins: Tick::new(scale.start(level, first)),
            hand: (scale.number(level, self.cursor) - first) as usize,
            this_turn: (0..turn).map(len).collect(),
            next_turn: (turn..2 * turn).map(len).collect(),
        }
    }
}

impl<T> Driver<T> {
    /// What the wheel holds, and where, at this moment.
    ///
    /// Costs a look at each slot, some microseconds, whatever is pending, and allocates. Stops
    /// nobody: other threads insert and cancel meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Budget, Config, Tick};
    ///
    /// let (wheel, mut driver) = Config::new().build();
    /// for due in [40, 1040, 90_000] {
    ///     wheel.insert(Tick::new(due), "a timer")?;
    /// }
    /// assert_eq!(driver.snapshot().intake, 3);
    ///
    /// driver.advance(Tick::new(9), Budget::UNLIMITED, |_| ());
    /// let snapshot = driver.snapshot();
    /// let [ms, s, min, hour] = &snapshot.levels[..] else { panic!("a tick of 1 ms") };
    /// assert_eq!((ms.name, ms.hand), ("ms", 10));
    /// assert_eq!((ms.this_turn[40], ms.next_turn[40]), (1, 1));
    /// assert_eq!((s.next_turn[30], min.entries(), hour.entries()), (1, 0, 0));
    /// assert_eq!((snapshot.live, snapshot.placed(), snapshot.intake), (3, 3, 0));
    /// # Ok::<(), wheel_core::InsertError<&str>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        let now = Tick::new(self.engine.now());
        let placed = Snapshot::of(&self.levels, now, self.put_off.len());
        // The count of live ones last: what is inserted meanwhile is then missing among the vacant
        // ones, and what is cancelled meanwhile is one of them.
        let intake = self.taken.entries + self.engine.intake.len();
        placed.with(intake, self.engine.places.live())
    }
}

impl<T> LocalWheel<T> {
    /// What the wheel holds, and where. Costs a look at each slot, and allocates.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Config, Tick};
    ///
    /// let mut wheel = Config::new().build_local();
    /// let idle = wheel.insert(Tick::new(30_000), "idle")?;
    /// wheel.cancel(idle);
    /// let snapshot = wheel.snapshot();
    /// assert_eq!((snapshot.live, snapshot.vacant, snapshot.placed()), (0, 1, 1));
    /// # Ok::<(), wheel_core::InsertError<&str>>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.levels(), self.now(), 0).with(0, self.len())
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use crate::state::{Phase, Word};
    use crate::{Budget, Config, Key, TickLength, Wheel};
    use proptest::prelude::*;
    use wheel_testkit::{Random, seeds};

    const DAY: u64 = 86_400_000;

    /// How many entries are live, vacant and busy, by a walk over all that were ever used.
    fn walk<T>(driver: &Driver<T>) -> (usize, usize, usize) {
        let arena = &driver.engine.arena;
        let entries = (0..arena.used()).filter_map(|number| arena.find(number));
        let phases: Vec<Phase> = entries
            .map(|(_, entry)| entry.state.look().phase())
            .collect();
        let count = |wanted| phases.iter().filter(|&&phase| phase == wanted).count();
        (count(Phase::Live), count(Phase::Vacant), count(Phase::Busy))
    }

    fn assert_tells_what_a_walk_finds<T>(driver: &Driver<T>) {
        let seen = driver.snapshot();
        assert_eq!((seen.live, seen.vacant, 0), walk(driver), "{seen:?}");
        assert_eq!(seen.placed(), driver.levels.held);
        assert_eq!(seen.placed() + seen.intake, seen.live + seen.vacant);
    }

    /// Each slot holds no more than is due in it, and all together hold all that are within the span.
    fn assert_each_is_in_the_slot_of_its_due(seen: &Snapshot, dues: &[u64]) {
        for level in &seen.levels {
            for (begins, len) in level.slots().filter(|&(_, len)| len > 0) {
                let last = begins.get().saturating_add(level.slot_ticks - 1);
                let due_in_it = dues
                    .iter()
                    .filter(|due| (begins.get()..=last).contains(due));
                assert!(
                    due_in_it.count() >= len as usize,
                    "{}: {begins:?}",
                    level.name
                );
            }
            let done = level.this_turn[..level.hand].iter();
            assert_eq!(done.sum::<u32>(), 0, "behind the hand of {}", level.name);
        }
        assert_eq!(seen.placed() + seen.intake, dues.len());
    }

    fn scales() -> impl Strategy<Value = TickLength> {
        let fine = TickLength::new(std::time::Duration::from_micros(40));
        prop_oneof![Just(TickLength::MILLISECOND), Just(fine.unwrap())]
    }

    proptest! {
        #[test]
        fn what_was_never_cancelled_is_in_the_slot_of_its_due_tick_through_all_cascades(
            tick in scales(), start in 0..3 * DAY,
            steps in proptest::collection::vec((0..DAY, 1u64..10, 0..22u32, 0..40usize), 1..40)
        ) {
            let (wheel, mut driver) = Config::new().tick_length(tick).start(Tick::new(start)).build();
            let (mut now, mut dues) = (start, Vec::new());
            for (ahead, count, bits, budget) in steps {
                for nth in 0..count {
                    let due = now + (ahead >> bits) + nth * nth;
                    wheel.insert(Tick::new(due), due).unwrap();
                    dues.push(due);
                }
                now += ahead >> (bits + 3);
                driver.advance(Tick::new(now), Budget::new(budget), |timer| {
                    let place = dues.iter().position(|&due| due == timer.value).unwrap();
                    dues.swap_remove(place);
                });
                assert_each_is_in_the_slot_of_its_due(&driver.snapshot(), &dues);
                driver.next_due();
                assert_each_is_in_the_slot_of_its_due(&driver.snapshot(), &dues);
            }
        }
    }

    fn insert_some(wheel: &Wheel<u64>, now: u64, random: &mut Random, keys: &mut Vec<Key>) {
        for _ in 0..random.below(12_000) {
            let due = now + (random.below(2 * DAY) >> random.below(28));
            keys.push(wheel.insert(Tick::new(due), due).unwrap());
        }
    }

    #[test]
    fn live_and_vacant_are_those_that_a_walk_over_all_entries_finds() {
        let mut swept = 0;
        for seed in seeds(6) {
            let mut random = Random::new(seed);
            let (wheel, mut driver) = Config::new().build();
            let (mut now, mut keys) = (0, Vec::new());
            for _ in 0..12 {
                insert_some(&wheel, now, &mut random, &mut keys);
                assert_tells_what_a_walk_finds(&driver);
                if random.one_in(2) {
                    driver.advance(Tick::new(now), Budget::UNLIMITED, |_| ());
                }
                // Not the latest alone, or each insert would use again what was cancelled.
                let share = random.between(2, 9);
                keys.retain(|&key| random.one_in(share) || wheel.cancel(key).is_none());
                now += random.below(DAY) >> random.below(28);
                let budget = Budget::new(random.below(8_000) as usize);
                driver.advance(Tick::new(now), budget, |_| ());
                assert_tells_what_a_walk_finds(&driver);
                swept += usize::from(driver.levels.is_sweeping());
                driver.next_due();
                assert_tells_what_a_walk_finds(&driver);
            }
            for key in keys {
                wheel.cancel(key);
            }
            while let Some(due) = driver.next_due() {
                driver.advance(due, Budget::UNLIMITED, |_| ());
            }
            let seen = driver.snapshot();
            assert_eq!(
                (seen.live, seen.vacant, seen.placed(), seen.intake),
                (0, 0, 0, 0)
            );
        }
        assert!(swept > 0, "no sweep was on");
    }

    #[test]
    fn what_a_small_budget_leaves_of_the_intake_is_still_told() {
        let (wheel, mut driver) = Config::new().build();
        for due in DAY..DAY + 10 {
            wheel.insert(Tick::new(due), ()).unwrap();
        }
        assert_eq!((wheel.intake_len(), driver.snapshot().intake), (10, 10));
        driver.advance(Tick::ZERO, Budget::new(4), |_| ());
        let seen = driver.snapshot();
        assert_eq!((wheel.intake_len(), seen.placed() + seen.intake), (0, 10));
        assert!(seen.placed() <= 4, "{seen:?}");
    }

    #[test]
    fn an_entry_that_a_thread_is_writing_is_told_as_put_off() {
        let (wheel, mut driver) = Config::new().build();
        let key = wheel.insert(Tick::new(5), ()).unwrap();
        driver.next_due();
        let entry = driver.engine.arena.get(key.index());
        let live = Word::live(key.generation());
        assert!(entry.state.claim_live(live));
        driver.advance(Tick::new(5), Budget::UNLIMITED, |_| ());
        let seen = driver.snapshot();
        assert_eq!(
            (seen.put_off, seen.placed(), walk(&driver)),
            (1, 1, (0, 0, 1))
        );
        driver.engine.arena.get(key.index()).state.unclaim(live);
        driver.advance(Tick::new(6), Budget::UNLIMITED, |_| ());
        assert_eq!(driver.snapshot().placed(), 0);
    }

    #[test]
    fn at_the_end_of_time_every_place_is_told() {
        let start = u64::MAX - 1_500;
        let (wheel, mut driver) = Config::new().start(Tick::new(start)).build();
        for back in [0, 1, 700, 1_499, 3_000] {
            wheel.insert(Tick::new(u64::MAX - back), back).unwrap();
        }
        driver.next_due();
        let seen = driver.snapshot();
        assert_eq!((seen.placed(), seen.overdue), (5, 1));
        driver.advance(Tick::MAX, Budget::UNLIMITED, |_| ());
        assert_eq!(driver.snapshot().placed(), 0);
    }
}
