//! Slot arithmetic: which level and slot a due tick belongs to. Pure numbers, no state but the
//! scale.
//!
//! ```text
//!   level    a slot is   slots to a turn    a turn is
//!   hour     1 h         24                 a day: the span
//!   min      1 min       60                 1 h
//!   s        1 s         60                 1 min
//!   ms       1 ms        1000               1 s
//!   tick     1 tick      up to 100          1 ms         only when the tick is shorter than 1 ms
//! ```
//!
//! Each level has two banks, this turn and the next, so its ring has at least twice the slots of a
//! turn. Where a tick belongs goes by whole turns and not by the distance: due in this second or
//! the next one, to the ms level; else in this minute or the next one, to the s level; and so on.
//! Hence a slot above the finest level takes no more entries from the moment that the unit before
//! its own has begun, and can be emptied into the other bank of the level below over that whole
//! unit.
//!
//! Slots are *numbered* from the origin on: slot number `n` of a level begins at tick `n * unit`,
//! and lies at `n` modulo the length of its ring.

use wheel_sync::{MODELLED, SIZES, Sizes};

use crate::TickLength;

/// Levels, the finest first. The first one is used only with ticks shorter than a millisecond.
pub(crate) const LEVELS: usize = 5;
/// The hour level.
pub(crate) const TOP: usize = LEVELS - 1;
const MS: usize = 1;

/// What the levels are called.
pub(crate) const NAMES: [&str; LEVELS] = ["tick", "ms", "s", "min", "hour"];

/// Slots to a turn of the levels from ms up.
const TURNS: [u32; LEVELS] = match SIZES {
    Sizes::Full => [0, 1000, 60, 60, 24],
    Sizes::Small => [0, 4, 4, 4, 4],
    Sizes::Tiny => [0, 2, 2, 2, 2],
};

/// Milliseconds in a slot of the levels from ms up; the last is a turn of the hour level.
const UNITS_MS: [u64; LEVELS + 1] = {
    let mut units = [0, 1, 0, 0, 0, 0];
    let mut level = MS;
    while level < LEVELS {
        units[level + 1] = units[level] * TURNS[level] as u64;
        level += 1;
    }
    units
};

const _: () = assert!(MODELLED || UNITS_MS[LEVELS] == 24 * 60 * 60 * 1000);

/// The most slots that a ring can have.
pub(crate) const RING_MAX: usize = 2048;

const _: () = assert!((2 * TURNS[MS] as usize).next_power_of_two() <= RING_MAX);

/// How levels measure, given the length of a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    per_ms: u64,
}

impl Scale {
    pub(crate) fn new(tick: TickLength) -> Scale {
        Scale {
            per_ms: u64::from(tick.per_ms()),
        }
    }

    /// The level whose slots are one tick long.
    #[inline]
    pub(crate) const fn finest(self) -> usize {
        if self.per_ms == 1 { MS } else { 0 }
    }

    /// Slots in the ring of a level: two turns at least, and a power of two, so that a slot is
    /// found without a division. None for a level that is not used.
    pub(crate) const fn ring(self, level: usize) -> usize {
        match level {
            0 if self.per_ms == 1 => 0,
            0 => (2 * self.per_ms as usize).next_power_of_two(),
            _ => (2 * TURNS[level] as usize).next_power_of_two(),
        }
    }

    /// Slots to a turn of a level; none for a level that is not used.
    pub(crate) const fn turn(self, level: usize) -> usize {
        match level {
            0 if self.per_ms == 1 => 0,
            0 => self.per_ms as usize,
            _ => TURNS[level] as usize,
        }
    }

    /// Ticks in a slot of a level; for `LEVELS`, ticks in the span.
    pub(crate) const fn unit(self, level: usize) -> u64 {
        match level {
            0 => 1,
            _ => UNITS_MS[level] * self.per_ms,
        }
    }

    /// The number of the slot of `level` that `tick` lies in; for `LEVELS`, of the day.
    ///
    /// Divides by constants, but for the one division that ticks shorter than 1 ms need.
    #[inline]
    pub(crate) const fn number(self, level: usize, tick: u64) -> u64 {
        if level == 0 {
            return tick;
        }
        let ms = match self.per_ms {
            1 => tick,
            per_ms => tick / per_ms,
        };
        match level {
            1 => ms,
            2 => ms / UNITS_MS[2],
            3 => ms / UNITS_MS[3],
            4 => ms / UNITS_MS[4],
            _ => ms / UNITS_MS[5],
        }
    }

    /// The first tick of a slot, or the last tick there is if the slot would begin after it.
    #[inline]
    pub(crate) const fn start(self, level: usize, number: u64) -> u64 {
        number.saturating_mul(self.unit(level))
    }
}

/// How far each level reaches while the driver stands in one turn of the finest level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// The last tick that belongs to each level or a finer one.
    last: [u64; LEVELS],
    /// The last tick of the finest level's turn: up to here `last` holds.
    until: u64,
}

