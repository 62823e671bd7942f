//! Plays operations to a subject and to the model, and compares them after every step.
//!
//! What the judge cannot know it does not demand: timers that are due at the same tick fire in any
//! order, and a timer that was overdue when it was inserted fires at any point of the next
//! `advance`.

use std::collections::BTreeMap;

use crate::model::Model;
use crate::sleep::Sleep;
use crate::stream::{Op, Setup};
use crate::subject::{Refused, Step, Subject};

/// What was wrong.
pub(crate) type Fault = String;

/// How many keys without a timer are kept to be tried again.
const STALE_KEYS: usize = 64;
/// One comparison in so many looks at the places as well.
const PLACES_EVERY: u64 = 16;

macro_rules! demand {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err(format!($($message)+));
        }
    };
}

/// A subject under trial.
pub(crate) struct Judge<S: Subject> {
    subject: S,
    model: Model,
    limit: usize,
    /// The keys of the pending timers, in the order of the model's values.
    keys: BTreeMap<u64, S::Key>,
    stale: Vec<S::Key>,
    /// Whether something up to now may not have been visited yet: the last `advance` was cut.
    cut: bool,
    sleep: Sleep,
    /// Comparisons so far.
    compared: u64,
}

impl<S: Subject> Judge<S> {
    pub(crate) fn new(subject: S, setup: &Setup) -> Judge<S> {
        Judge {
            subject,
            model: Model::new(setup.start),
            limit: setup.max_timers.unwrap_or(usize::MAX),
            keys: BTreeMap::new(),
            stale: Vec::new(),
            // Nothing was visited yet, the tick at the start neither.
            cut: true,
            sleep: Sleep::default(),
            compared: 0,
        }
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Plays one operation and looks at everything that must hold after it.
    pub(crate) fn play(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::Insert { due } => self.insert(due)?,
            Op::Flood { due, apart, count } => {
                for nth in 0..count as u64 {
                    self.insert(due.saturating_add(nth * apart))?;
                }
            }
            Op::Ebb { pick, count } => {
                let nth = pick.checked_rem(self.model.len()).unwrap_or(0);
                let every_other = self.model.values().skip(nth).step_by(2);
                let values: Vec<u64> = every_other.take(count).collect();
                for value in values {
                    self.cancel(value)?;
                }
            }
            Op::Cancel { pick } => {
                if let Some((value, _)) = self.model.pick(pick) {
                    self.cancel(value)?;
                }
            }
            Op::Reset { pick, due } => self.reset(pick, due)?,
            Op::CancelStale { pick } => {
                if let Some(key) = self.stale_key(pick) {
                    let taken = self.subject.cancel(key);
                    demand!(
                        taken.is_none(),
                        "cancel by the stale key {key:?} returned {taken:?}"
                    );
                }
            }
            Op::ResetStale { pick, due } => {
                if let Some(key) = self.stale_key(pick) {
                    let moved = self.subject.reset(key, due);
                    demand!(
                        moved.is_none(),
                        "reset by the stale key {key:?} returned {moved:?}"
                    );
                }
            }
            Op::Advance { now, budget } => {
                self.advance(now, budget)?;
            }
            Op::Settle { budget } => self.settle(budget)?,
            Op::Drive { visits } => {
                self.settle(usize::MAX)?;
                self.drive(visits)?;
            }
            Op::CancelAll => {
                let values: Vec<u64> = self.model.values().collect();
                for value in values {
                    self.cancel(value)?;
                }
            }
        }
        self.compare()
    }

    /// Ends the trial by taking every timer away and looking whether the engine comes to rest.
    pub(crate) fn cancel_all_and_close(mut self) -> Result<(), Fault> {
        self.play(Op::CancelAll)?;
        self.rest()?;
        self.close()
    }

