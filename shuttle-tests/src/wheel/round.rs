//! One run of a scenario: phases, and a judgement at each quiet moment between them.

use std::sync::Arc;

use wheel_core::{Config, Driver, Key, Tick, Wheel};
use wheel_overflow::FarHeap;
use wheel_sync::atomic::{AtomicU64, Ordering};
use wheel_sync::{Mutex, thread};
use wheel_testkit::{Census, Random, Value};

use super::driver::{advance, drive};
use super::end::end;
use super::plan::{End, Plan};
use super::seen::Seen;
use super::user::User;
use crate::bed::{Bed, Rest};

/// Advances that a settling driver may take, with budgets of one among them.
const SETTLED_AFTER: usize = 20_000;

/// What the threads of a run share.
pub(super) struct Round {
    pub(super) wheel: Wheel<Value>,
    pub(super) bed: Arc<Bed>,
    pub(super) census: Census,
    pub(super) plan: Plan,
    /// Where each user gets keys from the others.
    pub(super) inboxes: Vec<Mutex<Vec<Key>>>,
    ids: AtomicU64,
}

impl Round {
    /// A name for a value.
    pub(super) fn new_id(&self) -> u64 {
        // Relaxed: it hands out numbers.
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    fn new(plan: Plan, random: &mut Random) -> (Arc<Round>, Driver<Value>) {
        let start = match random.one_in(2) {
            true => 0,
            false => random.of_any_size() / 2,
        };
        let bed = Bed::new(start);
        let mut config = Config::new().start(Tick::new(start)).waker(bed.waker());
        if let Some(max) = plan.max_timers {
            config = config.max_timers(max);
        }
        if plan.far_heap {
            config = config.overflow(FarHeap::new());
        }
        let (wheel, driver) = config.build();
        let round = Arc::new(Round {
            wheel,
            bed,
            census: Census::default(),
            plan,
            inboxes: (0..plan.users).map(|_| Mutex::default()).collect(),
            ids: AtomicU64::new(0),
        });
        (round, driver)
    }
}

/// Plays `plan` once, with operations drawn from `random`.
///
/// # Panics
///
/// When the wheel breaks a promise.
pub fn play(plan: Plan, mut random: Random) {
    let (round, driver) = Round::new(plan, &mut random);
    let mut seen = Seen::default();
    let mut driver = Some(driver);
    let close_in = random.below(plan.phases as u64) as usize;
    for phase in 0..plan.phases {
        let close_after = (plan.end == End::Midway && phase == close_in)
            .then(|| random.below(1 + plan.ops as u64 / 4));
        driver = play_phase(&round, driver, &mut random, close_after, &mut seen);
        if let Some(driver) = &mut driver {
            settle(&round, driver, &mut random, &mut seen);
        }
    }
    end(&round, driver, &mut random, seen);
}

/// Users and driver at once, until the users have ended and the driver rests.
fn play_phase(
    round: &Arc<Round>,
    driver: Option<Driver<Value>>,
    random: &mut Random,
    close_after: Option<u64>,
    seen: &mut Seen,
) -> Option<Driver<Value>> {
    round.bed.make();
    let driving = driver.map(|driver| {
        let (round, random) = (Arc::clone(round), Random::new(random.number()));
        thread::spawn(move || drive(&round, driver, random, close_after))
    });
    let users: Vec<_> = (0..round.plan.users)
        .map(|me| {
            let (round, random) = (Arc::clone(round), Random::new(random.number()));
            thread::spawn(move || User::new(&round, me, random).work())
        })
        .collect();
    for user in users {
        seen.add(user.join().expect("a user has failed"));
    }
    let driving = driving?;
    if close_after.is_some() {
        // It may sleep for ever before it has advanced often enough.
        while !round.bed.is_left() {
            round.bed.pass(1);
            round.bed.waker().wake();
            thread::yield_now();
        }
    }
    let rest = round.bed.stop_when_at_rest();
    let driven = driving.join().expect("the driver has failed");
    seen.add(driven.seen);
    seen.judge_order();
    let pending = seen.notes.pending();
    let earliest = seen.earliest();
    if let Rest::Asleep(until) = rest {
        // What a thread was writing when its turn came is looked at in the next tick at the latest.
        let next_tick = round.wheel.now().get().saturating_add(1);
        assert!(
            earliest.is_none_or(|due| until <= due.max(next_tick)),
            "the driver sleeps until {until} and was not woken for {earliest:?}"
        );
    }
    assert_eq!(round.wheel.len(), pending.len(), "len when all is quiet");
    assert_eq!(round.census.alive(), pending.len() as i64, "values alive");
    if let Some(max) = round.plan.max_timers {
        assert!(pending.len() <= max, "{} timers, not {max}", pending.len());
    }
    driven.driver
}

/// Moves the clock and advances until nothing more is due: then nothing that is due is left, and
/// `next_due` is neither late nor in the past.
fn settle(round: &Round, driver: &mut Driver<Value>, random: &mut Random, seen: &mut Seen) {
    // At least one tick, for what a thread was writing when the driver met it.
    round.bed.pass(1 + round.plan.dues.pass(random));
    let now = round.bed.now();
    let mut advances = 0;
    while advance(round, driver, random, seen) {
        advances += 1;
        assert!(advances < SETTLED_AFTER, "advance goes on for ever");
    }
    seen.judge_order();
    let earliest = seen.earliest();
    assert!(
        earliest.is_none_or(|due| due > now),
        "{earliest:?} is late at {now}"
    );
    match (driver.next_due(), earliest) {
        (Some(next), Some(earliest)) => {
            let next = next.get();
            assert!(next <= earliest, "next due {next} after {earliest}");
            assert!(next > now, "next due {next} at {now}, and nothing is due");
        }
        (Some(next), None) => assert!(next.get() > now, "next due {next} at {now}, of nothing"),
        (None, earliest) => assert_eq!(earliest, None, "nobody is called for it"),
    }
}
