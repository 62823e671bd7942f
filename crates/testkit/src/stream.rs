//! What is played to the engines: operations drawn from a seed or from bytes, with an eye for the
//! places where engines break.
//!
//! The stream sees the model, so that it can aim: at the earliest timer, one tick before and one
//! after; at the next boundary of a level; at the due tick of another timer. What it yields is
//! concrete (absolute ticks), so that a stream can be printed, thinned and played again.

use std::time::Duration;

use crate::choices::Choices;
use crate::model::Model;

/// How long a tick is, which decides where the boundaries of the wheel's levels are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// 1 ms: levels turn at a second, a minute, an hour and a day.
    Millisecond,
    /// 40 us: there is one level more, which turns at a millisecond. Of the slots in its ring, some
    /// belong to no turn.
    FortyMicroseconds,
    /// 10 us, the shortest there is.
    TenMicroseconds,
}

impl Scale {
    /// How long a tick is.
    pub fn tick_length(self) -> Duration {
        match self {
            Scale::Millisecond => Duration::from_millis(1),
            Scale::FortyMicroseconds => Duration::from_micros(40),
            Scale::TenMicroseconds => Duration::from_micros(10),
        }
    }

    /// The ticks after which each level has turned once.
    pub fn boundaries(self) -> &'static [u64] {
        match self {
            Scale::Millisecond => &[1_000, 60_000, 3_600_000, 86_400_000],
            Scale::FortyMicroseconds => &[25, 25_000, 1_500_000, 90_000_000, 2_160_000_000],
            Scale::TenMicroseconds => &[100, 100_000, 6_000_000, 360_000_000, 8_640_000_000],
        }
    }

    fn year(self) -> u64 {
        365 * self.boundaries()[self.boundaries().len() - 1]
    }
}

/// What the engine is built with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The length of a tick.
    pub scale: Scale,
    /// The tick at which the engine starts.
    pub start: u64,
    /// How many timers may be pending.
    pub max_timers: Option<usize>,
}

/// One operation. Picks are taken modulo the number of what there is to pick from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// Add a timer.
    Insert { due: u64 },
    /// Add many timers, each so much later than the one before.
    Flood { due: u64, apart: u64, count: usize },
    /// Cancel many pending timers, every other one by age.
    Ebb { pick: usize, count: usize },
    /// Cancel a pending timer.
    Cancel { pick: usize },
    /// Give a pending timer another due tick.
    Reset { pick: usize, due: u64 },
    /// Cancel by a key that has done its work.
    CancelStale { pick: usize },
    /// Reset by a key that has done its work.
    ResetStale { pick: usize, due: u64 },
    /// One call of `advance`.
    Advance { now: u64, budget: usize },
    /// Call `advance` at the present tick until nothing more is due.
    Settle { budget: usize },
    /// Do as a driver does: ask for the next due tick and advance to it, this many times.
    Drive { visits: usize },
    /// Cancel everything that is pending.
    CancelAll,
}

/// Numbers at which counters of some width wrap.
const WRAPS: [u64; 6] = [1 << 31, 1 << 32, 1 << 36, 1 << 40, 1 << 63, u64::MAX];

/// The temper of a stream: what it does most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Temper {
    /// Everything, in small steps around one place.
    Walk,
    /// Long jumps.
    Leap,
    /// Timeouts that are cancelled or reset and rarely fire.
    Churn,
    /// Everything in the same few ticks, with small budgets.
    Crowd,
    /// Hundreds of timers at a time, in one slot or in a row of them.
    Flood,
}

/// Draws operations.
#[derive(Clone, Debug)]
pub(crate) struct Stream<'a> {
    choices: Choices<'a>,
    scale: Scale,
    temper: Temper,
}

impl<'a> Stream<'a> {
    /// The stream that the choices make and the setup that goes with it.
    pub(crate) fn new(mut choices: Choices<'a>, scale: Scale) -> (Setup, Stream<'a>) {
        let temper = choices.choose(&[
            Temper::Walk,
            Temper::Walk,
            Temper::Leap,
            Temper::Churn,
            Temper::Crowd,
            Temper::Flood,
        ]);
        let most = if temper == Temper::Flood { 900 } else { 20 };
        let max_timers = choices.one_in(4).then(|| choices.between(1, most) as usize);
        let mut stream = Stream {
            choices,
            scale,
            temper,
        };
        let setup = Setup {
            scale,
            start: stream.start(),
            max_timers,
        };
        (setup, stream)
    }

    /// How many operations the stream should have.
    pub(crate) fn length(&mut self) -> usize {
        let longest = match self.temper {
            Temper::Flood => 60,
            _ => self.choices.choose(&[20, 60, 200, 400]),
        };
        self.choices.between(1, longest) as usize
    }

    /// Goes on with other choices.
    pub(crate) fn go_on_with(&mut self, choices: Choices<'a>) {
        self.choices = choices;
    }

    /// Whether there is nothing left to draw operations from.
    pub(crate) fn is_over(&self) -> bool {
        self.choices.are_over()
    }