    /// Ends the trial by closing the engine as it is.
    pub(crate) fn close(mut self) -> Result<(), Fault> {
        let mut returned = self.subject.close();
        returned.sort_unstable();
        let pending: Vec<u64> = self.model.values().collect();
        demand!(
            returned == pending,
            "close returned {returned:?}, pending were {pending:?}"
        );
        if S::CLOSES {
            let after = self.subject.insert(self.model.now(), 0);
            demand!(
                after == Err(Refused::Closed(0)),
                "an insert after close gave {after:?}"
            );
        }
        for key in self.keys.into_values().chain(self.stale) {
            let taken = self.subject.cancel(key);
            demand!(taken.is_none(), "cancel after close returned {taken:?}");
            let moved = self.subject.reset(key, self.model.now());
            demand!(moved.is_none(), "reset after close returned {moved:?}");
        }
        let len = self.subject.pending();
        demand!(len == 0, "len is {len} after close");
        Ok(())
    }

    fn insert(&mut self, due: u64) -> Result<(), Fault> {
        let value = self.model.new_value();
        let full = self.model.len() >= self.limit;
        let wakes = self.subject.wakes();
        match self.subject.insert(due, value) {
            Ok(key) => {
                demand!(
                    !full,
                    "an insert beyond the limit of {} was accepted",
                    self.limit
                );
                self.model.set(value, due);
                self.keys.insert(value, key);
                self.arrived(due, wakes)?;
            }
            Err(refused) => {
                demand!(
                    full,
                    "{refused:?} with {} of {} timers",
                    self.model.len(),
                    self.limit
                );
                demand!(
                    refused == Refused::Full(value),
                    "{value} was refused as {refused:?}"
                );
            }
        }
        Ok(())
    }

    fn cancel(&mut self, value: u64) -> Result<(), Fault> {
        let key = self
            .keys
            .remove(&value)
            .expect("every pending timer has a key");
        let taken = self.subject.cancel(key);
        demand!(
            taken == Some(value),
            "cancel of the pending timer {value} returned {taken:?}"
        );
        self.model.remove(value);
        self.retire(key);
        Ok(())
    }

    fn reset(&mut self, pick: usize, due: u64) -> Result<(), Fault> {
        let Some((value, _)) = self.model.pick(pick) else {
            return Ok(());
        };
        let old = self.keys[&value];
        let wakes = self.subject.wakes();
        let Some(new) = self.subject.reset(old, due) else {
            return Err(format!(
                "reset of the pending timer {value} says that it is too late"
            ));
        };
        self.model.set(value, due);
        self.keys.insert(value, new);
        if new != old {
            self.retire(old);
        }
        self.arrived(due, wakes)
    }

    fn advance(&mut self, now: u64, budget: usize) -> Result<Step, Fault> {
        let now = now.max(self.model.now());
        self.model.move_to(now);
        self.sleep.end();
        let mut fired = Vec::new();
        let step = self
            .subject
            .advance(now, budget, &mut |due, value| fired.push((due, value)));

        let mut latest = 0;
        for &(due, value) in &fired {
            let Some(timer) = self.model.remove(value) else {
                return Err(format!("{value} fired at {now} and was not pending"));
            };
            let key = self
                .keys
                .remove(&value)
                .expect("every pending timer has a key");
            self.retire(key);
            demand!(
                timer.due <= now,
                "{value} fired early: at {now}, due at {}",
                timer.due
            );
            demand!(
                due == timer.due,
                "{value} fired as due at {due}, it was due at {}",
                timer.due
            );
            if !timer.overdue {
                demand!(
                    latest <= due,
                    "{value}, due at {due}, fired after one that is due at {latest}"
                );
                latest = due;
            }
        }
        demand!(
            step.fired == fired.len(),
            "{step:?}, but {} timers fired",
            fired.len()
        );
        demand!(step.fired <= budget, "{step:?} with a budget of {budget}");
        if step.more {
            demand!(
                step.fired + step.moved > 0,
                "more is due, and nothing was done: {step:?}"
            );
        } else if let Some(due) = self.model.next_due() {
            demand!(
                due > now,
                "at {now} nothing more was due, but a timer was, at {due}"
            );
        }
        self.cut = step.more;
        Ok(step)
    }

