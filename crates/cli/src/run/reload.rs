//! At SIGHUP the file is read again, and what it says now takes the place of what it said.
//!
//! ```text
//! signal --> Requests --> thread wheel-reload: read, check --> a fault: it is shown, nothing changes
//!                                                          '-> under the lock of the roster:
//!   the same                    nothing happens to it
//!   another program             the next run is of the new one
//!   other times of the calendar the new ones follow on the old, none is lost or doubled (reschedule)
//!   anything else               the old one is cancelled, the new one added; what of the old was due
//!                               and had not begun is run by the new one
//!   not in the file any more    cancelled
//! ```
//!
//! A run that is going goes on to its end, whatever becomes of its task. What waits for a task that is
//! replaced is replaced with it, as it would be skipped otherwise.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant, SystemTime};

use wheel_runtime::{CancelOutcome, Schedule, Scheduler, TaskInfo, TaskState};
use wheel_sync::{Arc, Condvar, Mutex};

use super::asked;
use super::cut_before;
use super::handler::{Handler, Setting};
use super::roster::{Member, Place, State};
use crate::args::RunArgs;
use crate::crontab::{self, Look};
use crate::file::{Difference, Floor, Kind, NOTHING_WAS_RUN, Task, TaskFile};
use crate::source::SourceError;

/// Asks for the file to be read again; several before it is are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Requests {
    shared: Arc<(Mutex<bool>, Condvar)>,
}

impl Requests {
    pub(super) fn add(&self) {
        *self.shared.0.lock() = true;
        self.shared.1.notify_all();
    }

    fn wait(&self) {
        let mut asked = self.shared.0.lock();
        while !*asked {
            asked = self.shared.1.wait(asked);
        }
        *asked = false;
    }
}

/// What a file that was read again has changed.
#[derive(Debug, Default)]
struct Changes {
    kept: usize,
    changed: usize,
    added: usize,
    removed: usize,
    /// What else there is to say, when the lock has been let go of.
    notes: Vec<String>,
}

/// Reads files again.
pub(super) struct Reloader {
    pub(super) args: RunArgs,
    pub(super) setting: Setting,
    pub(super) scheduler: Scheduler,
    /// Called under the lock of the roster when it has changed.
    pub(super) busy: Box<dyn Fn() + Send>,
}

impl Reloader {
    /// Does so whenever it is asked for. Does not return.
    pub(super) fn serve(&self, requests: &Requests) -> ! {
        loop {
            requests.wait();
            self.reload();
        }
    }

    fn reload(&self) {
        let (args, printer) = (&self.args, &self.setting.printer);
        let path = self.setting.roster.path().display();
        let file = match args.source.load(args.zone.tz.as_ref(), Look::ToRun) {
            Ok(file) => file,
            Err(error) => {
                let text = told(&error);
                printer.print(crate::output::Stream::Err, format!("{text}\n").as_bytes());
                printer.say(&format!(
                    "{path} cannot be used, what was read before goes on"
                ));
                return;
            }
        };
        let roster = &self.setting.roster;
        let changes = roster.change(|state| {
            if state.is_closed {
                return None;
            }
            let changes = self.apply(state, file);
            state.changes += 1;
            (self.busy)();
            Some(changes)
        });
        if let Some(Changes {
            kept,
            changed,
            added,
            removed,
            notes,
        }) = changes
        {
            notes.iter().for_each(|note| printer.say(note));
            printer.say(&format!(
                "{path} was read again: {kept} as before, {changed} changed, {added} new, {removed} gone"
            ));
        }
    }

