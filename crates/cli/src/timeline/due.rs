//! When the tasks of a file are due in a stretch of time.
//!
//! Instants are nominal, as those of [`Schedule::occurrences`](wheel_runtime::Schedule::occurrences)
//! are: what waits for a worker, or is spread by jitter, starts later. Work is bounded: what is due
//! very often is counted up to a limit.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use wheel_runtime::Jitter;

use crate::duration;
use crate::file::{Task, TaskFile};

/// How far one task is counted, and all of them together.
const COUNTED_MAX: usize = 100_000;
const LOOKED_AT_MAX: usize = 5_000_000;

/// A file, in a stretch of time.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) span: Range<SystemTime>,
    /// In the order of the file.
    pub(super) rows: Vec<Row>,
    /// The instants of those that are not busy, in order: when, and the number of the task.
    pub(super) due: Vec<(SystemTime, usize)>,
}

/// A task.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) schedule: String,
    /// How often it is due, at least.
    pub(super) times: usize,
    /// Whether it was counted to the end of the stretch.
    pub(super) counted: Counted,
    pub(super) first: Option<SystemTime>,
    pub(super) last: Option<SystemTime>,
    /// When it is due first after the stretch.
    pub(super) next: Option<SystemTime>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    All,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each of its instants is listed.
    Listed,
    /// There are too many to list.
    Busy,
    /// It is due after others.
    AfterOthers,
}

impl Timeline {
    /// Of what begins at the start of `span`; tasks that are due more often than `busy` are not
    /// listed one by one.
    pub(super) fn of(file: &TaskFile, span: Range<SystemTime>, busy: usize) -> Timeline {
        let mut rows = Vec::with_capacity(file.tasks.len());
        let mut due = Vec::new();
        let mut budget = LOOKED_AT_MAX;
        for (number, task) in file.tasks.iter().enumerate() {
            let most = COUNTED_MAX.min(budget).max(busy + 1);
            let row = Row::of(task, &span, most, busy, |at| due.push((at, number)));
            budget = budget.saturating_sub(row.times);
            rows.push(row);
        }
        // Stable: at one instant the order is that of the file.
        due.sort_by_key(|(at, _)| *at);
        Timeline { span, rows, due }
    }
}

impl Row {
    fn of(
        task: &Task,
        span: &Range<SystemTime>,
        most: usize,
        busy: usize,
        mut list: impl FnMut(SystemTime),
    ) -> Row {
        let mut row = Row {
            id: task.id.clone(),
            schedule: task.due(),
            times: 0,
            counted: Counted::All,
            first: None,
            last: None,
            next: None,
            kind: Kind::Listed,
        };
        if let Some(Jitter::Uniform(most) | Jitter::Hashed(most)) = task.jitter {
            row.schedule += &format!(", up to {} later", duration::format(most));
        }
        if !task.upstream.is_empty() {
            row.kind = Kind::AfterOthers;
            return row;
        }
        let mut listed = Vec::new();
        for at in instants(task, span.start) {
            if at >= span.end {
                row.next = Some(at);
                break;
            }
            if row.times == most {
                row.counted = Counted::AtLeast;
                break;
            }
            row.times += 1;
            row.first = row.first.or(Some(at));
            row.last = Some(at);
            if row.times <= busy {
                listed.push(at);
            }
        }
        if row.times > busy {
            row.kind = Kind::Busy;
        } else {
            listed.into_iter().for_each(&mut list);
        }
        row
    }
}

/// When the task is due, if it is begun at `from`; what is due by the calendar then is part of it.
fn instants(task: &Task, from: SystemTime) -> impl Iterator<Item = SystemTime> {
    let schedule = &task.schedule;
    let begin = match schedule.follows_wall_clock() {
        true => from.checked_sub(Duration::from_nanos(1)).unwrap_or(from),
        false => from,
    };
    let count = schedule.count.map_or(usize::MAX, |count| {
        usize::try_from(count).unwrap_or(usize::MAX)
    });
    let instants = schedule.asked().occurrences(begin).ok();
    // What was due before it began is due at once.
    instants
        .into_iter()
        .flatten()
        .map(move |at| at.max(from))
        .take(count)
}
