//! The owner that advances a wheel: place, cascade, fire, sweep, close.
//!
//! The driver *looks* at an entry without claiming it: state, then due tick, then one step on the
//! very word that it saw, and only to fire or to free. It never moves a pending timer's generation,
//! so keys stay good while it works, and it waits for nobody: an entry that a thread is writing is
//! put off, and looked at again in the next call.

use std::collections::VecDeque;
use std::fmt;

use wheel_sync::Arc;
use wheel_sync::MODELLED;

use crate::Tick;
use crate::arena::Chain;
use crate::budget::{Budget, Progress, Work};
use crate::close::Unfired;
use crate::engine::Engine;
use crate::entry::NIL;
use crate::intake::Chains;
use crate::key::Key;
use crate::levels::{Levels, Step};
use crate::state::{Phase, Word};
use crate::sweep::{Outcome, Visited};

/// Entries that are placed before a sleep; if more wait, the sleep is a short one.
const PLACED_BEFORE_SLEEP: usize = if MODELLED { 2 } else { 1024 };

/// A timer that is due.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fired<T> {
    /// What was inserted.
    pub value: T,
    /// When it was to fire.
    pub due: Tick,
    /// The key that it had.
    pub key: Key,
}

/// Advances one wheel. There is one driver to a wheel; dropping it closes the wheel.
pub struct Driver<T> {
    pub(crate) engine: Arc<Engine<T>>,
    pub(crate) levels: Levels,
    /// Chains taken from the intake whose entries have no place yet. The oldest go first, or
    /// inserts that take up the whole budget would keep them waiting.
    pub(crate) taken: Chains,
    /// Entries whose turn came while a thread was writing them, so at most one for each thread.
    /// They count as held, and have no place until they are looked at again.
    pub(crate) put_off: VecDeque<u32>,
    /// Entries freed since the last full batch.
    freed: Chain,
    armed: bool,
    /// What never fired was handed to the caller of `close`.
    closed: bool,
    /// Whose turn it is to have the odd unit of a budget.
    intake_first: bool,
}

impl<T> Driver<T> {
    pub(crate) fn new(engine: Arc<Engine<T>>, levels: Levels) -> Driver<T> {
        Driver {
            engine,
            levels,
            taken: Chains::new(),
            put_off: VecDeque::with_capacity(8),
            freed: Chain::default(),
            armed: false,
            closed: false,
            intake_first: false,
        }
    }

    /// Fires what is due at `now` or before, in order of due ticks, unordered within a tick.
    ///
    /// `now` is a clock reading rounded down; one that is not later than the last fires only what
    /// was inserted since and is due by it. Costs what is due and not what has passed: an hour
    /// without a call is one look at each slot that holds something. Timers that are inserted
    /// meanwhile, by `fire` too, fire at the next advance.
    ///
    /// Touches at most `budget` entries. If that was not enough [`Progress::more`] is set, and the
    /// next call goes on where this one stopped.
    ///
    /// # Panics
    ///
    /// Only if `fire` does: that timer counts as fired, and the driver stays usable.
    pub fn advance(
        &mut self,
        now: Tick,
        budget: Budget,
        mut fire: impl FnMut(Fired<T>),
    ) -> Progress {
        if std::mem::take(&mut self.armed) {
            self.engine.wake.disarm();
        }
        let now = now.get();
        if now > self.engine.now() {
            self.engine.set_now(now);
        }
        let mut work = Work::new(budget);
        let mut fired = 0;
        self.look_again();
        if !self.engine.intake.seems_empty() {
            self.taken.extend(self.engine.intake.take());
        }
        let mut placed = self.place_share(&mut work);
        let cut = loop {
            let arena = &self.engine.arena;
            match self
                .levels
                .next(now, &mut work, |index| arena.prefetch(index))
            {
                Step::Look { index, at } => {
                    if let Some(timer) = self.look(index, at) {
                        fired += 1;
                        fire(timer);
                    }
                }
                Step::Done => break false,
                Step::Cut => break true,
            }
        };
        // A budget of 1 that was kept for what is due, and nothing was: each call gets on.
        let kept = work.spent() == 0 && !self.taken.is_empty();
        if kept {
            self.place_taken(&mut work);
            placed = work.spent();
        }
        let outcome = Outcome::of(placed + fired, &work);
        let (engine, freed) = (&self.engine, &mut self.freed);
        let owing = self.levels.sweep(
            Visited { placed, outcome },
            &mut work,
            || engine.places.live(),
            |index| !reap_into(freed, engine, index),
        );
        Progress {
            fired,
            moved: work.spent() - fired,
            more: cut || owing || kept || !self.taken.is_empty(),
        }
    }

