//! Budgets: never exceeded, shared fairly, and enough of them for the sweep.

use wheel_testkit::Random;

use super::storms::most_used;
use super::{PlainHeap, Rig, scaled};
use crate::sweep::{PER_PLACED, STEP};
use crate::{Budget, Config, Key, Tick};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

#[test]
fn no_advance_touches_more_than_its_budget() {
    for seed in wheel_testkit::seeds(6) {
        let mut random = Random::new(seed);
        let config = match seed % 2 {
            0 => Config::new(),
            _ => Config::new().overflow(PlainHeap::default()),
        };
        let mut rig = Rig::new(config);
        // Work for a sweep from the start on.
        let far: Vec<Key> = (0..10_000)
            .map(|i| rig.wheel.insert(Tick::new(20 * HOUR + i), ()).unwrap())
            .collect();
        rig.advance(0);
        for key in far {
            rig.wheel.cancel(key);
        }
        let mut keys: Vec<Key> = Vec::new();
        let mut swept = false;
        for _ in 0..400 {
            for _ in 0..random.below(200) {
                let due = Tick::new(rig.now + random.of_any_size() % (5 * DAY));
                keys.push(rig.wheel.insert(due, ()).unwrap());
            }
            for _ in 0..random.below(210).min(keys.len() as u64) {
                let at = random.below(keys.len() as u64) as usize;
                let key = keys.swap_remove(at);
                if random.one_in(4) {
                    let due = Tick::new(rig.now + random.of_any_size() % (5 * DAY));
                    keys.extend(rig.wheel.reset(key, due));
                } else {
                    rig.wheel.cancel(key);
                }
            }
            rig.now += random.of_any_size() % HOUR;
            let budget = random.between(1, 300) as usize;
            let done = rig
                .driver
                .advance(Tick::new(rig.now), Budget::new(budget), |_| ());
            let touched = done.fired + done.moved;
            assert!(
                touched <= budget,
                "seed {seed}: {touched} touched, budget {budget}"
            );
            swept |= rig.driver.levels.is_sweeping();
        }
        assert!(swept, "seed {seed} never had a reason to sweep");
    }
}

/// Nine in ten timers are cancelled, and a trickle of new ones sets a sweep off.
#[test]
fn a_sweep_looks_at_a_share_of_what_is_placed_with_each_advance() {
    const PLACED: usize = 10;
    let timers = scaled(200_000);
    let mut rig = Rig::new(Config::new());
    let keys: Vec<Key> = (0..timers as u64)
        .map(|i| rig.wheel.insert(Tick::new(20 * HOUR + i), ()).unwrap())
        .collect();
    rig.advance(0);
    for &key in &keys[timers / 10..] {
        rig.wheel.cancel(key);
    }
    let (mut sweeping, mut swept) = (0, false);
    for now in 1..timers as u64 {
        for _ in 0..PLACED {
            // Due before what was cancelled, so that it does not take one of those over.
            rig.wheel.insert(Tick::new(10 * HOUR), ()).unwrap();
        }
        let done = rig.advance(now);
        let bound = PLACED + STEP + PER_PLACED * PLACED;
        assert!(done.moved <= bound, "moved {}, {bound} at most", done.moved);
        sweeping += usize::from(done.moved > PLACED);
        swept = sweeping > 0 && done.moved == PLACED;
        if swept {
            break;
        }
    }
    assert!(swept, "no sweep has begun and ended");
    assert_eq!(rig.driver.levels.held, rig.wheel.len());
    assert!(sweeping > timers / (STEP + PER_PLACED * PLACED));
}

/// With as many inserts as an advance can place, none is passed over for those that came after it.
#[test]
fn a_budget_that_is_always_used_up_starves_no_timer() {
    for budget in [1, 2, 8, 64] {
        let mut rig = Rig::new(Config::new());
        // What an advance places at least, of two: a budget of 1 serves the intake every other
        // time.
        let placed = 1.max(budget / 2) as u64;
        for _ in 0..placed + 1 {
            rig.wheel.insert(Tick::new(0), 0).unwrap();
        }
        let mut left = placed + 1;
        for advance in 1.. {
            for _ in 0..placed {
                rig.wheel.insert(Tick::new(HOUR), advance).unwrap();
            }
            rig.driver
                .advance(Tick::new(0), Budget::new(budget), |timer| {
                    assert_eq!(timer.value, 0);
                    left -= 1;
                });
            if left == 0 {
                break;
            }
            assert!(
                advance < 20,
                "budget {budget}: {left} timers are not served"
            );
        }
    }
}

/// The sweep keeps up although each call's budget is used up by half for placing.
#[test]
fn small_budgets_leave_enough_for_the_sweep() {
    let live = scaled(100_000);
    for budget in [16, 64, 1_000] {
        let mut rig = Rig::new(Config::new());
        let mut random = Random::new(3);
        let mut keys: Vec<Key> = Vec::new();
        for _ in 0..40 * live / 64 {
            for _ in 0..64 {
                let due = Tick::new(rig.now + 20_000 + random.below(3_600_000));
                let key = rig.wheel.insert(due, ()).unwrap();
                if keys.len() < live {
                    keys.push(key);
                    continue;
                }
                let at = random.below(live as u64) as usize;
                rig.wheel.cancel(std::mem::replace(&mut keys[at], key));
            }
            rig.now += 1;
            while rig
                .driver
                .advance(Tick::new(rig.now), Budget::new(budget), |_| ())
                .more
            {}
        }
        let (used, bound) = (rig.used(), most_used(live, 1));
        assert!(
            used <= bound,
            "budget {budget}: {used} entries used, {bound} at most"
        );
    }
}
