//! What a scenario is made of.

use wheel_sync::{SIZES, Sizes};
use wheel_testkit::Random;

/// Ticks to a turn of each level, as in `wheel_core`'s slot arithmetic.
const TURNS: [u64; 4] = match SIZES {
    Sizes::Full => [1_000, 60_000, 3_600_000, 86_400_000],
    Sizes::Small => [4, 16, 64, 256],
    Sizes::Tiny => [2, 4, 8, 16],
};

/// How a scenario goes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Threads besides the driver.
    pub users: usize,
    /// How often all of them end and others begin, with a quiet moment in between.
    pub phases: usize,
    /// Operations of one thread in one phase.
    pub ops: usize,
    /// When timers are due.
    pub dues: Dues,
    /// How many timers may be pending.
    pub max_timers: Option<usize>,
    /// Whether far timers go to a heap.
    pub far_heap: bool,
    /// How it ends.
    pub end: End,
}

/// When timers are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dues {
    /// In the past, now, at boundaries of levels, far away, never.
    Any,
    /// Soon, so that the driver often sleeps and is woken.
    Soon,
    /// After the same while, as timeouts are.
    OneLength,
    /// Mostly beyond the span.
    Far,
}

/// How a scenario ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Close when all is quiet.
    Close,
    /// Cancel everything, and let the driver come to rest.
    Cancel,
    /// Close while the threads go on.
    Midway,
}

impl Dues {
    /// A due tick for a timer that is set at `now`.
    pub(super) fn draw(self, random: &mut Random, now: u64) -> u64 {
        let span = TURNS[3];
        let ahead = match self {
            Dues::Any => match random.below(16) {
                0 => return random.below(now.saturating_add(1)),
                1..=4 => random.below(4),
                5..=7 => random.below(TURNS[1]),
                8..=10 => {
                    let turn = random.choose(&TURNS);
                    let boundary = (now / turn + random.between(1, 3)).saturating_mul(turn);
                    return boundary.saturating_add(random.below(3)) - 1;
                }
                11 => random.below(3 * span),
                12 => random.of_any_size() / 2,
                13 => return u64::MAX - random.below(2),
                _ => TURNS[1] + TURNS[0] - now % TURNS[0],
            },
            Dues::Soon => random.below(2 * TURNS[0]),
            Dues::OneLength if random.one_in(16) => random.below(TURNS[1]),
            Dues::OneLength => TURNS[1],
            Dues::Far if random.one_in(4) => random.below(TURNS[2]),
            Dues::Far => span + random.below(4 * span),
        };
        now.saturating_add(ahead)
    }

    /// How far the clock goes at once.
    pub(super) fn pass(self, random: &mut Random) -> u64 {
        match (random.below(64), self) {
            (0, _) | (1..=16, Dues::Far) => random.below(2 * TURNS[3]),
            (1..=8, _) => random.below(TURNS[1]),
            _ => random.below(4),
        }
    }
}