    fn apply(&self, state: &mut State, mut file: TaskFile) -> Changes {
        let old: Vec<Arc<Task>> = state.members.iter().map(Member::task).collect();
        if self.args.source.crontab {
            let old: Vec<&Task> = old.iter().map(|task| &**task).collect();
            crontab::keep_names(&old, &mut file);
        }
        let mut changes = Changes::default();
        let numbers: HashMap<&str, usize> = (old.iter().enumerate())
            .map(|(number, task)| (task.id.as_str(), number))
            .collect();
        let steps = steps(&file, &state.members, &old, &numbers);

        // Those that wait for others before those, or they would be skipped.
        let mut undone: HashMap<usize, Undone> = HashMap::new();
        let mut stays: HashSet<usize> = (steps.iter())
            .filter_map(|step| match step {
                Step::Keep(old) | Step::Edit(old, _) => Some(*old),
                Step::Replace(_) | Step::Add | Step::Pass => None,
            })
            .collect();
        let going: Vec<usize> = (state.order.iter().rev().copied())
            .filter(|number| !stays.contains(number))
            .collect();
        for number in going {
            undone.insert(number, self.cancel(&state.members[number]));
        }

        let mut members: Vec<Option<Member>> = Vec::new();
        members.resize_with(file.tasks.len(), || None);
        let mut replaced = 0;
        let tasks: Vec<Arc<Task>> = file.tasks.into_iter().map(Arc::new).collect();
        let order = file.order;
        for index in order.iter().copied() {
            let task = &tasks[index];
            members[index] = match &steps[index] {
                Step::Keep(old) => {
                    changes.kept += 1;
                    Some(state.members[*old].clone())
                }
                Step::Edit(old, difference) => {
                    changes.changed += 1;
                    Some(self.edit(&state.members[*old], task, *difference, &mut changes))
                }
                Step::Replace(old) => {
                    changes.changed += 1;
                    replaced += 1;
                    match undone.get(old) {
                        Some(undone) if undone.has_had_its_run(task) => {
                            stays.insert(*old);
                            Some(state.members[*old].clone())
                        }
                        undone => self.add(task, undone, &mut changes),
                    }
                }
                Step::Add => {
                    changes.added += 1;
                    self.add(task, None, &mut changes)
                }
                Step::Pass => None,
            };
        }
        let old_members = std::mem::take(&mut state.members);
        for (number, mut member) in old_members.into_iter().enumerate() {
            if !stays.contains(&number) {
                member.place = Place::Gone;
                state.gone.push(member);
            }
        }
        changes.removed = undone.len() - replaced;
        // By the numbers of those that are there.
        let mut places = vec![None; members.len()];
        for (index, member) in members.into_iter().enumerate() {
            if let Some(member) = member {
                places[index] = Some(state.members.len());
                state.members.push(member);
            }
        }
        state.order = order
            .into_iter()
            .filter_map(|index| places[index])
            .collect();
        changes
    }

    /// The old definition gives way to a new one in place.
    fn edit(
        &self,
        member: &Member,
        task: &Arc<Task>,
        difference: Difference,
        changes: &mut Changes,
    ) -> Member {
        member.handler.change(Arc::clone(task));
        if difference == Difference::Calendar
            && let Err(error) = self.scheduler.reschedule(&task.id, task.schedule.asked())
        {
            // It has just ended; its times are of no more use.
            let note = format!("{}: its times stay as they were: {error}", task.id);
            changes.notes.push(note);
        }
        member.clone()
    }

    fn cancel(&self, member: &Member) -> Undone {
        let before = member.info();
        let at = (Instant::now(), SystemTime::now());
        let outcome = member.handle.cancel();
        let after = member.info();
        let record = &self.setting.record;
        if outcome == CancelOutcome::Cancelled && before.state == TaskState::Retrying {
            record.ended(member.number(), cut_before(before.attempt));
        }
        let begun = after.runs - before.runs;
        let due = due_by_now(&before).saturating_sub(begun);
        let task = member.task();
        let recurs = task.schedule.recurs();
        Undone {
            due: if recurs { due } else { 0 },
            next_in: match before.state {
                TaskState::Queued if !recurs => Some(Duration::ZERO),
                _ => before.next_in,
            },
            has_begun: begun > 0,
            at,
            task,
        }
    }

    /// Hands a task over; of one that takes the place of another, what that had not done.
    fn add(
        &self,
        task: &Arc<Task>,
        undone: Option<&Undone>,
        changes: &mut Changes,
    ) -> Option<Member> {
        let number = self.setting.record.grow();
        let handler = Handler::new(number, Arc::clone(task), self.setting.clone());
        let mut schedule = task.schedule.asked();
        let mut due = 0;
        if let Some(undone) = undone {
            due = undone.due;
            // Its grid goes on, and its delay.
            if undone.task.schedule == task.schedule
                && let Some(rest) = undone.next_in
            {
                let (instant, wall) = undone.at;
                schedule = task.schedule.going_on((rest, wall), instant.elapsed());
                handler.begin_with(
                    task.schedule
                        .floor_in(rest.saturating_sub(instant.elapsed())),
                );
            }
            if due > 0 {
                handler.begin_with(Floor::Wall(SystemTime::UNIX_EPOCH));
            }
        }
        let asked = schedule.clone();
        match asked::hand_over(&self.scheduler, &Arc::new(handler), schedule) {
            Ok(member) => {
                if let Some(undone) = undone {
                    due += missed_between(undone, &asked, &member);
                }
                for _ in 0..due {
                    let _ = self.scheduler.trigger(&task.id);
                }
                Some(member)
            }
            Err(error) => {
                let note = format!("error: {} cannot be added: {error}", task.id);
                changes.notes.push(note);
                None
            }
        }
    }
}

