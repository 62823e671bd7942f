//! From coarse to fine: cascades and refills, spread over the ticks before they are needed.
//!
//! A slot above the finest level is emptied into the levels below during the unit before its own.
//! It begins as late as a steady pace allows, so few timers cost no wake-up before their slot
//! begins, and a million cost each tick a few microseconds. A tick that moves more than the pace is
//! one that comes late, after a jump or behind a small budget: then what is due must be found
//! first.
//!
//! Items are copied from chunk to chunk. Their entries are not touched, so whether a timer is still
//! pending does not matter here.

use crate::budget::Work;
use crate::level::LEVELS;
use crate::levels::Levels;
use crate::slots::{CHUNK, Item};
use wheel_sync::MODELLED;

/// Items that a tick moves ahead of need, from each level. Some microseconds.
pub(crate) const PACE: u32 = if MODELLED { 1 } else { 256 };

impl Levels {
    /// When to go on with a slot above the finest level that holds `len` items.
    pub(crate) fn cascade_visit(&self, level: usize, number: u64, len: u32) -> u64 {
        let begins = self.scale.start(level, number);
        let lead = u64::from(len.saturating_sub(1) / PACE);
        let earliest = self.scale.start(level, number.saturating_sub(1));
        begins.saturating_sub(lead).max(earliest).max(self.cursor)
    }

    /// When a timer that waits in the overflow fits into the wheel.
    pub(crate) fn far_visit(&self, due: u64) -> u64 {
        let day = self.scale.number(LEVELS, due);
        let fits = self.scale.start(LEVELS, day.saturating_sub(1));
        fits.max(self.cursor).min(due)
    }

    /// Empties the slots that have begun, from coarse to fine, so that what is due at the cursor is
    /// in the finest level. False when the budget ran out first.
    pub(crate) fn settle(&mut self, work: &mut Work, ahead: impl Fn(u32)) -> bool {
        while self
            .far_due()
            .is_some_and(|due| due <= self.reach.turn_end())
        {
            if !work.spend() {
                return false;
            }
            self.refill();
        }
        for level in (self.scale.finest() + 1..LEVELS).rev() {
            let number = self.scale.number(level, self.cursor);
            let len = self.rings[level].len(number) as usize;
            if len > 0 && !self.cascade(level, number, len, work, &ahead) {
                return false;
            }
        }
        self.unsettled = false;
        true
    }

    /// Goes on with the slots that are to be emptied before they begin, at their pace.
    pub(crate) fn work_ahead(&mut self, work: &mut Work, ahead: impl Fn(u32)) {
        for level in (self.scale.finest() + 1..LEVELS).rev() {
            let number = self.scale.number(level, self.cursor).saturating_add(1);
            let len = self.rings[level].len(number);
            if len == 0 || self.cascade_visit(level, number, len) > self.cursor {
                continue;
            }
            let ticks_left = self.scale.start(level, number) - self.cursor;
            let share = u64::from(len).div_ceil(ticks_left.max(1));
            let some = share.max(u64::from(PACE)).min(u64::from(len));
            if !self.cascade(level, number, some as usize, work, &ahead) {
                return;
            }
        }
        for _ in 0..PACE {
            let fits = self
                .far_due()
                .is_some_and(|due| due <= self.reach.span_end());
            if !fits || !work.spend() {
                return;
            }
            self.refill();
        }
    }

    /// Moves the `count` oldest items of a slot. False when the budget ran out first.
    ///
    /// `ahead` is told of an entry that comes to the finest level: it will be looked at soon, and
    /// on its own, which costs a cache miss when it was not brought near.
    fn cascade(
        &mut self,
        level: usize,
        number: u64,
        count: usize,
        work: &mut Work,
        ahead: impl Fn(u32),
    ) -> bool {
        let begins = self.scale.start(level, number);
        let to_finest = level == self.scale.finest() + 1;
        let mut left = work.spend_some(count);
        let all = left == count;
        let mut items = [Item::default(); CHUNK];
        while left > 0 {
            let some = self.rings[level].pop_some(number, &mut self.pool, left, &mut items);
            assert_ne!(some, 0, "the slot holds {left} more");
            left -= some;
            for item in &items[..some] {
                // The slot is shorter than 2^32 ticks, so the low half of a tick in it gives the
                // whole.
                let due = begins + u64::from(item.low.wrapping_sub(begins as u32));
                if to_finest {
                    ahead(item.index);
                }
                self.put(item.index, due);
            }
        }
        all
    }
}
