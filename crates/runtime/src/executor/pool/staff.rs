//! How many workers there are and should be, in one word.
//!
//! ```text
//!  at work   threads that are in, busy or asleep
//!  hiring    who has counted a thread in that may not have started yet
//!  lent      substitutes that stand in for hung workers
//!  least..=most   what was asked for; with the substitutes on top
//! ```
//!
//! Ground rules: the word changes by read-modify-writes only, so every step is decided on the latest
//! numbers, and no thread waits for another: the driver may lend. A thread is counted in before it
//! is started and counted out before it ends, and none is counted in once nobody is at work: so
//! whoever has closed the pool and finds nobody at work is right for ever.
//!
//! Relaxed throughout, but for the end of a hire: the numbers publish nothing. [O80] Where they are
//! held against the bits of the sleepers, fences stand between (`hire.rs`).

use std::ops::RangeInclusive;

use wheel_sync::CachePadded;
use wheel_sync::atomic::{AtomicU64, Ordering};

/// Bits of each number: up to 4,095, where 2,048 threads are the most.
const WIDTH: u32 = 12;
const MASK: u64 = (1 << WIDTH) - 1;

/// The most workers that a pool may be asked to have.
pub(super) const WORKERS_MAX: usize = 1024;

pub(super) struct Staff(CachePadded<AtomicU64>);

/// What the word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) at_work: u64,
    hiring: u64,
    pub(super) lent: u64,
    least: u64,
    most: u64,
}

impl Numbers {
    /// Whether one more may be hired. Nobody hires for a pool that has ended.
    pub(super) fn has_room(&self) -> bool {
        self.at_work > 0 && self.at_work < self.most + self.lent
    }

    /// Whether there are more than there should be.
    pub(super) fn is_over(&self) -> bool {
        self.at_work > self.most + self.lent
    }

    /// Whether one that has nothing to do may leave.
    pub(super) fn may_shrink(&self) -> bool {
        self.at_work > self.least + self.lent
    }

    pub(super) fn most(&self) -> u64 {
        self.most
    }

    pub(super) fn lacks_some(&self) -> bool {
        self.at_work < self.least + self.lent
    }

    fn pack(self) -> u64 {
        let Numbers {
            at_work,
            hiring,
            lent,
            least,
            most,
        } = self;
        let numbers = [at_work, hiring, lent, least, most];
        numbers.iter().rev().fold(0, |word, number| {
            debug_assert!(*number <= MASK, "{self:?}");
            word << WIDTH | number
        })
    }

    fn unpack(word: u64) -> Numbers {
        let number = |index: u32| word >> (index * WIDTH) & MASK;
        Numbers {
            at_work: number(0),
            hiring: number(1),
            lent: number(2),
            least: number(3),
            most: number(4),
        }
    }
}

impl Staff {
    /// The least number is at work from the start.
    pub(super) fn new(workers: RangeInclusive<usize>) -> Staff {
        let (least, most) = (*workers.start() as u64, *workers.end() as u64);
        let numbers = Numbers {
            at_work: least,
            hiring: 0,
            lent: 0,
            least,
            most,
        };
        Staff(CachePadded::new(AtomicU64::new(numbers.pack())))
    }

    pub(super) fn read(&self) -> Numbers {
        Numbers::unpack(self.0.load(Ordering::Relaxed))
    }

    /// Takes one step, if `step` says how. The numbers before it.
    fn step(&self, step: impl Fn(Numbers) -> Option<Numbers>) -> Option<Numbers> {
        let relaxed = Ordering::Relaxed;
        let step = |word| step(Numbers::unpack(word)).map(Numbers::pack);
        let stepped = self.0.fetch_update(relaxed, relaxed, step);
        stepped.ok().map(Numbers::unpack)
    }

    /// Counts one more in, who is to be started; `false` if there is no room.
    pub(super) fn hire(&self) -> bool {
        self.step(|n| n.has_room().then(|| n.hire())).is_some()
    }

    /// Makes room for a substitute and counts it in, while fewer than `max` are lent.
    pub(super) fn lend(&self, max: u64) -> bool {
        let lend = |n: Numbers| {
            let lent = n.lent + 1;
            let more = Numbers { lent, ..n };
            (n.at_work > 0 && n.lent < max).then(|| more.hire())
        };
        self.step(lend).is_some()
    }

