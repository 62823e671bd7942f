//! What a user's thread does to a wheel.

use wheel_core::{InsertError, Key, Tick};
use wheel_testkit::Random;

use super::plan::End;
use super::round::Round;
use super::seen::Seen;

/// Keys that a thread keeps; older ones stay pending without it.
const KEYS_MAX: usize = 24;

/// A thread that uses the wheel.
pub(super) struct User<'a> {
    round: &'a Round,
    me: usize,
    random: Random,
    keys: Vec<Key>,
    stale: Vec<Key>,
    seen: Seen,
}

impl User<'_> {
    pub(super) fn new(round: &Round, me: usize, random: Random) -> User<'_> {
        User {
            round,
            me,
            random,
            keys: Vec::new(),
            stale: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// Its operations, one after the other. Returns what it has seen.
    pub(super) fn work(mut self) -> Seen {
        for _ in 0..self.round.plan.ops {
            self.step();
        }
        self.seen
    }

    fn step(&mut self) {
        if self.random.one_in(4) {
            self.keys.append(&mut self.round.inboxes[self.me].lock());
        }
        let picked = match self.keys.len() {
            0 => None,
            keys => Some(self.random.below(keys as u64) as usize),
        };
        match (self.random.below(20), picked) {
            (0..=7, _) | (8..=15, None) => self.insert(),
            (8..=11, Some(at)) => self.cancel(at),
            (12..=14, Some(at)) => self.reset(at),
            (15, Some(at)) => {
                // A copy stays here, so that two threads try the same one.
                let to = self.random.below(self.round.inboxes.len() as u64) as usize;
                self.round.inboxes[to].lock().push(self.keys[at]);
            }
            (16, _) => self.try_a_stale_key(),
            _ => {
                let ticks = self.round.plan.dues.pass(&mut self.random);
                self.round.bed.pass(ticks);
            }
        }
        if self.keys.len() > KEYS_MAX {
            let at = self.random.below(KEYS_MAX as u64) as usize;
            self.keys.swap_remove(at);
        }
    }

    fn insert(&mut self) {
        let round = self.round;
        let id = round.new_id();
        let due = round.plan.dues.draw(&mut self.random, round.bed.now());
        match round.wheel.insert(Tick::new(due), round.census.value(id)) {
            Ok(key) => {
                self.seen.notes.inserted.push((key, due, id));
                self.given(key, due);
                self.keys.push(key);
            }
            Err(refused) => {
                match refused {
                    InsertError::Full(_) => assert!(round.plan.max_timers.is_some(), "no limit"),
                    _ => assert!(round.plan.end == End::Midway, "nobody has closed it"),
                }
                self.seen.notes.refused.push(refused.into_value().id);
            }
        }
    }

    /// A key was given out a moment ago, and nobody else has it yet.
    fn given(&mut self, key: Key, due: u64) {
        let round = self.round;
        let now = round.wheel.now().get();
        if due > now {
            self.seen.to_come.insert(key);
        }
        // What a thread was writing when its turn came is looked at in the next tick at the latest.
        let by = due.max(now.saturating_add(1));
        let overslept = round.bed.asleep_until().filter(|&until| until > by);
        if let Some(until) = overslept
            && round.wheel.cancel(key).is_some()
        {
            panic!("still pending, due {due}, and the driver sleeps until {until}");
        }
    }

    fn cancel(&mut self, at: usize) {
        let key = self.keys.swap_remove(at);
        if let Some(value) = self.round.wheel.cancel(key) {
            self.seen.notes.cancelled.push((key, value.id));
        }
        self.stale.push(key);
    }

    fn reset(&mut self, at: usize) {
        let old = self.keys[at];
        let due = self
            .round
            .plan
            .dues
            .draw(&mut self.random, self.round.bed.now());
        match self.round.wheel.reset(old, Tick::new(due)) {
            Some(new) => {
                self.seen.notes.reset.push((old, new, due));
                self.given(new, due);
                self.keys[at] = new;
                self.stale.push(old);
            }
            // Too late, closed, or full: then it may be pending still.
            None => drop(self.keys.swap_remove(at)),
        }
    }

    fn try_a_stale_key(&mut self) {
        if self.stale.is_empty() {
            return;
        }
        let key = self.random.choose(&self.stale);
        let wheel = &self.round.wheel;
        match self.random.one_in(2) {
            true => assert!(wheel.cancel(key).is_none(), "a stale key was good"),
            false => assert!(
                wheel.reset(key, wheel.now()).is_none(),
                "a stale key was good"
            ),
        }
    }
}