    /// The next operation, in view of what is pending.
    pub(crate) fn next(&mut self, model: &Model) -> Op {
        // Inserts, cancels, resets, stale keys, advances, settles, drives, cancel-alls, floods,
        // ebbs.
        let weights = match self.temper {
            Temper::Walk => [32, 9, 9, 6, 32, 5, 6, 1, 0, 0],
            Temper::Leap => [38, 6, 8, 4, 30, 5, 8, 1, 0, 0],
            Temper::Churn => [40, 30, 14, 6, 7, 1, 1, 1, 0, 0],
            Temper::Crowd => [46, 8, 8, 2, 24, 8, 4, 0, 0, 0],
            Temper::Flood => [10, 5, 10, 2, 30, 8, 6, 1, 12, 8],
        };
        let mut drawn = self.choices.below(weights.iter().sum());
        let which = weights
            .iter()
            .position(|&weight| match drawn.checked_sub(weight) {
                Some(rest) => {
                    drawn = rest;
                    false
                }
                None => true,
            });
        match which {
            Some(0) => Op::Insert {
                due: self.due(model),
            },
            Some(1) => Op::Cancel {
                pick: self.choices.pick(),
            },
            Some(2) => Op::Reset {
                pick: self.choices.pick(),
                due: self.due(model),
            },
            Some(3) if self.choices.one_in(2) => Op::CancelStale {
                pick: self.choices.pick(),
            },
            Some(3) => Op::ResetStale {
                pick: self.choices.pick(),
                due: self.due(model),
            },
            Some(4) => Op::Advance {
                now: self.target(model),
                budget: self.budget(),
            },
            Some(5) => Op::Settle {
                budget: self.budget(),
            },
            Some(6) => Op::Drive {
                visits: self.choices.between(1, 12) as usize,
            },
            Some(8) => Op::Flood {
                due: self.due(model),
                apart: self.choices.choose(&[0, 0, 1, 7, 997, 60_001]),
                count: self.choices.between(2, 600) as usize,
            },
            Some(9) => Op::Ebb {
                pick: self.choices.pick(),
                count: self.choices.between(2, 400) as usize,
            },
            _ => Op::CancelAll,
        }
    }

    /// A tick to start at: zero, or where something is about to turn or to wrap.
    fn start(&mut self) -> u64 {
        let before = self.choices.choose(&[0, 1, 2, 10, 999, 1_000, 5_000]);
        match self.choices.below(5) {
            0 => 0,
            1 => self
                .boundary()
                .saturating_mul(self.choices.between(1, 3))
                .saturating_sub(before),
            2 | 3 => self.choices.choose(&WRAPS).saturating_sub(before),
            _ => self.choices.of_any_size(),
        }
    }

    /// A due tick.
    fn due(&mut self, model: &Model) -> u64 {
        let now = model.now();
        if self.temper == Temper::Crowd && !self.choices.one_in(5) {
            return now.saturating_add(self.choices.below(12));
        }
        match self.choices.below(16) {
            0..=2 => now.saturating_add(self.choices.below(4)),
            3..=5 => now.saturating_add(self.choices.below(2_000)),
            6..=8 => self.around_turns_from(now),
            9 | 10 => self.around_aligned_after(now),
            11 => self.in_the_past(now),
            12 => {
                let wrap = self.choices.choose(&WRAPS);
                self.around(wrap)
            }
            13 => self.like_another(model),
            14 => now.saturating_add(self.choices.of_any_size()),
            _ => now.saturating_add(
                self.scale
                    .year()
                    .saturating_mul(self.choices.between(1, 100)),
            ),
        }
    }

    /// A tick to advance to; it may be before now, which then means now.
    fn target(&mut self, model: &Model) -> u64 {
        let now = model.now();
        let long = self.temper == Temper::Leap || self.choices.one_in(12);
        match self.choices.below(if long { 15 } else { 11 }) {
            0 | 1 => now,
            2 | 3 => now.saturating_add(1),
            4 => now.saturating_add(self.choices.below(70)),
            5..=7 => {
                let due = model.next_due().unwrap_or(now);
                // A far timer is worth the way only now and then: what is behind is behind.
                let near = due.saturating_sub(now) < self.scale.year();
                if near || long {
                    self.around(due)
                } else {
                    now.saturating_add(self.choices.below(2_000))
                }
            }
            8 => self.around_aligned_after(now),
            9 => now.saturating_add(self.choices.below(3_000)),
            10 => now.saturating_add(self.boundary() / 2),
            11 => self.around_turns_from(now),
            12 => now.saturating_add(
                self.scale
                    .year()
                    .saturating_mul(self.choices.between(1, 30)),
            ),
            13 => self.like_another(model),
            _ => now.saturating_add(self.choices.of_any_size()),
        }
    }

    fn budget(&mut self) -> usize {
        match self.choices.below(8) {
            0 | 1 => 1,
            2 => self.choices.between(2, 9) as usize,
            3 => self.choices.between(10, 200) as usize,
            _ => usize::MAX,
        }
    }

    fn boundary(&mut self) -> u64 {
        self.choices.choose(self.scale.boundaries())
    }

    /// The tick, or one beside it.
    fn around(&mut self, tick: u64) -> u64 {
        match self.choices.below(3) {
            0 => tick.saturating_sub(1),
            1 => tick,
            _ => tick.saturating_add(1),
        }
    }

    /// Whole turns of a level from now, give or take a tick.
    fn around_turns_from(&mut self, now: u64) -> u64 {
        let turns = self.boundary().saturating_mul(self.choices.between(1, 3));
        self.around(now.saturating_add(turns))
    }

    /// Where a level begins its next turn or the one after, give or take a tick.
    fn around_aligned_after(&mut self, now: u64) -> u64 {
        let boundary = self.boundary();
        let turn = (now / boundary).saturating_add(self.choices.between(1, 2));
        self.around(turn.saturating_mul(boundary))
    }

    fn in_the_past(&mut self, now: u64) -> u64 {
        match self.choices.below(4) {
            0 => 0,
            1 => now.saturating_sub(1),
            2 => now.saturating_sub(self.boundary()),
            _ => now.saturating_sub(self.choices.of_any_size()),
        }
    }

    /// The due tick of a pending timer.
    fn like_another(&mut self, model: &Model) -> u64 {
        let pick = self.choices.pick();
        model.pick(pick).map_or(model.now(), |(_, timer)| timer.due)
    }
}
