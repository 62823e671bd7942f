//! The books of one task: what was due, and what became of it.
//!
//! ```text
//!  due by the instants + by hand  ==  runs + missed + skipped + what still waits
//!  armed                          ==  the first instant that has not come, or one that jitter holds
//! ```
//!
//! Checked before whatever is done to the task, so that a fault shows near to where it was made, and
//! at the end. Where something cannot be known from outside, such as for how many occurrences those
//! stand that wait, the books say between which numbers it lies.

use wheel_runtime::{TaskHandle, TaskInfo, TaskState};

use crate::ledger::Notes;
use crate::plan::Policies;
use crate::points::{Era, Ms, Points, Walls, ms_of, wall_ms};

/// At least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Between(pub(crate) u64, pub(crate) u64);

pub(crate) struct Book {
    pub(crate) handle: TaskHandle,
    pub(crate) policies: Policies,
    pub(crate) notes: Notes,
    /// The last one is the present one.
    pub(crate) eras: Vec<Era>,
    /// Due in the eras before.
    closed: Between,
    /// Of an era before, still to come: its due, by the wall clock or not.
    owed: Option<(Ms, bool)>,
    /// From when on the present instants are looked at, and the highest reading before.
    looked_from: Ms,
    highest_before: Ms,
    /// Since when the task has been paused.
    pub(crate) paused: Option<Ms>,
    /// Runs by hand, which are beside the schedule.
    pub(crate) hand: u64,
    /// Instants that have another run because a dead one was replayed.
    pub(crate) replayed: Vec<Ms>,
    /// Tasks of the same id that came after its end, to replay what was dead.
    pub(crate) reborn: Vec<TaskHandle>,
    pub(crate) has_backfill: bool,
    /// Whether all that was due is known.
    pub(crate) is_summed: bool,
    /// Cancelled by the soak, and what it was before.
    pub(crate) cancelled: Option<Box<TaskInfo>>,
}

impl Book {
    pub(crate) fn new(handle: TaskHandle, policies: Policies, notes: Notes, era: Era) -> Book {
        Book {
            handle,
            notes,
            is_summed: era.has_grid() && policies.count.is_none(),
            policies,
            closed: Between(0, 0),
            owed: None,
            looked_from: era.now,
            highest_before: era.wall,
            eras: vec![era],
            paused: None,
            hand: 0,
            replayed: Vec::new(),
            reborn: Vec::new(),
            has_backfill: false,
            cancelled: None,
        }
    }

    pub(crate) fn era(&self) -> &Era {
        self.eras.last().expect("there is one")
    }

    /// How far the present schedule has been looked at by `now`, by its own clock.
    fn reached(&self, now: Ms, walls: &Walls) -> Ms {
        let until = self.paused.unwrap_or(now);
        match self.era().by_wall {
            false => until,
            true => self.highest_wall(until, walls),
        }
    }

    fn highest_wall(&self, until: Ms, walls: &Walls) -> Ms {
        let looked = walls.highest(self.looked_from.min(until), until);
        self.highest_before.max(looked)
    }

    /// What is armed, by the clock of the present schedule; `None` if it is not to be seen.
    fn armed(&self, info: &TaskInfo, now: Ms) -> Option<Option<Ms>> {
        // Another attempt shows in its place, else.
        if info.state != TaskState::Scheduled || self.paused.is_some() {
            return None;
        }
        let armed = match self.era().by_wall {
            true => info.next_due.map(wall_ms),
            false => info.next_in.map(|ahead| now + ms_of(ahead)),
        };
        Some(armed)
    }

