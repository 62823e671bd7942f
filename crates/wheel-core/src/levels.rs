//! All levels together: where an entry goes, and which one to look at next.
//!
//! This is the clockwork, without the clock and without the timers: it knows entries by index only
//! and never asks whether one is still pending. `Driver` and `LocalWheel` both stand on it. One
//! owner, no atomics.
//!
//! What holds between calls:
//! - Every tick before the cursor is done: no slot behind it holds anything.
//! - An item is looked at no later than the tick it was put in for (`put`), which is its timer's
//!   due tick, or an earlier one when the timer was re-armed in place.
//! - Above the finest level, the slot that the cursor stands in is empty unless `unsettled`.
//!
//! The algorithm is the hierarchical wheel of Varghese and Lauck ("Hashed and Hierarchical Timing
//! Wheels", SOSP 1987, scheme 7), with two banks to a level so that a cascade can be spread over
//! the whole unit before it is needed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::budget::Work;
use crate::level::{LEVELS, Reach, Scale, TOP};
use crate::overflow::{FarEntry, Overflow};
use crate::slots::{Item, Pool, Ring};
use crate::sweep::SweepAt;
use crate::{Tick, TickLength};

/// What comes next.
pub(crate) enum Step {
    /// Look at this entry: it fires if it is due at `at` or before. It has no place any more.
    Look { index: u32, at: u64 },
    /// Nothing is left up to the tick asked for.
    Done,
    /// The budget has run out first.
    Cut,
}

/// The levels, the overdue and the far timers.
pub(crate) struct Levels {
    pub(crate) scale: Scale,
    pub(crate) reach: Reach,
    /// The tick to do next.
    pub(crate) cursor: u64,
    pub(crate) rings: [Ring; LEVELS],
    pub(crate) pool: Pool,
    pub(crate) far: Option<Box<dyn Overflow>>,
    /// Put in after their tick was done, by due tick.
    overdue: BinaryHeap<Reverse<(u64, u32)>>,
    /// The tick that is being advanced to.
    target: u64,
    /// Without an overflow: what was beyond the span when a jump of days met it, by due tick, so
    /// that it does not take each turn on the way. Empty once the jump is done.
    skipping: BinaryHeap<Reverse<(u64, u32)>>,
    /// The cursor has entered another turn of the finest level: coarser slots may have begun.
    pub(crate) unsettled: bool,
    /// The next tick to visit, when it is known.
    visit: Option<Option<u64>>,
    /// Entries that have a place.
    pub(crate) held: usize,
    pub(crate) sweep: SweepAt,
    /// Ticks at which the cursor has stopped.
    #[cfg(test)]
    pub(crate) stops: u64,
}

impl Levels {
    pub(crate) fn new(tick: TickLength, start: Tick, far: Option<Box<dyn Overflow>>) -> Levels {
        let scale = Scale::new(tick);
        Levels {
            scale,
            reach: Reach::at(scale, start.get()),
            cursor: start.get(),
            rings: std::array::from_fn(|level| Ring::new(scale.ring(level))),
            pool: Pool::default(),
            far,
            overdue: BinaryHeap::new(),
            target: start.get(),
            skipping: BinaryHeap::new(),
            unsettled: true,
            visit: None,
            held: 0,
            sweep: SweepAt::default(),
            #[cfg(test)]
            stops: 0,
        }
    }

    /// Gives a place to an entry that has none.
    pub(crate) fn place(&mut self, index: u32, due: u64) {
        self.held += 1;
        self.put(index, due);
    }

    /// Puts an entry where it will be looked at by `due`, which counts as held already.
    #[inline]
    pub(crate) fn put(&mut self, index: u32, due: u64) {
        if due >= self.cursor
            && let Some(level) = self.reach.level(self.scale, due)
        {
            self.put_in_slot(level, index, due);
        } else {
            self.put_aside(index, due);
        }
    }

    #[inline]
    fn put_in_slot(&mut self, level: usize, index: u32, due: u64) {
        let number = self.scale.number(level, due);
        let item = Item {
            index,
            low: due as u32,
        };
        let len = self.rings[level].push(number, item, &mut self.pool);
        // While it advances the driver does not know its next visit, and nothing is worked out.
        if self.visit.is_some() {
            self.visit_by(match level == self.scale.finest() {
                true => due,
                false => self.cascade_visit(level, number, len),
            });
        }
    }

    /// Puts an entry where there is no slot for it: it is due before the cursor or beyond the span.
    #[cold]
    fn put_aside(&mut self, index: u32, due: u64) {
        if due < self.cursor {
            self.overdue.push(Reverse((due, index)));
            self.visit_by(due);
        } else if let Some(far) = &mut self.far {
            far.insert(Tick::new(due), FarEntry(index));
            self.visit_by(self.far_visit(due));
        } else {
            let turn = self.another_turn(index);
            if turn <= self.target {
                self.skipping.push(Reverse((due, index)));
                self.visit_by(self.far_visit(due));
            } else {
                self.put_in_slot(TOP, index, turn);
            }
        }
    }

    /// The next visit is at `visit` at the latest.
    fn visit_by(&mut self, visit: u64) {
        if let Some(known) = &mut self.visit {
            *known = Some(known.map_or(visit, |known| known.min(visit)));
        }
    }

