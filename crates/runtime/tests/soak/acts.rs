//! What is done to a task by hand, drawn at random; the books are looked at before.

use wheel_runtime::{
    BackfillError, CancelOutcome, PauseOutcome, ResumeFrom, ResumeOutcome, TaskInfo, TaskState,
    TriggerOutcome,
};

use crate::plan::schedule;
use crate::points::{Ms, Points, SECOND, length, wall, wall_ms};
use crate::world::World;

impl World {
    /// Does something to a task that lives, if there is one.
    pub(crate) fn act(&mut self) {
        // Nothing by hand is for an instant that a schedule names.
        self.clock.run_for(length(1));
        self.settle();
        let Some((number, info)) = self.any_live() else {
            return;
        };
        self.tally.acts += 1;
        let now = self.now();
        self.books[number].check(&info, now, &self.walls);
        match self.rng.below(20) {
            0 => self.cancel(number, info),
            1..4 => self.pause(number),
            4..8 => self.resume(number),
            8..12 => self.trigger(number),
            12..15 => self.reschedule(number, &info),
            15 | 16 => self.backfill(number),
            _ => self.replay(),
        }
        self.settle();
        let info = self.books[number].handle.info();
        if !info.state.has_ended() {
            self.books[number].check(&info, now, &self.walls);
        }
    }

    fn any_live(&mut self) -> Option<(usize, TaskInfo)> {
        while !self.live.is_empty() {
            let at = self.rng.below(self.live.len() as u64) as usize;
            let number = self.live[at];
            let info = self.books[number].handle.info();
            if !info.state.has_ended() {
                return Some((number, info));
            }
            self.live.swap_remove(at);
        }
        None
    }

    fn cancel(&mut self, number: usize, info: TaskInfo) {
        let book = &mut self.books[number];
        assert_eq!(book.handle.cancel(), CancelOutcome::Cancelled, "{info:?}");
        book.cancelled = Some(Box::new(info));
    }

    fn pause(&mut self, number: usize) {
        let now = self.now();
        let book = &mut self.books[number];
        match self.scheduler.pause(book.handle.id()) {
            PauseOutcome::Paused => book.pause(now, &self.walls),
            other => assert_eq!(
                (other, book.paused.is_some()),
                (PauseOutcome::WasPaused, true)
            ),
        }
    }

    fn resume(&mut self, number: usize) {
        let now = self.now();
        let from = [ResumeFrom::Now, ResumeFrom::Missed][self.rng.below(2) as usize];
        let book = &mut self.books[number];
        match self.scheduler.resume(book.handle.id(), from) {
            ResumeOutcome::Resumed => book.resume(now),
            other => assert_eq!((other, book.paused), (ResumeOutcome::NotPaused, None)),
        }
    }

    fn trigger(&mut self, number: usize) {
        let book = &mut self.books[number];
        // How many runs are left to the schedule is not followed.
        if book.policies.count.is_none()
            && self.scheduler.trigger(book.handle.id()) == TriggerOutcome::Triggered
        {
            book.hand += 1;
        }
    }

    fn reschedule(&mut self, number: usize, info: &TaskInfo) {
        let is_once = matches!(self.books[number].era().points, Points::Once(_));
        if is_once && info.state != TaskState::Scheduled {
            return;
        }
        let at = self.at();
        let (schedule, era) = schedule(&mut self.rng, &mut self.listed, at);
        let book = &mut self.books[number];
        self.scheduler
            .reschedule(book.handle.id(), schedule)
            .unwrap();
        book.reschedule(era, info, &self.walls);
    }

    /// For the time before the task was added, of which nothing has run.
    fn backfill(&mut self, number: usize) {
        let book = &mut self.books[number];
        if book.eras.len() > 1 || !book.is_summed || book.has_backfill {
            return;
        }
        let to = book.era().wall.min(wall_ms(self.clock.wall()));
        let from = to - self.rng.below(100_000) as Ms * SECOND;
        let filled = self
            .scheduler
            .backfill(book.handle.id(), wall(from), wall(to));
        match filled {
            Ok(filled) => book.hand += filled as u64,
            // Its window is over, and its last run has not ended.
            Err(error) => {
                let is_over = book.era().not_after.is_some();
                assert!(
                    is_over && error == BackfillError::NotRecurring,
                    "{error}: {book:?}"
                );
            }
        }
        book.has_backfill = true;
    }

    fn replay(&mut self) {
        let letters = self.scheduler.dead_letters().list();
        if letters.is_empty() {
            return;
        }
        let letter = &letters[self.rng.below(letters.len() as u64) as usize];
        let Some(number) = letter.task.strip_prefix('t') else {
            return;
        };
        let book = &mut self.books[number.parse::<usize>().unwrap()];
        if book.policies.count.is_some() {
            return;
        }
        let had_ended = book.handle.info().state.has_ended();
        let Ok(handle) = self.scheduler.dead_letters().replay(letter.id) else {
            return;
        };
        self.replays += 1;
        if had_ended {
            book.reborn.push(handle);
        } else {
            book.hand += 1;
            book.replayed.push(wall_ms(letter.nominal));
        }
    }
}
