//! Cascades and refills: no visit moves more than its share, and nothing comes late for it.

use wheel_testkit::Random;

use super::{PlainHeap, Rig, fine, scaled};
use crate::cascade::PACE;
use crate::level::{LEVELS, Scale};
use crate::sweep::STEP;
use crate::{Config, Key, Tick, TickLength};

const PACE_PER_LEVEL: usize = PACE as usize;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// What one tick may move ahead of need, with `timers` of them in any one slot: the pace from the
/// overflow, and from each level above the finest the pace or what empties a slot within the unit
/// before its own, if that is more.
fn most_moves(timers: usize, tick: TickLength) -> usize {
    let scale = Scale::new(tick);
    let levels = (scale.finest() + 1..LEVELS).map(|level| {
        let unit = scale.unit(level) as usize;
        PACE_PER_LEVEL.max(timers.div_ceil(unit))
    });
    PACE_PER_LEVEL + levels.sum::<usize>()
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
        let bound = most_moves(timers, TickLength::MILLISECOND);
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
        let bound = most_moves(timers, TickLength::MILLISECOND);
        assert!(most <= bound, "a tick moved {most}, {bound} at most");
    }
}

/// Without an overflow far timers go once more through the last hour slot, each at a tick of its
/// own.
#[test]
fn far_timers_without_an_overflow_go_round_at_the_pace_and_none_is_late() {
    let timers = scaled(1_000_000);
    let most = most_moves_of(Config::new(), timers, 3 * DAY, HOUR);
    let bound = most_moves(timers, TickLength::MILLISECOND);
    assert!(most <= bound, "a tick moved {most}, {bound} at most");
}

/// The same with ticks of 10 us, whose ms level has slots of a hundred ticks only.
#[test]
fn a_full_hour_slot_of_fine_ticks_is_emptied_at_the_pace_and_none_is_late() {
    let timers = scaled(1_000_000);
    let tick = fine();
    let hour = 100 * HOUR;
    for (what, first, width) in [
        ("within the hour", 5 * hour, hour),
        ("within a second", 5 * hour + 9_000_000, 100_000),
        ("at one tick", 5 * hour + 6_100_001, 1),
    ] {
        let config = Config::new().tick_length(tick);
        let most = most_moves_of(config, timers, first, width);
        let bound = most_moves(timers, tick);
        assert!(
            most <= bound,
            "{timers} timers {what}: a tick moved {most}, {bound} at most"
        );
    }
}

/// All but one of the timers in an hour slot were cancelled. The slot's cascade and the sweep that
/// the vacant ones call for go on side by side, each at its own pace. (When no timer at all is left
/// nothing can come late, and only the budget bounds a sweep.)
#[test]
fn a_full_hour_slot_of_vacant_entries_is_swept_at_the_pace() {
    let timers = scaled(1_000_000);
    for width in [HOUR, 60_000, 1_000] {
        let mut rig = Rig::new(Config::new());
        let mut random = Random::new(width);
        let keys: Vec<Key> = (0..timers)
            .map(|_| {
                let due = 5 * HOUR + random.below(width);
                rig.wheel.insert(Tick::new(due), ()).unwrap()
            })
            .collect();
        rig.advance(0);
        for &key in &keys[1..] {
            rig.wheel.cancel(key);
        }
        rig.wheel.insert(Tick::new(20 * HOUR), ()).unwrap();
        assert_eq!(rig.driver.levels.held, timers);
        let (mut most, mut swept) = (0, false);
        let fired = rig.run_dry(|_, done| {
            most = most.max(done.moved);
            swept |= done.moved > STEP;
        });
        let bound = most_moves(timers, TickLength::MILLISECOND) + STEP;
        assert!(most <= bound, "a tick moved {most}, {bound} at most");
        assert_eq!((fired, swept, rig.driver.levels.held), (2, true, 0));
    }
}
