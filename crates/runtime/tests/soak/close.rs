//! The end: the books of all tasks, and their sums against the numbers of the scheduler.

use std::sync::atomic::Ordering;
use std::time::Duration;

use wheel_runtime::{Stats, TaskHandle, TaskInfo, TaskState, When};

use crate::book::Book;
use crate::plan::Hands;
use crate::points::{Ms, Points, Walls};
use crate::world::World;

impl World {
    /// Checks all of it, shuts down, and returns what was counted.
    pub(crate) fn close(mut self) -> (Stats, Closed) {
        let now = self.now();
        let mut closed = Closed::default();
        for book in &self.books {
            let info = book.handle.info();
            closed.add(book, &info, (now, &self.walls), self.hands);
        }
        self.check_followers();
        self.graphs.check(&self.scheduler, now, &mut closed);
        self.live.clear();
        let waiting = self.scheduler.stats();
        assert_eq!(waiting.missed, closed.missed, "{waiting:?}");
        let report = self.scheduler.shutdown(Duration::ZERO).unwrap();
        assert!(report.interrupted.is_empty(), "{report:?}");
        let stats = self.scheduler.stats();
        let gauges = (stats.scheduled, stats.queued, stats.running, stats.retrying);
        assert_eq!(gauges, (0, 0, 0, 0), "{stats:?}");
        let over = stats.succeeded + stats.failed + stats.abandoned;
        assert_eq!(stats.runs, over, "{stats:?}");
        assert_eq!((stats.early, stats.hooks_panicked), (0, 0));
        let reasons = stats.skipped_overlap
            + stats.skipped_misfire
            + stats.skipped_paused
            + stats.skipped_refused
            + stats.skipped_upstream;
        assert_eq!(stats.skipped, reasons, "{stats:?}");
        let letters = stats.dead_letters as u64 + stats.dead_letters_dropped + self.replays;
        assert_eq!(stats.dead, letters, "{stats:?}");
        // Relaxed: nothing runs any more.
        let (failures, deaths) = (&self.ledger.failures, &self.ledger.deaths);
        let hooked = (
            failures.load(Ordering::Relaxed),
            deaths.load(Ordering::Relaxed),
        );
        assert_eq!(
            hooked,
            (stats.failed + stats.retried, stats.dead),
            "{stats:?}"
        );
        let followers = self.followers.iter().map(|(follower, ..)| follower.info());
        let followers = followers.fold((0, 0), |(runs, skipped), info| {
            (runs + info.runs, skipped + info.skipped)
        });
        assert_eq!(stats.runs, closed.runs + followers.0, "{stats:?}");
        assert_eq!(stats.skipped, closed.skipped + followers.1, "{stats:?}");
        (stats, closed)
    }

    /// Each ran if it was to, and was skipped if not.
    fn check_followers(&self) {
        for (follower, before, wanted) in &self.followers {
            let book = &self.books[*before];
            if book
                .eras
                .iter()
                .any(|era| !matches!(era.points, Points::Once(_)))
            {
                // It recurs by now, and the next of its runs counted.
                continue;
            }
            let (info, before) = (follower.info(), book.handle.info());
            let holds = match before.state {
                state if !state.has_ended() => None,
                TaskState::Succeeded => Some(*wanted != When::Failed),
                TaskState::Failed | TaskState::Dead | TaskState::TimedOut => {
                    Some(*wanted != When::Succeeded)
                }
                _ => Some(*wanted == When::Finished),
            };
            let came = match info.state {
                TaskState::Scheduled => None,
                TaskState::Skipped => Some(false),
                _ => Some(true),
            };
            assert_eq!(came, holds, "{wanted:?}: {before:?}, {info:?}");
            assert_eq!(info.runs, u64::from(came == Some(true)), "{info:?}");
        }
    }
}

/// What the books say in all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Closed {
    pub(crate) runs: u64,
    pub(crate) missed: u64,
    pub(crate) skipped: u64,
    /// Occurrences of schedules and by hand, of tasks that recur.
    pub(crate) due: u64,
    /// Tasks whose books are exact.
    pub(crate) exact: u64,
    pub(crate) ended: u64,
}

impl Closed {
    fn add(&mut self, book: &Book, info: &TaskInfo, (now, walls): (Ms, &Walls), hands: Hands) {
        let due = book.close(info, now, walls);
        if due.0 == due.1 {
            self.exact += 1;
            self.due += due.0;
        }
        self.ended += u64::from(info.state.has_ended());
        for info in std::iter::once(info.clone()).chain(book.reborn.iter().map(TaskHandle::info)) {
            self.runs += info.runs;
            self.missed += info.missed;
            self.skipped += info.skipped;
        }
        if book.reborn.is_empty() {
            let seen = book.check_notes(hands, walls);
            let never_called = book.policies.has_deadline || book.policies.is_of_kind;
            assert!(
                seen == info.runs || never_called && seen < info.runs,
                "{seen} runs, {info:?}"
            );
        }
        book.check_count(info);
    }
}
