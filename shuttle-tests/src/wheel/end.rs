//! How a run ends, and what must be so then.

use wheel_core::{Budget, Driver, Key, Tick};
use wheel_testkit::{Notes, Random, Value};

use super::plan::End;
use super::round::Round;
use super::seen::Seen;

/// Visits that a wheel may ask for whose timers were all cancelled.
const VISITS_MAX: usize = 8;

/// Ends the run and judges all of it.
pub(super) fn end(
    round: &Round,
    driver: Option<Driver<Value>>,
    random: &mut Random,
    mut seen: Seen,
) {
    let notes = &mut seen.notes;
    if let Some(mut driver) = driver {
        if round.plan.end == End::Cancel {
            cancel_all(round, &mut driver, notes);
            fill_what_was_used(round, random, notes);
        }
        close(driver, notes);
    }
    let wheel = &round.wheel;
    assert_eq!(wheel.len(), 0, "len after everything has left");
    assert_eq!(round.census.alive(), 0, "values were lost or dropped twice");
    let is_stale = |key| wheel.cancel(key).is_none() && wheel.reset(key, Tick::new(0)).is_none();
    let inserts = notes.judge(is_stale);
    assert_eq!(inserts as u64, round.new_id(), "an insert has no outcome");
}

/// Closes while nobody uses the wheel: what is pending comes back, and nothing else.
fn close(driver: Driver<Value>, notes: &mut Notes<Key>) {
    let pending: Vec<u64> = notes.pending().into_keys().collect();
    let mut unfired: Vec<u64> = driver.close().map(|value| value.id).collect();
    unfired.sort_unstable();
    assert_eq!(unfired, pending, "what comes back is what was pending");
    notes.unfired.extend(unfired);
}

/// Cancels what is pending: every last key is good, and the driver soon comes to rest.
fn cancel_all(round: &Round, driver: &mut Driver<Value>, notes: &mut Notes<Key>) {
    for (id, (key, due)) in notes.pending() {
        let value = round.wheel.cancel(key);
        let value = value.unwrap_or_else(|| panic!("{id}, due {due}, has no good key"));
        assert_eq!(value.id, id, "the key of another timer");
        notes.cancelled.push((key, id));
    }
    let mut visits = 0;
    while let Some(due) = driver.next_due() {
        let now = due.max(round.wheel.now());
        driver.advance(now, Budget::UNLIMITED, |_| {
            unreachable!("all was cancelled")
        });
        visits += 1;
        assert!(visits <= VISITS_MAX, "the driver is called for nothing");
    }
}

/// Inserts as many timers as there are entries, but for those that threads keep at hand. No more
/// entries come into use, so every one that was used has come back.
fn fill_what_was_used(round: &Round, random: &mut Random, notes: &mut Notes<Key>) {
    let (used, fill) = entries(round);
    for _ in 0..fill {
        let id = round.new_id();
        let due = round.plan.dues.draw(random, round.bed.now());
        let inserted = round.wheel.insert(Tick::new(due), round.census.value(id));
        notes
            .inserted
            .push((inserted.expect("nothing is full"), due, id));
    }
    assert_eq!(entries(round).0, used, "entries were lost");
}

/// Entries in use so far, and how many of them nobody can keep at hand.
#[cfg(wheel_model)]
fn entries(round: &Round) -> (u32, u32) {
    /// Free, unused and vacant ones, two of each.
    const AT_HAND: u32 = 6;
    let used = round.wheel.entries_used();
    // The users, the driver with what it has freed last, and this thread.
    let threads = round.plan.users as u32 + 2;
    let fill = used.saturating_sub(threads * AT_HAND);
    let max = round.plan.max_timers.map_or(u32::MAX, |max| max as u32);
    (used, fill.min(max))
}

/// Natively nobody tells.
#[cfg(not(wheel_model))]
fn entries(_round: &Round) -> (u32, u32) {
    (0, 0)
}
