//! Catching up after a time without a call costs what is due, not what has passed.
//!
//! Looks are counted, not only moves: a walk over empty slots moves nothing.

use super::seen::Seen;
use super::{PlainHeap, Rig, fine};
use crate::level::{LEVELS, Scale, TOP};
use crate::{Budget, Config, LocalWheel, Tick, TickLength};

const TIMERS: u64 = 10;

/// A jump: how long it is in hours, and which of the sizes it is played in.
struct Jump {
    tick: TickLength,
    ticks: u64,
}

fn jumps() -> Vec<Jump> {
    let mut jumps = Vec::new();
    for tick in [TickLength::MILLISECOND, fine()] {
        let hour = Scale::new(tick).unit(TOP);
        for hours in [1, 25, 365 * 24, 1_000 * 365 * 24] {
            let ticks = hours * hour;
            jumps.push(Jump { tick, ticks });
        }
    }
    jumps
}

/// Due over the whole jump, and never at the edge of a slot.
fn dues(ticks: u64) -> impl Iterator<Item = Tick> {
    (1..=TIMERS).map(move |i| Tick::new(ticks / TIMERS * i - i))
}

/// Each timer is met once in each level on its way down, without an overflow also on its way round,
/// and each stop looks at each level a few times: tens of stops and some hundred looks, whether the
/// jump has 3.6 million ticks or a million times as many.
fn assert_costs_what_is_due(jump: &Jump, moved: usize, seen: Seen) {
    let Jump { tick, ticks } = jump;
    let stops = (2 * LEVELS as u64 + 1) * TIMERS;
    assert!(
        seen.stops <= stops,
        "{ticks} ticks of {tick:?}: {} stops, {stops} at most",
        seen.stops
    );
    let looks = 5 * LEVELS as u64 * stops;
    assert!(
        seen.looks <= looks,
        "{ticks} ticks of {tick:?}: {} looks, {looks} at most",
        seen.looks
    );
    let moves = 2 * LEVELS * TIMERS as usize;
    assert!(moved <= moves, "moved {moved}, {moves} at most");
}

fn configs(jump: &Jump) -> [Config; 2] {
    let config = || Config::new().tick_length(jump.tick);
    [config(), config().overflow(PlainHeap::default())]
}

#[test]
fn a_jump_costs_what_is_due() {
    for jump in jumps() {
        for config in configs(&jump) {
            let mut rig = Rig::new(config);
            for due in dues(jump.ticks) {
                rig.wheel.insert(due, ()).unwrap();
            }
            rig.advance(0);
            let before = Seen::by(&rig.driver.levels);
            let mut fired = Vec::new();
            let now = Tick::new(jump.ticks);
            let done = rig
                .driver
                .advance(now, Budget::UNLIMITED, |timer| fired.push(timer.due));
            assert!(fired.iter().copied().eq(dues(jump.ticks)), "{fired:?}");
            let seen = before.until_now(&rig.driver.levels);
            assert_costs_what_is_due(&jump, done.moved, seen);
        }
    }
}

#[test]
fn a_jump_of_the_local_wheel_costs_what_is_due() {
    for jump in jumps() {
        for config in configs(&jump) {
            let mut wheel: LocalWheel<()> = config.build_local();
            for due in dues(jump.ticks) {
                wheel.insert(due, ()).unwrap();
            }
            let before = Seen::by(wheel.levels());
            let mut fired = Vec::new();
            let now = Tick::new(jump.ticks);
            let done = wheel.advance(now, Budget::UNLIMITED, |timer| fired.push(timer.due));
            assert!(fired.iter().copied().eq(dues(jump.ticks)), "{fired:?}");
            let seen = before.until_now(wheel.levels());
            assert_costs_what_is_due(&jump, done.moved, seen);
        }
    }
}

/// A jump over nothing is one stop, also when something waits behind its end.
#[test]
fn a_jump_over_nothing_is_one_stop() {
    for jump in jumps() {
        for config in configs(&jump) {
            let mut rig = Rig::new(config);
            for round in 1..100 {
                let now = round * jump.ticks;
                if round == 50 {
                    rig.wheel.insert(Tick::new(u64::MAX / 2), ()).unwrap();
                }
                let before = Seen::by(&rig.driver.levels);
                let done =
                    rig.driver
                        .advance(Tick::new(now), Budget::UNLIMITED, |_| unreachable!());
                let seen = before.until_now(&rig.driver.levels);
                // What has just come is placed; without an overflow it goes round each day.
                assert!(done.moved <= 4, "moved {}", done.moved);
                assert!(seen.stops <= 4, "{} stops", seen.stops);
            }
        }
    }
}