    /// Without an overflow, a tick in the last slot of the hour level for a timer beyond it. Spread
    /// by index, so that they do not all come back in one tick.
    fn another_turn(&self, index: u32) -> u64 {
        let last = self.scale.number(TOP, self.reach.span_end());
        let unit = self.scale.unit(TOP);
        let spread = u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15) % unit;
        self.scale
            .start(TOP, last)
            .saturating_add(spread)
            .min(self.reach.span_end())
    }

    /// The next entry to look at, up to tick `now`. `ahead` is told of entries that follow soon.
    #[inline]
    pub(crate) fn next(&mut self, now: u64, work: &mut Work, ahead: impl Fn(u32)) -> Step {
        let finest = self.scale.finest();
        if let Some(visit) = self.visit
            && visit.is_none_or(|visit| visit > now)
            && self.skipping.is_empty()
        {
            self.move_to(now.saturating_add(1));
            return Step::Done;
        }
        self.target = now;
        self.visit = None;
        loop {
            if let Some(&Reverse((due, index))) = self.overdue.peek()
                && due <= now
            {
                if !work.spend() {
                    return Step::Cut;
                }
                self.overdue.pop();
                return Step::Look { index, at: due };
            }
            if self.cursor <= now {
                if self.unsettled && !self.settle(work, &ahead) {
                    return Step::Cut;
                }
                if self.rings[finest].len(self.cursor) > 0 {
                    if !work.spend() {
                        return Step::Cut;
                    }
                    let item = self.rings[finest].pop(self.cursor, &mut self.pool, &ahead);
                    let index = item.expect("the slot holds something").index;
                    return Step::Look {
                        index,
                        at: self.cursor,
                    };
                }
            }
            self.visit = None;
            match self.next_visit() {
                Some(visit) if visit <= now && visit > self.cursor => self.move_to(visit),
                // What is left at the cursor is ahead of need.
                Some(visit) if visit <= now => {
                    if work.left() == 0 {
                        return Step::Cut;
                    }
                    self.work_ahead(work, &ahead);
                    if self.cursor == u64::MAX {
                        return Step::Done;
                    }
                    self.move_to(self.cursor + 1);
                }
                _ => {
                    self.move_to(now.saturating_add(1));
                    return match self.end_jump(work) {
                        true => Step::Done,
                        false => Step::Cut,
                    };
                }
            }
        }
    }

    /// Puts what a jump has skipped where it belongs. False when the budget ran out first.
    fn end_jump(&mut self, work: &mut Work) -> bool {
        while let Some(&Reverse((due, index))) = self.skipping.peek() {
            if !work.spend() {
                return false;
            }
            self.skipping.pop();
            self.put(index, due);
        }
        true
    }

    /// How many entries were put in after their tick was done.
    pub(crate) fn overdue_len(&self) -> usize {
        self.overdue.len()
    }

    /// How many entries beyond the span wait outside the slots.
    pub(crate) fn far_len(&self) -> usize {
        self.skipping.len() + self.far.as_ref().map_or(0, |far| far.len())
    }

    /// The due tick of the earliest timer beyond the span that waits outside the slots.
    pub(crate) fn far_due(&self) -> Option<u64> {
        match &self.far {
            Some(far) => far.next_due().map(Tick::get),
            None => self.skipping.peek().map(|&Reverse((due, _))| due),
        }
    }

    /// Takes the earliest of them and puts it where it belongs now.
    pub(crate) fn refill(&mut self) {
        let earliest = match &mut self.far {
            Some(far) => far.pop().map(|(due, entry)| (due.get(), entry.0)),
            None => self.skipping.pop().map(|Reverse(earliest)| earliest),
        };
        // An overflow of the user's that says so for ever would keep the driver for ever.
        let (due, index) = earliest.expect("whoever tells when its earliest timer is due has one");
        self.put(index, due);
    }

    /// Moves the cursor on; what lies behind it is done.
    fn move_to(&mut self, cursor: u64) {
        if cursor <= self.cursor {
            return;
        }
        self.cursor = cursor;
        #[cfg(test)]
        {
            self.stops += 1;
        }
        if !self.reach.holds_at(cursor) {
            self.reach = Reach::at(self.scale, cursor);
            self.unsettled = true;
        }
    }

    /// The next tick at which there is something to do: a timer that may be due, or a cascade that
    /// should go on. Before the cursor only when something is overdue.
    pub(crate) fn next_visit(&mut self) -> Option<u64> {
        if let Some(known) = self.visit {
            return known;
        }
        let finest = self.scale.finest();
        let overdue = self.overdue.peek().map(|&Reverse((due, _))| due);
        let due = self.rings[finest].next_occupied(self.cursor);
        let cascades = (finest + 1..LEVELS).filter_map(|level| {
            let stands = self.scale.number(level, self.cursor);
            let number = self.rings[level].next_occupied(stands)?;
            Some(self.cascade_visit(level, number, self.rings[level].len(number)))
        });
        let refill = self.far_due().map(|due| self.far_visit(due));
        let visit = overdue
            .into_iter()
            .chain(due)
            .chain(cascades)
            .chain(refill)
            .min();
        self.visit = Some(visit);
        visit
    }

    /// Looks at the earliest overdue entries, so that one that was cancelled or put off meanwhile
    /// does not pass for something that is due. `due` tells when an entry is due now, or `None`
    /// when it is free.
    pub(crate) fn review_overdue(&mut self, mut due: impl FnMut(u32) -> Option<u64>) {
        while let Some(&Reverse((was, index))) = self.overdue.peek() {
            match due(index) {
                Some(due) if due <= was => return,
                Some(due) => {
                    self.overdue.pop();
                    self.put(index, due);
                }
                None => {
                    self.overdue.pop();
                    self.held -= 1;
                }
            }
            self.forget_visit();
        }
    }

    /// Forgets the tick that `next_visit` has worked out: something was taken out of a slot.
    pub(crate) fn forget_visit(&mut self) {
        self.visit = None;
    }
}
