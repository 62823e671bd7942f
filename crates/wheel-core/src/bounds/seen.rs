//! What the levels have looked at: a count of its own, so that `Progress` can be held to it.

use crate::level::LEVELS;
use crate::levels::Levels;

/// Looks until some instant, whether they found anything or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Ticks at which the cursor has stopped.
    pub(super) stops: u64,
    /// Looks at a slot of any level.
    pub(super) looks: u64,
}

impl Seen {
    /// All that these levels have looked at.
    pub(super) fn by(levels: &Levels) -> Seen {
        Seen {
            stops: levels.stops,
            looks: levels.rings.iter().map(|ring| ring.looks.get()).sum(),
        }
    }

    /// What these levels have looked at since.
    pub(super) fn until_now(self, levels: &Levels) -> Seen {
        let now = Seen::by(levels);
        Seen {
            stops: now.stops - self.stops,
            looks: now.looks - self.looks,
        }
    }

    /// Since then no more was looked at than touching so many entries takes: no call that has a
    /// small budget walks over a large wheel.
    pub(super) fn assert_fits(self, levels: &Levels, touched: usize) {
        let Seen { stops, looks } = self.until_now(levels);
        let touched = touched as u64;
        assert!(stops <= touched + 2, "{stops} stops, {touched} touched");
        // A stop looks at each level a few times, an entry at the slots that it leaves and enters.
        let bound = 4 * LEVELS as u64 * (stops + 1) + 6 * touched;
        assert!(looks <= bound, "{looks} looks, {bound} at most");
    }
}