    /// Calls `advance` at the present tick until it says that nothing more is due.
    fn settle(&mut self, budget: usize) -> Result<(), Fault> {
        let limit = self.visits_allowed();
        for _ in 0..limit {
            if !self.advance(self.model.now(), budget)?.more {
                return Ok(());
            }
        }
        Err(format!(
            "more is due even after {limit} calls at {}",
            self.model.now()
        ))
    }

    /// Advances from one `next_due` to the next, as a driver does.
    fn drive(&mut self, visits: usize) -> Result<(), Fault> {
        for _ in 0..visits {
            self.compare()?;
            let Some(next) = self.subject.next_due() else {
                break;
            };
            self.advance(next, usize::MAX)?;
            self.settle(usize::MAX)?;
        }
        Ok(())
    }

    /// An engine without timers may still want to look at the places of cancelled ones, but not for
    /// ever.
    fn rest(&mut self) -> Result<(), Fault> {
        self.settle(usize::MAX)?;
        let limit = self.visits_allowed();
        for _ in 0..limit {
            let Some(next) = self.subject.next_due() else {
                let places = self.subject.places();
                return places.map_or(Ok(()), |places| places.judge_rest());
            };
            self.advance(next, usize::MAX)?;
            self.settle(usize::MAX)?;
        }
        Err(format!(
            "without a timer, the engine wants more than {limit} visits"
        ))
    }

    /// What must hold between any two operations.
    fn compare(&mut self) -> Result<(), Fault> {
        let (now, len) = (self.model.now(), self.subject.pending());
        demand!(
            len == self.model.len(),
            "len is {len}, pending are {}",
            self.model.len()
        );
        // Not each time: it is a look at each slot.
        self.compared += 1;
        if self.compared.is_multiple_of(PLACES_EVERY)
            && let Some(places) = self.subject.places()
        {
            places.judge(&self.model)?;
        }
        let next = self.subject.next_due();
        self.sleep.until(next);
        if let Some(due) = self.model.next_due() {
            let Some(next) = next else {
                return Err(format!("next_due is None, a timer is due at {due}"));
            };
            demand!(
                next <= due.max(now),
                "next_due is {next} at {now}, a timer is due at {due}"
            );
        }
        if let Some(next) = next
            && !self.cut
            && !self.model.is_due()
        {
            // The last tick there is cannot be left behind, so what was cancelled at it may still
            // count.
            demand!(
                next > now || now == u64::MAX,
                "next_due is {next} at {now}, and nothing is due"
            );
        }
        Ok(())
    }

    /// Judges what a timer that became due at a tick did to the driver's sleep.
    fn arrived(&mut self, due: u64, wakes_before: Option<u64>) -> Result<(), Fault> {
        match (wakes_before, self.subject.wakes()) {
            (Some(before), Some(after)) if after > before => self.sleep.woken_for(due),
            (Some(_), Some(_)) => self.sleep.passed_over(due),
            _ => Ok(()),
        }
    }

    /// How many calls an engine may need for anything: each timer, cancelled ones included, once
    /// per level and a few more.
    fn visits_allowed(&self) -> u64 {
        100 + 20 * self.model.inserted()
    }

    fn stale_key(&self, pick: usize) -> Option<S::Key> {
        self.stale.get(pick.checked_rem(self.stale.len())?).copied()
    }

    fn retire(&mut self, key: S::Key) {
        if self.stale.len() == STALE_KEYS {
            // Keeps the oldest ones, whose memory was reused most often, beside the youngest.
            self.stale.remove(STALE_KEYS / 2);
        }
        self.stale.push(key);
    }
}
