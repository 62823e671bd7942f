//! Every kind of work that an advance does, one at a time, under the smallest budgets.
//!
//! Each kind has a wheel in which nothing else is left to do. A call with a budget of 1, 2 or 3
//! touches no more than that, says so, and the calls that follow end where one call without a
//! limit ends: the same timers fired and the same entries held.

use wheel_testkit::Random;

use super::seen::Seen;
use super::{PlainHeap, Rig, fine};
use crate::level::{Scale, TOP};
use crate::{Budget, Config, Key, LocalWheel, Tick, TickLength};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const TIMERS: u64 = 500;
const BUDGETS: [usize; 7] = [1, 2, 3, 5, 8, 64, 1_000_000];

/// A kind of work: a wheel that has it before it, and the tick to advance to for it.
struct Kind {
    name: &'static str,
    config: fn() -> Config,
    prepare: fn(&mut Rig<u64>),
    now: u64,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "placing the intake",
        config: Config::new,
        prepare: |rig| fill(rig, HOUR, HOUR),
        now: 10,
    },
    Kind {
        name: "reaping the intake",
        config: Config::new,
        prepare: |rig| {
            for key in insert(rig, HOUR, HOUR) {
                rig.wheel.cancel(key);
            }
        },
        now: 10,
    },
    Kind {
        name: "firing",
        config: Config::new,
        prepare: |rig| placed(rig, 1, 900),
        now: 900,
    },
    Kind {
        name: "overdue",
        config: Config::new,
        prepare: |rig| {
            rig.advance(HOUR);
            fill(rig, 0, HOUR);
        },
        now: HOUR,
    },
    Kind {
        name: "cascading ahead",
        config: Config::new,
        prepare: |rig| placed(rig, 5 * HOUR, HOUR),
        now: 5 * HOUR - 1,
    },
    Kind {
        name: "cascading after a jump",
        config: Config::new,
        prepare: |rig| placed(rig, 5 * HOUR, HOUR),
        now: 9 * HOUR,
    },
    Kind {
        name: "refilling from the overflow",
        config: || Config::new().overflow(PlainHeap::default()),
        prepare: |rig| placed(rig, 5 * DAY, HOUR),
        now: 4 * DAY + 1,
    },
    Kind {
        name: "refilling after a jump",
        config: || Config::new().overflow(PlainHeap::default()),
        prepare: |rig| placed(rig, 5 * DAY, 2 * DAY),
        now: 6 * DAY,
    },
    Kind {
        name: "going round without an overflow",
        config: Config::new,
        prepare: |rig| placed(rig, 5 * DAY, 2 * DAY),
        now: 6 * DAY,
    },
    Kind {
        name: "going round beyond the end of a jump",
        config: Config::new,
        prepare: |rig| placed(rig, 20 * DAY, 2 * DAY),
        now: 6 * DAY,
    },
    Kind {
        name: "putting off what was armed anew",
        config: Config::new,
        prepare: |rig| {
            let keys = insert(rig, 5_000, 1_000);
            rig.advance(0);
            for (later, key) in keys.into_iter().enumerate() {
                let later = Tick::new(HOUR + later as u64);
                rig.wheel.reset(key, later).expect("it is pending");
            }
        },
        now: 6_000,
    },
    Kind {
        name: "sweeping while a timer is left",
        config: Config::new,
        prepare: |rig| {
            insert(rig, 20 * HOUR, 1);
            let vacant = insert(rig, 5 * HOUR, HOUR);
            insert(rig, 10, 1);
            rig.advance(0);
            for key in vacant {
                rig.wheel.cancel(key);
            }
        },
        now: 7 * HOUR,
    },
    Kind {
        name: "sweeping when none is left",
        config: || Config::new().overflow(PlainHeap::default()),
        prepare: |rig| {
            let mut vacant = insert(rig, 10, 3 * DAY);
            vacant.extend(insert(rig, 10, 1));
            rig.advance(0);
            for key in vacant {
                rig.wheel.cancel(key);
            }
        },
        now: 10,
    },
    Kind {
        name: "fine ticks",
        config: || Config::new().tick_length(fine()),
        prepare: |rig| placed(rig, 5 * HOUR, 100 * HOUR),
        now: 150 * HOUR,
    },
];

fn insert(rig: &Rig<u64>, first: u64, width: u64) -> Vec<Key> {
    let mut random = Random::new(first ^ width);
    (0..TIMERS)
        .map(|value| {
            let due = Tick::new(first + random.below(width));
            rig.wheel.insert(due, value).unwrap()
        })
        .collect()
}

fn fill(rig: &mut Rig<u64>, first: u64, width: u64) {
    insert(rig, first, width);
}

fn placed(rig: &mut Rig<u64>, first: u64, width: u64) {
    fill(rig, first, width);
    rig.advance(rig.now);
}

/// What an engine has come to: what has fired, in no order within a tick, and what it holds.
#[derive(Debug, PartialEq)]
struct End {
    fired: Vec<(u64, u64)>,
    held: usize,
    len: usize,
}

fn play(kind: &Kind, budget: usize) -> (End, usize) {
    let mut rig = Rig::new((kind.config)());
    (kind.prepare)(&mut rig);
    let mut fired = Vec::new();
    let before = Seen::by(&rig.driver.levels);
    let calls = rig.advance_by(kind.now, budget, |timer| {
        assert!(timer.due.get() <= kind.now, "early");
        fired.push((timer.due.get(), timer.value));
    });
    let seen = before.until_now(&rig.driver.levels);
    assert!(
        seen.stops < 10 * TIMERS,
        "{}: {} stops",
        kind.name,
        seen.stops
    );
    let next = rig.next();
    assert!(next.is_none_or(|next| next > kind.now), "{next:?}");
    fired.sort_unstable();
    let end = End {
        fired,
        held: rig.driver.levels.held,
        len: rig.wheel.len(),
    };
    (end, calls)
}