    /// One substitute is no longer needed.
    pub(super) fn take_back(&self) {
        let take_back = |n: Numbers| {
            let lent = n.lent.checked_sub(1)?;
            Some(Numbers { lent, ..n })
        };
        let _ = self.step(take_back);
    }

    /// The one who was counted in by this thread has been started.
    pub(super) fn hired(&self) {
        // Release: its handle; pairs with `is_hiring`. [O81]
        self.0.fetch_sub(1 << WIDTH, Ordering::Release);
    }

    /// The one who was counted in by this thread could not be started.
    pub(super) fn not_hired(&self) {
        self.0.fetch_sub((1 << WIDTH) + 1, Ordering::Relaxed);
    }

    /// Whether somebody who was counted in may not have started.
    pub(super) fn is_hiring(&self) -> bool {
        // Acquire: the handles; pairs with `hired`. [O81]
        Numbers::unpack(self.0.load(Ordering::Acquire)).hiring > 0
    }

    /// Counts the caller out if there are more than there should be.
    pub(super) fn leave_if_over(&self) -> bool {
        self.step(|n| n.is_over().then(|| n.one_less())).is_some()
    }

    /// Counts the caller out if fewer would do.
    pub(super) fn leave_if_idle(&self) -> bool {
        let step = |n: Numbers| n.may_shrink().then(|| n.one_less());
        self.step(step).is_some()
    }

    /// Counts the caller in again, who has just left, if there is room.
    pub(super) fn rejoin(&self) -> bool {
        let rejoin = |n: Numbers| {
            let at_work = n.at_work + 1;
            n.has_room().then_some(Numbers { at_work, ..n })
        };
        self.step(rejoin).is_some()
    }

    /// Counts so many out.
    pub(super) fn leave(&self, workers: u64) {
        self.0.fetch_sub(workers, Ordering::Relaxed);
    }

    /// So many are wanted from now on.
    pub(super) fn want(&self, workers: &RangeInclusive<usize>) {
        let (least, most) = (*workers.start() as u64, *workers.end() as u64);
        let _ = self.step(|n| Some(Numbers { least, most, ..n }));
    }
}

impl Numbers {
    fn hire(self) -> Numbers {
        Numbers {
            at_work: self.at_work + 1,
            hiring: self.hiring + 1,
            ..self
        }
    }

    fn one_less(self) -> Numbers {
        let at_work = self.at_work - 1;
        Numbers { at_work, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_holds_the_largest_numbers() {
        let numbers = Numbers {
            at_work: 2048,
            hiring: 4095,
            lent: 1024,
            least: 1,
            most: 1024,
        };
        assert_eq!(Numbers::unpack(numbers.pack()), numbers);
    }

    #[test]
    fn nobody_is_hired_beyond_the_most_and_nobody_leaves_below_the_least() {
        let staff = Staff::new(2..=3);
        assert!(!staff.leave_if_idle() && !staff.leave_if_over());
        assert!(staff.hire() && !staff.hire());
        assert!(staff.is_hiring());
        staff.hired();
        assert!(!staff.is_hiring());
        assert!(!staff.leave_if_over());
        assert!(staff.leave_if_idle() && !staff.leave_if_idle());
        assert!(staff.rejoin() && !staff.rejoin());
    }

    #[test]
    fn a_substitute_is_one_more_until_it_is_taken_back() {
        let staff = Staff::new(1..=1);
        assert!(staff.lend(1) && !staff.lend(1));
        staff.hired();
        assert_eq!((staff.read().at_work, staff.read().lent), (2, 1));
        assert!(!staff.leave_if_over() && !staff.leave_if_idle());
        staff.take_back();
        staff.take_back();
        assert!(staff.leave_if_over() && !staff.leave_if_over());
    }

    #[test]
    fn nobody_is_hired_once_all_have_left() {
        let staff = Staff::new(1..=4);
        staff.leave(1);
        assert!(!staff.hire() && !staff.lend(9) && !staff.rejoin());
    }

    #[test]
    fn one_who_could_not_be_started_leaves_no_trace() {
        let staff = Staff::new(2..=4);
        let before = staff.read();
        assert!(staff.hire());
        staff.not_hired();
        assert_eq!(staff.read(), before);
    }
}