/// What is left of a task that was cancelled.
struct Undone {
    task: Arc<Task>,
    /// Occurrences that were due and had not begun.
    due: u64,
    next_in: Option<Duration>,
    /// A run has begun while it was cancelled.
    has_begun: bool,
    /// When it was cancelled, by both clocks: from then on the new task counts.
    at: (Instant, SystemTime),
}

impl Undone {
    /// Whether it was to run once, and does.
    fn has_had_its_run(&self, new: &Task) -> bool {
        self.has_begun && !new.schedule.recurs() && self.task.schedule == new.schedule
    }
}

fn due_by_now(info: &TaskInfo) -> u64 {
    let is_due = info.state == TaskState::Queued || info.next_in == Some(Duration::ZERO);
    let is_again = info.attempt > 1;
    u64::from(is_due && !is_again) + info.backlog as u64
}

/// Occurrences that came after the old task was cancelled and before the new one was armed.
fn missed_between(undone: &Undone, asked: &Schedule, new: &Member) -> u64 {
    let (task, info, now) = (new.task(), new.info(), SystemTime::now());
    // What is due later than it is for is due of the new one, if it is.
    if !task.schedule.recurs() || task.jitter.is_some() {
        return 0;
    }
    let Ok(occurrences) = asked.occurrences(undone.at.1) else {
        return 0;
    };
    let armed = info.next_due.unwrap_or(now);
    let passed = occurrences.take_while(|at| *at <= now && *at < armed);
    // Those of them that the new one has seen itself.
    let seen = info.runs + due_by_now(&info);
    (passed.take(1_000).count() as u64).saturating_sub(seen)
}

/// What a task of the new file means for those of the old one, which are named by their number.
#[derive(Debug, Clone, Copy)]
enum Step {
    Keep(usize),
    Edit(usize, Difference),
    Replace(usize),
    Add,
    /// Due at the start only, and that has been.
    Pass,
}

fn steps(
    file: &TaskFile,
    members: &[Member],
    old: &[Arc<Task>],
    numbers: &HashMap<&str, usize>,
) -> Vec<Step> {
    let mut steps = vec![Step::Pass; file.tasks.len()];
    let mut replaced: HashSet<&str> = HashSet::new();
    for index in &file.order {
        let task = &file.tasks[*index];
        let step = match numbers.get(task.id.as_str()) {
            None if task.schedule.kind == Kind::Start => Step::Pass,
            None => Step::Add,
            Some(number) => {
                let difference = old[*number].difference(task);
                let info = members[*number].info();
                let has_begun = !task.schedule.recurs() && info.runs > 0;
                let has_ended = info.state.has_ended() || has_begun;
                let is_behind = task
                    .upstream
                    .iter()
                    .any(|up| replaced.contains(up.id.as_str()));
                match difference {
                    Difference::Due if task.schedule.kind == Kind::Start => Step::Pass,
                    Difference::Due => Step::Replace(*number),
                    // It was left out, as what it waited for had ended otherwise.
                    _ if is_behind && info.runs == 0 => Step::Replace(*number),
                    // It has had its runs, or has the only one.
                    Difference::Nothing if has_ended => Step::Keep(*number),
                    _ if has_ended => Step::Edit(*number, Difference::Program),
                    Difference::Terms => Step::Replace(*number),
                    _ if is_behind => Step::Replace(*number),
                    Difference::Nothing => Step::Keep(*number),
                    Difference::Program | Difference::Calendar => Step::Edit(*number, difference),
                }
            }
        };
        if matches!(step, Step::Replace(_)) {
            replaced.insert(&task.id);
        }
        steps[*index] = step;
    }
    steps
}

/// The faults, without the words for a file that is read for the first time.
fn told(error: &SourceError) -> String {
    let text = error.to_string();
    text.strip_suffix(NOTHING_WAS_RUN)
        .unwrap_or(&text)
        .to_owned()
}