#[test]
fn a_call_that_was_cut_resumes_and_ends_where_one_without_a_limit_does() {
    for kind in KINDS {
        let (whole, calls) = play(kind, usize::MAX);
        assert_eq!(calls, 1, "{}: nothing limits this advance", kind.name);
        for budget in BUDGETS {
            let (end, calls) = play(kind, budget);
            assert_eq!(end, whole, "{}, budget {budget}", kind.name);
            // Each timer goes down through all levels, twice at most; the intake has half of each
            // budget, and the sweep its turn.
            let most = 2 + 24 * TIMERS as usize / budget;
            assert!(calls <= most, "{}, budget {budget}: {calls}", kind.name);
            // Work ahead of need is not begun again: the slot's own first tick does what is left.
            let is_due = kind.name != "cascading ahead";
            assert!(
                budget > 64 || calls > 1 || !is_due,
                "{}: not cut",
                kind.name
            );
        }
    }
}

/// Before a sleep some of what has come is placed, and the rest makes the sleep a short one.
#[test]
fn what_comes_before_a_sleep_is_placed_in_portions() {
    let mut rig = Rig::new(Config::new());
    for value in 0..10_000 {
        rig.wheel.insert(Tick::new(HOUR), value).unwrap();
    }
    for portion in 1..10 {
        assert_eq!(rig.next(), Some(1), "the next tick");
        assert_eq!(rig.driver.levels.held, 1_024 * portion);
    }
    assert!(rig.next() > Some(HOUR - 100), "all have a place");
    assert_eq!(rig.driver.levels.held, 10_000);
}

/// Random operations, and each advance is cut to 1, 2 or 3 entries until it is done.
#[test]
fn tiny_budgets_hold_over_random_streams() {
    for seed in wheel_testkit::seeds(12) {
        let mut random = Random::new(seed);
        let tick = random.choose(&[TickLength::MILLISECOND, fine()]);
        let hour = Scale::new(tick).unit(TOP);
        let mut config = Config::new().tick_length(tick);
        if random.one_in(2) {
            config = config.overflow(PlainHeap::default());
        }
        let mut rig = Rig::new(config);
        let mut keys: Vec<Key> = Vec::new();
        let due = |random: &mut Random, now: u64| {
            let ahead = random.of_any_size() % (100 * hour);
            Tick::new((now + ahead).saturating_sub(random.below(50)))
        };
        let mut fired = 0;
        let mut inserted = 0;
        for _ in 0..150 {
            for _ in 0..random.below(20) {
                let due = due(&mut random, rig.now);
                keys.push(rig.wheel.insert(due, inserted).unwrap());
                inserted += 1;
            }
            for _ in 0..random.below(18).min(keys.len() as u64) {
                let key = keys.swap_remove(random.below(keys.len() as u64) as usize);
                if random.one_in(3) {
                    let due = due(&mut random, rig.now);
                    keys.extend(rig.wheel.reset(key, due));
                } else {
                    fired += u64::from(rig.wheel.cancel(key).is_some());
                }
            }
            let now = rig.now + random.of_any_size() % (30 * hour);
            let budget = random.between(1, 3) as usize;
            rig.advance_by(now, budget, |timer| {
                assert!(timer.due.get() <= now, "seed {seed}: early");
                fired += 1;
            });
            assert_eq!(fired + rig.wheel.len() as u64, inserted, "seed {seed}");
        }
    }
}

/// The wheel for one thread: as above, but that an insert places its timer at once.
#[test]
fn tiny_budgets_hold_for_the_local_wheel() {
    for seed in wheel_testkit::seeds(12) {
        let mut random = Random::new(seed);
        let mut config = Config::new();
        if random.one_in(2) {
            config = config.overflow(PlainHeap::default());
        }
        let mut wheel: LocalWheel<u64> = config.build_local();
        let mut keys: Vec<Key> = Vec::new();
        let (mut now, mut left, mut inserted) = (0, 0, 0);
        for _ in 0..200 {
            for _ in 0..random.below(20) {
                let due = Tick::new(now + random.of_any_size() % (5 * DAY));
                keys.push(wheel.insert(due, inserted).unwrap());
                inserted += 1;
            }
            for _ in 0..random.below(18).min(keys.len() as u64) {
                let key = keys.swap_remove(random.below(keys.len() as u64) as usize);
                left += u64::from(wheel.cancel(key).is_some());
            }
            now += random.of_any_size() % (30 * HOUR);
            let budget = random.between(1, 3) as usize;
            loop {
                let before = Seen::by(wheel.levels());
                let done = wheel.advance(Tick::new(now), Budget::new(budget), |timer| {
                    assert!(timer.due.get() <= now, "seed {seed}: early");
                    left += 1;
                });
                let touched = done.fired + done.moved;
                assert!(touched <= budget, "seed {seed}: {touched} of {budget}");
                before.assert_fits(wheel.levels(), touched);
                if !done.more {
                    break;
                }
            }
            let next = wheel.next_due().map(Tick::get);
            assert!(next.is_none_or(|next| next > now), "seed {seed}: {next:?}");
            assert_eq!(left + wheel.len() as u64, inserted, "seed {seed}");
        }
    }
}
