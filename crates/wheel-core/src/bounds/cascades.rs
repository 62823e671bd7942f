//! Cascades, refills and jumps: no visit moves more than its share, and nothing comes late for it.

use wheel_testkit::Random;

use super::{PlainHeap, Rig, scaled};
use crate::cascade::PACE;
use crate::level::{LEVELS, Scale, TOP};
use crate::{Budget, Config, Tick, TickLength};

const PACE_PER_LEVEL: usize = PACE as usize;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// What one tick may move ahead of need, with `timers` of them in any one slot: the pace from each
/// of the min and the hour level, whose slots are long enough for it, the pace from the overflow,
/// and from a slot of the s level what empties it within its thousand ticks.
fn most_moves(timers: usize) -> usize {
    3 * PACE_PER_LEVEL + PACE_PER_LEVEL.max(timers.div_ceil(1000))
}

/// Inserts timers whose dues are drawn from `first..first + width`, gives them a place, runs them
/// all, and returns the most moves of a visit.
fn most_moves_of(config: Config, timers: usize, first: u64, width: u64) -> usize {
    let mut rig = Rig::new(config);
    let mut random = Random::new(first ^ width);
    for _ in 0..timers {
        let due = first + random.below(width);
        rig.wheel.insert(Tick::new(due), ()).unwrap();
    }
    rig.advance(0);
    let mut most = 0;
    let fired = rig.run_dry(|_, done| most = most.max(done.moved));
    assert_eq!(fired, timers);
    most
}

#[test]
fn a_full_hour_slot_is_emptied_at_the_pace_and_none_is_late() {
    let timers = scaled(1_000_000);
    for (what, first, width) in [
        ("within the hour", 5 * HOUR, HOUR),
        ("within a minute", 5 * HOUR, 60_000),
        ("within the last minute", 6 * HOUR - 60_000, 60_000),
        ("within a second", 5 * HOUR + 90_000, 1_000),
        ("at one tick", 5 * HOUR + 61_001, 1),
    ] {
        let most = most_moves_of(Config::new(), timers, first, width);
        let bound = most_moves(timers);
        assert!(
            most <= bound,
            "{timers} timers {what}: a tick moved {most}, {bound} at most"
        );
    }
}

#[test]
fn a_refill_from_the_overflow_goes_at_the_pace_and_none_is_late() {
    let timers = scaled(1_000_000);
    for (first, width) in [(3 * DAY, HOUR), (3 * DAY, 1), (9 * DAY - 1, 2)] {
        let config = Config::new().overflow(PlainHeap::default());
        let most = most_moves_of(config, timers, first, width);
        let bound = most_moves(timers);
        assert!(most <= bound, "a tick moved {most}, {bound} at most");
    }
}

/// Without an overflow far timers go once more through the last hour slot, each at a tick of its
/// own.
#[test]
fn far_timers_without_an_overflow_go_round_at_the_pace_and_none_is_late() {
    let timers = scaled(1_000_000);
    let most = most_moves_of(Config::new(), timers, 3 * DAY, HOUR);
    let bound = most_moves(timers);
    assert!(most <= bound, "a tick moved {most}, {bound} at most");
}

/// Ten timers over a year, one jump: each is met once per level on its way down, without an
/// overflow also on its way round, and nothing else is.
#[test]
fn a_jump_of_a_year_costs_what_is_due() {
    for tick in [
        TickLength::MILLISECOND,
        TickLength::new(std::time::Duration::from_micros(10)).unwrap(),
    ] {
        let per_ms = Scale::new(tick).unit(TOP) / HOUR;
        let year = 365 * DAY * per_ms;
        for overflow in [None, Some(PlainHeap::default())] {
            let mut config = Config::new().tick_length(tick);
            if let Some(overflow) = overflow {
                config = config.overflow(overflow);
            }
            let mut rig = Rig::new(config);
            for i in 1..=10 {
                let due = Tick::new(year / 10 * i - i);
                rig.wheel.insert(due, ()).unwrap();
            }
            rig.advance(0);
            let mut due = Vec::new();
            let done = rig
                .driver
                .advance(Tick::new(year), Budget::UNLIMITED, |timer| {
                    due.push(timer.due)
                });
            assert_eq!(due.len(), 10);
            assert!(due.is_sorted());
            let bound = 10 * 2 * LEVELS;
            assert!(done.moved <= bound, "moved {}, {bound} at most", done.moved);
        }
    }
}
