//! Frees vacant entries that nobody re-arms, before the driver would meet them.
//!
//! A cancelled entry keeps its place until it is re-armed or visited. When the entries that have a
//! place outnumber the live timers by half, a sweep begins: it goes once around all slots and the
//! overflow, a few entries with each advance, and drops those that are vacant. It looks at several
//! entries for each one that is newly placed, so it ends before their number has doubled.

use crate::budget::Work;
use crate::level::LEVELS;
use crate::levels::Levels;

/// Vacant entries that are let be, so that a quiet wheel is not swept for a handful.
const SLACK: usize = 4096;
/// Entries that each advance looks at while a sweep is on, besides those for what was placed.
const STEP: usize = 256;
/// Entries that a sweep looks at for each one placed.
const PER_PLACED: usize = 4;

/// How far a sweep has come.
#[derive(Debug, Default)]
pub(crate) struct SweepAt {
    on: bool,
    level: usize,
    /// The ring's slot to go on with.
    slot: usize,
    /// Items of that slot not yet seen in this round.
    left: u32,
    /// How many entries may have a place before the live timers are counted again.
    check_at: usize,
}

impl Levels {
    /// Begins a sweep when too many entries are vacant. `live` counts the pending timers; it is
    /// asked only when the number of entries has grown since it was asked last.
    pub(crate) fn sweep_if_needed(&mut self, live: impl FnOnce() -> usize) {
        if self.sweep.on || self.held < self.sweep.check_at.max(SLACK) {
            return;
        }
        let live = live();
        if self.held > live + live / 2 + SLACK {
            self.sweep = SweepAt {
                on: true,
                ..SweepAt::default()
            };
        } else {
            self.sweep.check_at = self.held + live / 8 + SLACK / 4;
        }
    }

    /// Looks at some entries, if a sweep is on, and takes out those that `keep` refuses.
    pub(crate) fn sweep(
        &mut self,
        placed: usize,
        work: &mut Work,
        mut keep: impl FnMut(u32) -> bool,
    ) {
        let mut looks = STEP + PER_PLACED * placed;
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
        self.held -= before - far.len();
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