    /// How many occurrences there have been, as of `now`; of a live task `info` has to agree about
    /// what is armed.
    fn due(&self, info: &TaskInfo, now: Ms, walls: &Walls) -> Between {
        let (era, reached) = (self.era(), self.reached(now, walls));
        let Between(mut least, mut most) = self.closed;
        if let Some((due, by_wall)) = self.owed {
            let until = self.paused.unwrap_or(now);
            let reached = if by_wall {
                self.highest_wall(until, walls)
            } else {
                until
            };
            if reached < due {
                return Between(least, most);
            }
            (least, most) = (least + 1, most + 1);
        }
        let count = era.count(reached);
        let next = era.next_after(reached);
        let is_held = count.min(1);
        match self.armed(info, now) {
            _ if !era.has_jitter => {
                if let Some(armed) = self.armed(info, now)
                    && self.knows_what_is_armed(now, walls)
                {
                    assert_eq!(armed, next, "armed at {now}: {self:?}, {info:?}");
                }
                Between(least + count, most + count)
            }
            Some(Some(armed)) => {
                assert!(
                    armed > reached,
                    "late at {now}: {armed}, {self:?}, {info:?}"
                );
                let held = match next {
                    Some(next) => u64::from(armed < next),
                    None => 1,
                };
                let behind = era.next_after(next.unwrap_or(Ms::MAX - 1));
                let is_within = held == 1 || behind.is_none_or(|behind| armed < behind);
                assert!(
                    is_within && held <= is_held,
                    "armed at {now}: {self:?}, {info:?}"
                );
                Between(least + count - held, most + count - held)
            }
            Some(None) => Between(least + count, most + count),
            None => Between(least + count - is_held, most + count),
        }
    }

    /// A window is held against the wall clock when something is armed, so a step of that clock
    /// leaves more than one answer.
    fn knows_what_is_armed(&self, now: Ms, walls: &Walls) -> bool {
        let era = self.era();
        let is_moved = !era.by_wall && era.has_window() && walls.was_set_since(era.now);
        era.has_grid() && self.policies.count.is_none() && !is_moved && now >= era.now
    }

    /// Whether what is written down about the task agrees with what was due.
    pub(crate) fn check(&self, info: &TaskInfo, now: Ms, walls: &Walls) -> Between {
        if !self.is_summed || !self.knows_what_is_armed(now, walls) {
            return Between(0, u64::MAX);
        }
        let Between(least, most) = self.due(info, now, walls);
        let (least, most) = (least + self.hand, most + self.hand);
        let seen = info.runs + info.missed + info.skipped;
        let waits = info.backlog as u64;
        let is_quiet = waits == 0 && info.state != TaskState::Queued;
        let (of, what) = (self, "occurrences");
        assert!(
            seen + waits <= most,
            "{what} at {now}: {seen} and {waits} of {most}, {of:?}, {info:?}"
        );
        assert!(
            seen >= least || !is_quiet,
            "{what} at {now}: {seen} of {least}, {of:?}, {info:?}"
        );
        Between(least, if is_quiet { most } else { u64::MAX })
    }

    /// What was owed counts from when it has come. Whether it is still to come.
    fn fold_owed(&mut self, now: Ms, walls: &Walls) -> bool {
        let Some((due, by_wall)) = self.owed else {
            return false;
        };
        let until = self.paused.unwrap_or(now);
        let reached = if by_wall {
            self.highest_wall(until, walls)
        } else {
            until
        };
        if reached >= due {
            self.owed = None;
            self.closed = Between(self.closed.0 + 1, self.closed.1 + 1);
        }
        self.owed.is_some()
    }

