//! Frees vacant entries that nobody re-arms, before the driver would meet them.
//!
//! A cancelled entry keeps its place until it is re-armed or visited. When the entries that have a
//! place outnumber the live timers by half, a sweep begins: it goes once around all slots and the
//! overflow, a few entries with each advance, and drops those that are vacant. It looks at several
//! entries for each one that is newly placed, so it ends before their number has doubled. What a
//! small budget leaves undone of that is owed, and the driver is called again for it.
//!
//! An advance that has visited something and found no timer to place or fire was called for vacant
//! entries, or for a cascade. Then the handful that is let be otherwise is swept too, and when no
//! timer at all is pending, everything: a wheel whose timers were all cancelled wakes once, and not
//! again for each slot that a vacant entry would pass on its way down. That too is owed when a
//! small budget cuts it.

use wheel_sync::{SIZES, Sizes};

use crate::budget::Work;
use crate::level::LEVELS;
use crate::levels::Levels;

/// Vacant entries that are let be, so that a quiet wheel is not swept for a handful.
pub(crate) const SLACK: usize = match SIZES {
    Sizes::Full | Sizes::Tiny => 4096,
    Sizes::Small => 8,
};
/// Entries that each advance looks at while a sweep is on, besides those for what was placed.
pub(crate) const STEP: usize = match SIZES {
    Sizes::Full | Sizes::Tiny => 256,
    Sizes::Small => 4,
};
/// Entries that a sweep looks at for each one placed.
pub(crate) const PER_PLACED: usize = 4;

/// How far a sweep has come.
#[derive(Debug, Default)]
pub(crate) struct SweepAt {
    on: bool,
    level: usize,
    /// The ring's slot to go on with.
    slot: usize,
    /// Items of that slot not yet seen in this round.
    left: u32,
    /// Looks that no budget has sufficed for yet: for entries that were placed, or at all there are
    /// when none of them is a timer.
    owed: usize,
    /// How many entries may have a place before the live timers are counted again.
    check_at: usize,
}

/// What an advance has done before it sweeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visited {
    /// Entries that were given a place since the last sweep.
    pub(crate) placed: usize,
    pub(crate) outcome: Outcome,
}

/// What came of the slots that an advance has visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Timers fired or were placed, or there was nothing to visit.
    Fruitful,
    /// There was something to visit, and no timer came of it.
    Fruitless,
}

impl Outcome {
    /// What the work done so far has come to, if so many timers fired or were placed.
    pub(crate) fn of(timers: usize, work: &Work) -> Outcome {
        match timers == 0 && work.spent() > 0 {
            true => Outcome::Fruitless,
            false => Outcome::Fruitful,
        }
    }
}

impl Levels {
    /// Sweeps if too many entries are vacant: takes those out that `keep` refuses. `live` counts
    /// the pending timers. True when the budget has not sufficed for what is owed.
    #[inline]
    pub(crate) fn sweep(
        &mut self,
        visited: Visited,
        work: &mut Work,
        live: impl FnOnce() -> usize,
        keep: impl FnMut(u32) -> bool,
    ) -> bool {
        let quiet = visited.placed == 0 && visited.outcome == Outcome::Fruitful;
        if quiet && !self.sweep.on && !self.may_be_crowded() {
            return false;
        }
        self.sweep_some(visited, work, live, keep)
    }

    fn sweep_some(
        &mut self,
        visited: Visited,
        work: &mut Work,
        live: impl FnOnce() -> usize,
        keep: impl FnMut(u32) -> bool,
    ) -> bool {
        self.sweep.owed += PER_PLACED * visited.placed;
        let looks = match visited.outcome {
            Outcome::Fruitful => self.sweep_if_needed(live),
            Outcome::Fruitless => self.sweep_if_fruitless(live()),
        };
        let before = work.spent();
        self.go_on_sweeping(looks, work, keep);
        let looked = work.spent() - before;
        self.sweep.owed = match self.sweep.on {
            true => self.sweep.owed.saturating_sub(looked),
            false => 0,
        };
        self.sweep.owed > 0
    }

