//! How much one call may do.

/// How many entries one [`advance`](crate::Driver::advance) may touch: placed, moved between
/// levels, looked at, swept or fired, each counts one. At least 1.
///
/// A call that was cut short says so ([`Progress::more`]) and the next one resumes where it
/// stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(usize);

impl Budget {
    /// No limit.
    pub const UNLIMITED: Budget = Budget(usize::MAX);

    /// That many entries; 0 counts as 1, so that each call gets on.
    pub const fn new(entries: usize) -> Budget {
        Budget(if entries == 0 { 1 } else { entries })
    }

    /// How many entries it allows.
    pub const fn entries(self) -> usize {
        self.0
    }
}

/// What one [`advance`](crate::Driver::advance) has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Timers fired.
    pub fired: usize,
    /// Entries touched besides: placed, moved, put off, freed or swept.
    pub moved: usize,
    /// The budget ran out before all was done: call again at once.
    pub more: bool,
}

/// What is left of a budget.
#[derive(Debug)]
pub(crate) struct Work {
    left: usize,
    spent: usize,
}

impl Work {
    pub(crate) fn new(budget: Budget) -> Work {
        Work {
            left: budget.0,
            spent: 0,
        }
    }

    /// Takes one off; false when nothing is left.
    #[inline]
    pub(crate) fn spend(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.spent += 1;
        true
    }

    /// Takes up to `most` off; how many.
    #[inline]
    pub(crate) fn spend_some(&mut self, most: usize) -> usize {
        let some = most.min(self.left);
        self.left -= some;
        self.spent += some;
        some
    }

    /// Reserves some of what is left for later.
    pub(crate) fn set_aside(&mut self, some: usize) {
        self.left -= some;
    }

    /// Ends a reservation.
    pub(crate) fn bring_back(&mut self, some: usize) {
        self.left += some;
    }

    pub(crate) fn left(&self) -> usize {
        self.left
    }

    pub(crate) fn spent(&self) -> usize {
        self.spent
    }
}