    /// As `check`, of a task that may have ended.
    pub(crate) fn close(&self, info: &TaskInfo, now: Ms, walls: &Walls) -> Between {
        if let Some(before) = &self.cancelled {
            // Checked then. What waited for another attempt was abandoned, and nothing ran since.
            let then = (before.runs, before.missed, before.skipped);
            let same = (info.runs, info.missed, info.skipped) == then;
            assert!(
                same && info.state == TaskState::Cancelled,
                "{before:?}, {info:?}"
            );
            return Between(0, u64::MAX);
        }
        if !info.state.has_ended() {
            return self.check(info, now, walls);
        }
        if matches!(self.era().points, Points::Once(_)) {
            // It ran, by schedule or by hand, or was skipped.
            let seen = info.runs + info.skipped;
            assert!(
                seen == 1 || self.eras.len() > 1 && seen > 0,
                "{self:?}, {info:?}"
            );
            return Between(seen, seen);
        }
        let notes = self.notes.lock().unwrap();
        let last = notes.last().map_or(now, |attempt| attempt.start);
        drop(notes);
        if !self.is_summed || !self.knows_what_is_armed(last, walls) {
            return Between(0, u64::MAX);
        }
        // Either its window is over, or its handler, or a rule about failures, has ended it.
        let has_window = self.era().not_after.is_some();
        // A run whose time is over before it begins may be the last, and calls nobody.
        let has_seen_the_last = !self.policies.has_deadline && !self.policies.is_of_kind;
        let until = if has_window || !has_seen_the_last {
            now
        } else {
            last
        };
        let Between(_, most) = self.due(info, until, walls);
        let seen = info.runs + info.missed + info.skipped;
        assert!(
            seen <= most + self.hand,
            "{seen} of {most}: {self:?}, {info:?}"
        );
        Between(0, u64::MAX)
    }

    /// No more runs than were wanted, and as many if it has ended by that.
    pub(crate) fn check_count(&self, info: &TaskInfo) {
        let Some(wanted) = self.policies.count else {
            return;
        };
        let enough = info.runs <= wanted;
        assert!(enough, "{} runs: {self:?}, {info:?}", info.runs);
    }

    /// From `now` on, nothing is looked at.
    pub(crate) fn pause(&mut self, now: Ms, walls: &Walls) {
        // What is held up across a pause is not followed.
        self.is_summed &= !self.fold_owed(now, walls);
        self.highest_before = self.highest_wall(now, walls);
        self.paused = Some(now);
    }

    pub(crate) fn resume(&mut self, now: Ms) {
        self.paused = None;
        self.looked_from = now;
    }

    /// From `now` on, `era` holds.
    pub(crate) fn reschedule(&mut self, era: Era, info: &TaskInfo, walls: &Walls) {
        let now = era.now;
        let armed = self.armed(info, now).flatten();
        let is_owing = self.fold_owed(now, walls);
        let is_known = self.paused.is_none() && !is_owing && self.era().has_grid();
        self.is_summed &= is_known && era.has_grid() && self.policies.count.is_none();
        if self.is_summed && self.knows_what_is_armed(now, walls) {
            self.closed = self.due(info, now, walls);
            let old = self.era();
            let next = old.next_after(self.reached(now, walls));
            let held = armed.filter(|armed| next.is_none_or(|next| *armed < next));
            // Unless the clock was set back to before its instant: then it is none of this schedule.
            let reads = if old.by_wall { era.wall } else { now };
            let held = held.filter(|armed| old.last_until(*armed).is_some_and(|at| at <= reads));
            self.owed = held.map(|armed| (armed, old.by_wall));
            self.is_summed = self.closed.0 == self.closed.1;
        } else {
            self.is_summed = false;
        }
        (self.looked_from, self.highest_before) = (now, era.wall);
        self.eras.push(era);
    }
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let era = self.era();
        let points = match &era.points {
            Points::Wall(_) => "by the wall clock".to_owned(),
            points => format!("{points:?}"),
        };
        write!(
            f,
            "{} ({points}, from {}/{}, window {:?} {:?}, jitter {}, {:?}, eras {}, closed {:?}, \
             owed {:?}, looked from {} above {}, paused {:?}, by hand {}, replayed {:?})",
            self.handle.id(),
            era.now,
            era.wall,
            era.not_before,
            era.not_after,
            era.has_jitter,
            self.policies,
            self.eras.len(),
            self.closed,
            self.owed,
            self.looked_from,
            self.highest_before,
            self.paused,
            self.hand,
            self.replayed,
        )
    }
}