    /// When to call [`advance`](Driver::advance) next; `None` when nothing is pending.
    ///
    /// Never later than the earliest timer, but for one that the driver [is
    /// behind](Driver::is_behind) with: for that it is the next tick. It may be earlier: a cascade
    /// that should go on, or a cancelled entry that nobody has freed yet. Not after the latest
    /// advance only if something is due that did not fit its budget, or was inserted since.
    ///
    /// From the return of this call until the next advance, whoever inserts something that is due
    /// earlier wakes [`Config::waker`](crate::Config::waker).
    ///
    /// # Examples
    ///
    /// A driver that is always in time:
    ///
    /// ```
    /// use wheel_core::{Budget, Config, Tick};
    ///
    /// let (wheel, mut driver) = Config::new().build();
    /// wheel.insert(Tick::new(30), "lunch")?;
    /// wheel.insert(Tick::new(90_000), "tea")?;
    /// let mut fired = Vec::new();
    /// while let Some(due) = driver.next_due() {
    ///     driver.advance(due, Budget::UNLIMITED, |timer| fired.push((due.get(), timer.value)));
    /// }
    /// assert_eq!(fired, [(30, "lunch"), (90_000, "tea")]);
    /// # Ok::<(), wheel_core::InsertError<&str>>(())
    /// ```
    pub fn next_due(&mut self) -> Option<Tick> {
        loop {
            let (engine, freed) = (&self.engine, &mut self.freed);
            self.levels.review_overdue(|index| {
                let freed = reap_into(freed, engine, index);
                (!freed).then(|| engine.arena.get(index).due())
            });
            self.look_again();
            let visit = self.next_visit();
            self.engine.wake.arm(visit.unwrap_or(u64::MAX));
            self.armed = true;
            // Race: push-or-park. From here on an inserter sees the tick, or has been taken.
            self.taken.extend(self.engine.intake.take_armed());
            let mut work = Work::new(Budget::new(PLACED_BEFORE_SLEEP));
            self.place_taken(&mut work);
            if !self.taken.is_empty() {
                let soon = self.next_tick();
                let next = self.next_visit().map_or(soon, |next| next.min(soon));
                self.engine.wake.arm(next);
                return Some(Tick::new(next));
            }
            if self.next_visit() == visit {
                return visit.map(Tick::new);
            }
        }
    }

    /// Whether something may be due by now that has not been looked at: more was inserted than
    /// [`next_due`](Driver::next_due) gives a place to, or a timer's turn came while a thread was
    /// halfway through a call on it. The driver does not wait for that thread, which has some
    /// instructions to go unless it is preempted.
    ///
    /// `next_due` is the next tick at the latest then, and by most clocks that is soon enough. A
    /// driver by a clock that may stand still calls [`advance`](Driver::advance) again instead of
    /// sleeping.
    pub fn is_behind(&self) -> bool {
        !self.taken.is_empty() || !self.put_off.is_empty()
    }

    /// Closes the wheel. Inserts from now on are refused; what never fired comes back, in no order.
    ///
    /// Waits for an insert, cancel or reset that is halfway through, which takes it some
    /// instructions, unless its thread is preempted. Dropping the result takes out and drops what
    /// is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_core::{Config, InsertError, Tick};
    ///
    /// let (wheel, driver) = Config::new().build();
    /// wheel.insert(Tick::new(30), "lunch")?;
    /// assert_eq!(driver.close().collect::<Vec<_>>(), ["lunch"]);
    /// let refused = wheel.insert(Tick::new(40), "late lunch").unwrap_err();
    /// assert!(matches!(refused, InsertError::Closed("late lunch")));
    /// # Ok::<(), InsertError<&str>>(())
    /// ```
    pub fn close(mut self) -> Unfired<T> {
        self.closed = true;
        Unfired::of(&self.engine)
    }

    /// Gives entries of the intake a place, with half of the budget at most, so that neither they
    /// nor what is due can hold the other up. Returns how many.
    fn place_share(&mut self, work: &mut Work) -> usize {
        if self.taken.is_empty() {
            return 0;
        }
        self.intake_first = !self.intake_first;
        let left = work.left();
        let share = left / 2 + usize::from(self.intake_first) * (left % 2);
        work.set_aside(left - share);
        let before = work.spent();
        self.place_taken(work);
        work.bring_back(left - share);
        work.spent() - before
    }

    fn place_taken(&mut self, work: &mut Work) {
        let before = work.spent();
        while let Some(&index) = self.taken.firsts.front() {
            if !work.spend() {
                break;
            }
            let next = self.engine.arena.get(index).next();
            match next {
                NIL => drop(self.taken.firsts.pop_front()),
                next => {
                    *self.taken.firsts.front_mut().expect("it was just seen") = next;
                    self.engine.arena.prefetch(next);
                }
            }
            self.place(index);
        }
        self.taken.entries -= work.spent() - before;
    }

