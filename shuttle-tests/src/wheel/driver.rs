//! What the driver's thread does.

use wheel_core::{Budget, Driver, Tick};
use wheel_testkit::{Random, Value};

use super::round::Round;
use super::seen::Seen;

/// How a driver's thread has ended, and what it has seen.
pub(super) struct Driven {
    /// `None` when it has closed the wheel.
    pub(super) driver: Option<Driver<Value>>,
    pub(super) seen: Seen,
}

/// Advances by the clock, sleeps and is woken, until it is told to end or has advanced
/// `close_after` times.
pub(super) fn drive(
    round: &Round,
    mut driver: Driver<Value>,
    mut random: Random,
    close_after: Option<u64>,
) -> Driven {
    let _leaving = round.bed.leaving();
    let mut seen = Seen::default();
    let mut advances = 0;
    while !round.bed.is_stopped() {
        if close_after.is_some_and(|after| advances >= after) {
            seen.notes
                .unfired
                .extend(driver.close().map(|value| value.id));
            return Driven { driver: None, seen };
        }
        advances += 1;
        let more = advance(round, &mut driver, &mut random, &mut seen);
        if more || random.one_in(8) {
            continue;
        }
        let due = driver.next_due();
        if due.is_some_and(|due| due.get() <= round.bed.now()) || random.one_in(8) {
            continue;
        }
        round.bed.sleep(due);
    }
    Driven {
        driver: Some(driver),
        seen,
    }
}

/// One advance to the clock. Returns whether there is more to do.
pub(super) fn advance(
    round: &Round,
    driver: &mut Driver<Value>,
    random: &mut Random,
    seen: &mut Seen,
) -> bool {
    let budget = match random.below(4) {
        0 => Budget::new(1),
        1 => Budget::new(random.between(2, 8) as usize),
        _ => Budget::UNLIMITED,
    };
    let now = round.bed.now();
    let mut fired = Vec::new();
    let progress = driver.advance(Tick::new(now), budget, |timer| {
        let due = timer.due.get();
        assert!(due <= now, "fired early: due {due}, now {now}");
        seen.notes.fired.push((timer.key, due, timer.value.id));
        fired.push((timer.key, due));
    });
    seen.advances.push(fired);
    progress.more
}
