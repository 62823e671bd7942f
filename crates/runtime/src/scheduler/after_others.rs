//! What a task is told about others that come before it: the part of its builder that is about
//! that, and how those are found.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use wheel_sync::RandomState;

use super::Core;
#[cfg(doc)]
use super::Scheduler;
use super::submit::TaskBuilder;
use super::submit_error::SubmitError;
use crate::policy::{OnConflict, When};
use crate::task::{Condition, Task};

impl<'s> TaskBuilder<'s> {
    /// The task waits until the task `id` has ended so. May be called several times: then all must
    /// hold. `id` names a live task, or one in the [history](Scheduler::history), which has its
    /// answer ready; so it makes no difference whether the other one is quicker than this call.
    ///
    /// Without a schedule the task runs as soon as all hold; with `after` the delay counts from then;
    /// with `at` it runs when both have come. A task that recurs cannot depend on others: a
    /// [graph](Scheduler::graph) can recur as a whole. Of another task that recurs, the next run
    /// that is over after this call counts. The id of a graph is that of the task that starts its runs,
    /// not of the nodes: what is to come after all of them is a node itself, the last one.
    ///
    /// While it waits the task is [`Scheduled`](crate::TaskState::Scheduled), is due at no instant,
    /// and [`waits_for`](crate::TaskInfo::waits_for) says for whom. It may be cancelled, paused and
    /// given another schedule that runs once; a trigger runs it at once, whatever the others do.
    /// When a condition [cannot hold](When) any more the task ends as
    /// [`Skipped`](crate::TaskState::Skipped), with
    /// [`SkipReason::Upstream`](crate::SkipReason::Upstream), and so do those that wait for it to
    /// succeed.
    ///
    /// # Examples
    ///
    /// ```
    /// use wheel_runtime::{Scheduler, TaskState, When};
    /// use std::time::Duration;
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// scheduler.task("import").after(Duration::from_millis(10)).run(|_| println!("importing"))?;
    /// let report = scheduler.task("report").depends_on("import", When::Succeeded);
    /// let report = report.run(|_| println!("all is there"))?;
    /// let alarm = scheduler.task("alarm").depends_on("import", When::Failed);
    /// let alarm = alarm.run(|_| println!("nothing came"))?;
    /// assert_eq!(report.wait(), TaskState::Succeeded);
    /// assert_eq!(alarm.wait(), TaskState::Skipped);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn depends_on(mut self, id: impl Into<String>, wanted: When) -> TaskBuilder<'s> {
        self.depends_on.push((id.into(), wanted));
        self
    }
}

impl Core {
    /// The tasks that `asked` names, for a new task called `name`.
    pub(super) fn parents(
        &self,
        name: Option<&str>,
        asked: &[(String, When)],
        on_conflict: OnConflict,
    ) -> Result<Vec<Arc<Task>>, SubmitError> {
        if asked.is_empty() && on_conflict != OnConflict::Replace {
            return Ok(Vec::new());
        }
        let find = |(id, _): &(String, When)| {
            let found = self.live_or_ended(id);
            found.ok_or_else(|| SubmitError::UnknownDependency(id.clone()))
        };
        let parents: Vec<Arc<Task>> = asked.iter().map(find).collect::<Result<_, _>>()?;
        let replaced = name
            .filter(|_| on_conflict == OnConflict::Replace)
            .and_then(|name| self.registry.get(name));
        match replaced.and_then(|replaced| way_from(&replaced, &parents)) {
            Some(cycle) => Err(SubmitError::DependencyCycle(cycle)),
            None => Ok(parents),
        }
    }

    /// A task goes from the live ones by way of those that are leaving to those that have ended, so
    /// looking there in this order finds it.
    fn live_or_ended(&self, id: &str) -> Option<Arc<Task>> {
        if let Some(live) = self.registry.get(id) {
            return Some(live);
        }
        let leaving: Vec<Arc<Task>> = self.leaving.lock().values().cloned().collect();
        let mut found = leaving;
        found.retain(|task| task.name() == id);
        found.extend(self.ended_task(id));
        found.into_iter().max_by_key(|task| task.id.serial)
    }
}

/// Refuses a task that would come after itself.
pub(super) fn not_itself(name: Option<&str>, asked: &[(String, When)]) -> Result<(), SubmitError> {
    match asked.iter().find(|(id, _)| Some(id.as_str()) == name) {
        Some((id, _)) => Err(SubmitError::DependencyCycle(vec![id.clone(), id.clone()])),
        None => Ok(()),
    }
}

pub(super) fn conditions(asked: Vec<(String, When)>, parents: &[Arc<Task>]) -> Vec<Condition> {
    let both = asked.into_iter().zip(parents);
    let condition = |((id, wanted), parent): ((String, When), &Arc<Task>)| Condition {
        parent: Arc::downgrade(parent),
        id: id.into(),
        wanted,
    };
    both.map(condition).collect()
}

/// The ids on the way from `first` down to one of `last`, and `first` again: the circle that its
/// successor would close. `None` if none of them waits for it.
fn way_from(first: &Arc<Task>, last: &[Arc<Task>]) -> Option<Vec<String>> {
    let mut seen: HashSet<u64, RandomState> = HashSet::default();
    // Each with the place of the one that waits for it.
    let mut met: Vec<(Arc<Task>, Option<usize>)> = Vec::new();
    let mut add = |met: &mut Vec<_>, tasks: Vec<Arc<Task>>, below| {
        let new = tasks.into_iter().filter(|task| seen.insert(task.id.serial));
        met.extend(new.map(|task| (task, below)));
    };
    add(&mut met, last.to_vec(), None);
    let mut next = 0;
    while next < met.len() {
        let task = Arc::clone(&met[next].0);
        if Arc::ptr_eq(&task, first) {
            let below = |place: &usize| met[*place].1;
            let way = std::iter::successors(Some(next), below);
            let ids = way.map(|place| met[place].0.name().to_owned());
            return Some(ids.chain([first.name().to_owned()]).collect());
        }
        add(&mut met, task.upstream(), Some(next));
        next += 1;
    }
    None
}

/// Names a circle, `a -> b -> a`: each comes after the one before. Of a long one, its ends.
pub(super) fn write_cycle(f: &mut fmt::Formatter<'_>, ids: &[String]) -> fmt::Result {
    const SHOWN: usize = 6;
    let arrow = |n| if n == 0 { "" } else { " -> " };
    if ids.len() <= 2 * SHOWN {
        return (ids.iter().enumerate()).try_for_each(|(n, id)| write!(f, "{}{id}", arrow(n)));
    }
    let (head, tail) = (&ids[..SHOWN], &ids[ids.len() - SHOWN..]);
    for (n, id) in head.iter().enumerate() {
        write!(f, "{}{id}", arrow(n))?;
    }
    write!(f, " -> ({} more)", ids.len() - 2 * SHOWN)?;
    tail.iter().try_for_each(|id| write!(f, " -> {id}"))
}