    /// Looks at what was put off, which may be a timer, vacant, or busy still. Not within a budget:
    /// at small ones, a thread that is preempted would hold up what is due. Race:
    /// busy-meets-driver.
    fn look_again(&mut self) {
        for _ in 0..self.put_off.len() {
            if let Some(index) = self.put_off.pop_front() {
                self.levels.held -= 1;
                self.place(index);
            }
        }
    }

    fn next_tick(&self) -> u64 {
        self.engine.now().saturating_add(1)
    }

    /// The next tick at which there is something to do.
    fn next_visit(&mut self) -> Option<u64> {
        let visit = self.levels.next_visit();
        if self.put_off.is_empty() {
            return visit;
        }
        let soon = self.next_tick();
        Some(visit.map_or(soon, |visit| visit.min(soon)))
    }

    /// Gives an entry of the intake its place, or frees it right here if it was cancelled
    /// meanwhile: most timeouts never get a place. Races: cancel-or-place, rearm-or-reap.
    fn place(&mut self, index: u32) {
        let entry = self.engine.arena.get(index);
        loop {
            let word = entry.state.look();
            match word.phase() {
                Phase::Live => return self.levels.place(index, entry.due()),
                // Race: busy-meets-driver.
                Phase::Busy => {
                    self.levels.held += 1;
                    return self.put_off.push_back(index);
                }
                Phase::Vacant if entry.state.reap(word) => return self.free(index, word),
                Phase::Vacant => {}
                // A closed wheel's inserter has taken its value back.
                Phase::Free => return,
            }
        }
    }

    /// Looks at an entry that was held until tick `at`: fires it if it is due, frees it if it is
    /// vacant, puts it where it belongs if it is due later, and puts it off if somebody is writing
    /// it.
    fn look(&mut self, index: u32, at: u64) -> Option<Fired<T>> {
        let entry = self.engine.arena.get(index);
        loop {
            let word = entry.state.look();
            match word.phase() {
                Phase::Live => {
                    // Not older than the word, and if it is newer, the step below fails.
                    let due = entry.due();
                    if due > at {
                        self.levels.put(index, due);
                        return None;
                    }
                    // Races: cancel-or-fire, reset-or-fire.
                    if entry.state.take_live(word) {
                        // SAFETY: taken out of live, so the value is the driver's. [U3]
                        let value = unsafe { entry.read() };
                        self.levels.held -= 1;
                        self.free(index, word);
                        self.engine.places.count_driven();
                        self.engine.limit.release();
                        return Some(Fired {
                            value,
                            due: Tick::new(due),
                            key: Key::new(self.engine.id, index, word.generation()),
                        });
                    }
                }
                Phase::Vacant if entry.state.reap(word) => {
                    self.levels.held -= 1;
                    self.free(index, word);
                    return None;
                }
                Phase::Vacant => {}
                // Race: busy-meets-driver.
                Phase::Busy => {
                    self.put_off.push_back(index);
                    return None;
                }
                Phase::Free => unreachable!("entry {index} was freed while it had a place"),
            }
        }
    }

    #[cfg(wheel_model)]
    pub(crate) fn freed(&self) -> usize {
        self.freed.len()
    }

    fn free(&mut self, index: u32, last: Word) {
        free_into(&mut self.freed, &self.engine, index, last);
    }
}

/// Frees an entry if it is vacant. Race: rearm-or-reap; who loses it leaves it to be somebody's
/// timer.
fn reap_into<T>(freed: &mut Chain, engine: &Engine<T>, index: u32) -> bool {
    let entry = engine.arena.get(index);
    let word = entry.state.look();
    let reaped = word.phase() == Phase::Vacant && entry.state.reap(word);
    if reaped {
        free_into(freed, engine, index, word);
    }
    reaped
}

/// Adds an entry that is free now to the stock, or retires it for good when its generations are
/// spent.
fn free_into<T>(freed: &mut Chain, engine: &Engine<T>, index: u32, last: Word) {
    if last.is_spent() {
        return;
    }
    freed.push(index, &engine.arena);
    if freed.is_full() {
        engine.arena.give(std::mem::take(freed));
    }
}

impl<T> Drop for Driver<T> {
    fn drop(&mut self) {
        if !self.closed {
            drop(Unfired::of(&self.engine));
        }
    }
}

impl<T> fmt::Debug for Driver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("now", &self.engine.now())
            .field("held", &self.levels.held)
            .finish_non_exhaustive()
    }
}