impl Reach {
    pub(crate) fn at(scale: Scale, cursor: u64) -> Reach {
        let last = std::array::from_fn(|level| {
            let turn = u128::from(scale.unit(level + 1));
            let begun = u128::from(scale.number(level + 1, cursor));
            u64::try_from((begun + 2) * turn - 1).unwrap_or(u64::MAX)
        });
        let turn = scale.finest() + 1;
        let next = scale.number(turn, cursor) + 1;
        let until = match next.checked_mul(scale.unit(turn)) {
            Some(next) => next - 1,
            None => u64::MAX,
        };
        Reach { last, until }
    }

    /// False when the driver has left the turn that this was made for.
    #[inline]
    pub(crate) const fn holds_at(&self, cursor: u64) -> bool {
        cursor <= self.until
    }

    /// The level that `due`, which is not before the cursor, belongs to; `None` beyond the span.
    #[inline]
    pub(crate) fn level(&self, scale: Scale, due: u64) -> Option<usize> {
        (scale.finest()..LEVELS).find(|&level| due <= self.last[level])
    }

    /// The last tick of the finest level's turn.
    pub(crate) const fn turn_end(&self) -> u64 {
        self.until
    }

    /// The last tick within the span.
    pub(crate) const fn span_end(&self) -> u64 {
        self.last[TOP]
    }
}

#[cfg(all(test, not(wheel_model)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    /// Ticks to a millisecond, for every length that a tick can have.
    const PER_MS: [u64; 15] = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100];

    fn tick(nanos: u64) -> Option<TickLength> {
        TickLength::new(Duration::from_nanos(nanos)).ok()
    }

    fn scales() -> impl Iterator<Item = Scale> {
        let ticks = PER_MS.map(|per_ms| tick(1_000_000 / per_ms).unwrap());
        ticks.into_iter().map(Scale::new)
    }

    fn near_boundaries() -> impl Strategy<Value = u64> {
        const MARKS: [u64; 14] = [
            0,
            1000,
            60_000,
            3_600_000,
            86_400_000,
            172_800_000,
            100_000_000,
            8_640_000_000,
            1 << 31,
            1 << 32,
            1 << 36,
            1 << 40,
            1 << 63,
            u64::MAX,
        ];
        prop_oneof![
            any::<u64>(),
            (proptest::sample::select(&MARKS[..]), -3i64..=3, 0u64..=3).prop_map(
                |(mark, off, times)| {
                    mark.saturating_mul(times.max(1)).saturating_add_signed(off)
                }
            ),
        ]
    }

    proptest! {
        /// The ring never holds two turns of the same slot, and the driver meets each slot in time.
        #[test]
        fn a_tick_lies_ahead_of_the_driver_and_within_the_ring(
            cursor in near_boundaries(), ahead in near_boundaries()
        ) {
            let due = cursor.saturating_add(ahead);
            for scale in scales() {
                let reach = Reach::at(scale, cursor);
                prop_assert!(reach.holds_at(cursor));
                let Some(level) = reach.level(scale, due) else {
                    prop_assert!(due > reach.span_end());
                    continue;
                };
                let (number, stands) = (scale.number(level, due), scale.number(level, cursor));
                prop_assert!(number - stands < scale.ring(level) as u64, "wraps onto another slot");
                if level > scale.finest() {
                    prop_assert!(number > stands + 1, "a coarse slot was used after its turn to be emptied");
                }
                prop_assert!(scale.start(level, number) <= due);
                prop_assert!(due - scale.start(level, number) < scale.unit(level));
            }
        }

        #[test]
        fn reach_changes_with_the_turn_of_the_finest_level_only(
            cursor in near_boundaries(), step in 0u64..200_000
        ) {
            for scale in scales() {
                let (here, there) = (Reach::at(scale, cursor), Reach::at(scale, cursor.saturating_add(step)));
                if here.holds_at(cursor.saturating_add(step)) {
                    let used = scale.finest()..;
                    prop_assert_eq!(&here.last[used.clone()], &there.last[used]);
                }
            }
        }
    }

    #[test]
    fn no_length_of_a_tick_is_left_out() {
        let lengths = (1..=1_000_000).filter(|&nanos| tick(nanos).is_some());
        assert_eq!(lengths.count(), PER_MS.len());
    }

    #[test]
    fn slots_are_the_hands_of_a_clock() {
        let scale = Scale::new(TickLength::MILLISECOND);
        let reach = Reach::at(scale, 0);
        for (due, level) in [
            (0, Some(1)),
            (1_999, Some(1)),
            (2_000, Some(2)),
            (119_999, Some(2)),
            (120_000, Some(3)),
            (7_199_999, Some(3)),
            (7_200_000, Some(4)),
            (172_799_999, Some(4)),
            (172_800_000, None),
            (u64::MAX, None),
        ] {
            assert_eq!(reach.level(scale, due), level, "due {due}");
        }
    }
}