    /// Whether there are so many entries that the live timers must be counted again.
    #[inline]
    fn may_be_crowded(&self) -> bool {
        self.held >= self.sweep.check_at.max(SLACK)
    }

    /// Whether a sweep is on.
    #[cfg(test)]
    pub(crate) fn is_sweeping(&self) -> bool {
        self.sweep.on
    }

    fn begin_sweep(&mut self) {
        self.sweep = SweepAt {
            on: true,
            owed: self.sweep.owed,
            ..SweepAt::default()
        };
    }

    /// Begins a sweep when too many entries are vacant, and says how many looks it has now. `live`
    /// is asked only when the number of entries has grown since it was asked last.
    fn sweep_if_needed(&mut self, live: impl FnOnce() -> usize) -> usize {
        if !self.sweep.on && self.may_be_crowded() {
            let live = live();
            if self.held > live + live / 2 + SLACK {
                self.begin_sweep();
            } else {
                self.sweep.check_at = self.held + live / 8 + SLACK / 4;
            }
        }
        STEP + self.sweep.owed
    }

    /// Begins a sweep of even a few vacant entries, and says how many looks it has now.
    fn sweep_if_fruitless(&mut self, live: usize) -> usize {
        if !self.sweep.on && self.held > live + live / 2 {
            self.begin_sweep();
        }
        if live == 0 {
            self.sweep.owed = self.sweep.owed.max(self.held);
        }
        STEP + self.sweep.owed
    }

    fn go_on_sweeping(
        &mut self,
        mut looks: usize,
        work: &mut Work,
        mut keep: impl FnMut(u32) -> bool,
    ) {
        while self.sweep.on && looks > 0 && work.left() > 0 {
            if self.sweep.level == LEVELS {
                self.sweep_far(&mut looks, work, &mut keep);
            } else if self.sweep.left == 0 {
                self.sweep_next_slot();
            } else {
                work.spend();
                looks -= 1;
                self.sweep_one(&mut keep);
            }
        }
    }

    fn sweep_next_slot(&mut self) {
        let at = &mut self.sweep;
        match self.rings[at.level].occupied_from(at.slot) {
            Some((slot, len)) => (at.slot, at.left) = (slot, len),
            None => (at.level, at.slot) = (at.level + 1, 0),
        }
    }

    fn sweep_one(&mut self, keep: &mut impl FnMut(u32) -> bool) {
        let at = &mut self.sweep;
        let ring = &mut self.rings[at.level];
        let before = self.held;
        match ring.rotate(at.slot, &mut self.pool, keep) {
            Some(true) => at.left -= 1,
            Some(false) => {
                at.left -= 1;
                self.held -= 1;
            }
            // The driver has emptied the slot meanwhile.
            None => at.left = 0,
        }
        if at.left == 0 {
            at.slot += 1;
        }
        if self.held < before {
            self.forget_visit();
        }
    }

    fn sweep_far(
        &mut self,
        looks: &mut usize,
        work: &mut Work,
        keep: &mut impl FnMut(u32) -> bool,
    ) {
        let Some(far) = &mut self.far else {
            self.sweep.on = false;
            return;
        };
        let limit = (*looks).min(work.left());
        let before = far.len();
        let seen = far.sweep(limit, &mut |entry| keep(entry.0));
        let after = far.len();
        assert!(
            seen <= limit && after <= before,
            "an overflow of {before} entries was swept, {limit} at most: it has shown {seen} and has {after} left"
        );
        self.held = self.held.saturating_sub(before - after);
        for _ in 0..seen {
            work.spend();
        }
        *looks -= seen;
        if seen < limit {
            self.sweep.on = false;
        }
        self.forget_visit();
    }
}
