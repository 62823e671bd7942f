//! Which kinds there are, by name, and which definitions wait for theirs.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use wheel_sync::{Mutex, RandomState};

use super::counted::{Counted, KindInfo};
use super::kind::{Kind, KindCode, RegisterError};
use super::unresolved::{Keeping, UnresolvedTask, Waiting};
use crate::Scheduler;
use crate::panics::discard;
use crate::policy::OnConflict;
use crate::scheduler::SubmitError;
use crate::task::{Context, IntoOutcome};

/// A kind that is registered.
#[derive(Clone)]
pub(super) struct Registered {
    pub(super) counted: Arc<Counted>,
    /// Gone once the scheduler is shut down.
    pub(super) code: Option<Arc<KindCode>>,
}

pub(crate) struct Kinds {
    known: Mutex<Known>,
    waiting_max: usize,
}

#[derive(Default)]
struct Known {
    kinds: BTreeMap<Arc<str>, Registered>,
    unresolved: Unresolved,
    is_closed: bool,
}

/// The definitions that wait.
#[derive(Default)]
struct Unresolved {
    /// In the order in which they came.
    waiting: Vec<Waiting>,
    ids: Ids,
}

/// How many of them have which id: one, unless an id was given again while its kind did not take the
/// first.
type Ids = HashMap<String, usize, RandomState>;

/// User code that is to be dropped without a lock.
#[must_use = "drop it without a lock"]
pub(in crate::scheduler) struct Dropped {
    code: Vec<Arc<KindCode>>,
}

impl Dropped {
    /// Drops it; a panic of the user's `Drop` ends here.
    pub(in crate::scheduler) fn discard(self) {
        discard(self.code);
    }
}

impl Kinds {
    pub(in crate::scheduler) fn new(waiting_max: Option<usize>) -> Kinds {
        Kinds {
            known: Mutex::default(),
            waiting_max: waiting_max.unwrap_or(usize::MAX),
        }
    }

    pub(super) fn get(&self, kind: &str) -> Option<Registered> {
        self.known.lock().kinds.get(kind).cloned()
    }

    /// Adds a kind. The definitions that have waited for it come back.
    fn add(&self, name: &Arc<str>, kind: Registered) -> Result<Vec<Waiting>, RegisterError> {
        let mut known = self.known.lock();
        if known.is_closed {
            return Err(RegisterError::ShuttingDown);
        }
        if known.kinds.contains_key(name) {
            return Err(RegisterError::Duplicate(name.to_string()));
        }
        known.kinds.insert(Arc::clone(name), kind);
        let is_of_kind = |waiting: &Waiting, _: &Ids| waiting.kind() == &**name;
        Ok(known.unresolved.take_if(is_of_kind))
    }

    /// Keeps a definition whose kind is not registered, or that comes after such a one.
    pub(super) fn keep(&self, waiting: Waiting) -> Keeping {
        let mut known = self.known.lock();
        if known.is_closed {
            return Keeping::Refused(SubmitError::ShuttingDown);
        }
        if known.kinds.contains_key(waiting.kind()) && waiting.dependency().is_none() {
            return Keeping::Registered(waiting);
        }
        let unresolved = &mut known.unresolved;
        if unresolved.has(waiting.id()) {
            match waiting.on_conflict() {
                OnConflict::Keep => return Keeping::Kept,
                OnConflict::Replace => drop(unresolved.take_if(|old, _| old.id() == waiting.id())),
                OnConflict::Refuse => {
                    let id = waiting.id().to_owned();
                    return Keeping::Refused(SubmitError::DuplicateId(id));
                }
            }
        }
        if unresolved.waiting.len() >= self.waiting_max {
            return Keeping::Refused(SubmitError::Full);
        }
        unresolved.push(waiting);
        Keeping::Kept
    }

    /// Keeps one that was kept before, come what may.
    pub(super) fn keep_on(&self, waiting: Waiting) {
        self.known.lock().unresolved.push(waiting);
    }

    /// Takes those whose kind is registered, to try them again.
    pub(super) fn take_possible(&self) -> Vec<Waiting> {
        let mut known = self.known.lock();
        let Known {
            kinds, unresolved, ..
        } = &mut *known;
        unresolved.take_if(|waiting, _| kinds.contains_key(waiting.kind()))
    }

    /// Takes those that only wait for a task that is unresolved no more, to try them again.
    pub(super) fn take_dependents(&self) -> Vec<Waiting> {
        let may_be_there = |waiting: &Waiting, ids: &Ids| {
            let dependency = waiting.dependency();
            dependency.is_some_and(|id| !ids.contains_key(id))
        };
        self.known.lock().unresolved.take_if(may_be_there)
    }

    /// Whether one of this id waits for its kind.
    pub(super) fn is_unresolved(&self, id: &str) -> bool {
        self.known.lock().unresolved.has(id)
    }

    /// Takes the one of this id out.
    pub(super) fn forget(&self, id: &str) -> Option<Waiting> {
        self.known.lock().unresolved.take_first(id)
    }

    pub(in crate::scheduler) fn unresolved(&self) -> Vec<UnresolvedTask> {
        let known = self.known.lock();
        known.unresolved.waiting.iter().map(Waiting::info).collect()
    }

    pub(in crate::scheduler) fn unresolved_count(&self) -> usize {
        self.known.lock().unresolved.waiting.len()
    }

    /// Nothing is registered or kept any more. What the handlers hold comes back.
    pub(in crate::scheduler) fn close(&self) -> Dropped {
        let mut known = self.known.lock();
        known.is_closed = true;
        let kinds = known.kinds.values_mut();
        let code = kinds.filter_map(|kind| kind.code.take()).collect();
        Dropped { code }
    }

    fn infos(&self) -> Vec<KindInfo> {
        let kinds: Vec<Registered> = self.known.lock().kinds.values().cloned().collect();
        kinds.iter().map(|kind| kind.counted.info()).collect()
    }
}

impl Unresolved {
    fn has(&self, id: &str) -> bool {
        self.ids.contains_key(id)
    }

    /// Those of which `is_taken` says so, given which ids wait.
    fn take_if(&mut self, is_taken: impl Fn(&Waiting, &Ids) -> bool) -> Vec<Waiting> {
        let (waiting, ids) = (&mut self.waiting, &self.ids);
        let taken = waiting.extract_if(.., |waiting| is_taken(waiting, ids));
        let taken: Vec<Waiting> = taken.collect();
        taken
            .iter()
            .for_each(|waiting| self.forget_id(waiting.id()));
        taken
    }

    /// The first one of this id.
    fn take_first(&mut self, id: &str) -> Option<Waiting> {
        if !self.has(id) {
            return None;
        }
        let mut waiting = self.waiting.iter();
        let place = waiting.position(|waiting| waiting.id() == id)?;
        let waiting = self.waiting.remove(place);
        self.forget_id(id);
        Some(waiting)
    }

    fn push(&mut self, waiting: Waiting) {
        *self.ids.entry(waiting.id().to_owned()).or_default() += 1;
        self.waiting.push(waiting);
    }

    fn forget_id(&mut self, id: &str) {
        let count = self.ids.get_mut(id).expect("the id of one that waits");
        *count -= 1;
        if *count == 0 {
            self.ids.remove(id);
        }
    }
}

impl Scheduler {
    /// Tasks may be of this kind from now on: [`TaskBuilder::kind`](crate::TaskBuilder::kind) and
    /// [`submit`](Scheduler::submit). Definitions that were [unresolved](Scheduler::unresolved)
    /// because it was not registered are submitted, on this thread and before this returns.
    ///
    /// `handler` gets the context of the run and the payload of the task, and may return what any
    /// handler may. It is dropped when the scheduler is shut down and its tasks have ended; one that
    /// holds a clone of the scheduler keeps it alive. With more to say, use
    /// [`register_kind`](Scheduler::register_kind).
    ///
    /// # Errors
    ///
    /// [`RegisterError`]: the name is not possible or is taken. A kind is never replaced, since tasks
    /// of it hold its handler.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Context, Scheduler, TaskState};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// scheduler.register("send_mail", |run: &Context, to: String| {
    ///     println!("{} goes to {to}", run.id());
    /// })?;
    /// let mail = scheduler.task("mail-1001").kind("send_mail", "a@example.org");
    /// let mail = mail.after(Duration::ZERO).submit()?;
    /// assert_eq!(mail.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn register<P, F, O>(
        &self,
        name: impl Into<String>,
        handler: F,
    ) -> Result<(), RegisterError>
    where
        P: DeserializeOwned + 'static,
        F: Fn(&Context, P) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.register_kind(Kind::new(name, handler))
    }

    /// As [`register`](Scheduler::register), for a kind with variants, a breaker or policies.
    ///
    /// # Errors
    ///
    /// [`RegisterError`] says what would be right.
    pub fn register_kind(&self, kind: Kind) -> Result<(), RegisterError> {
        kind.check()?;
        let Kind {
            name,
            breaker,
            code,
        } = kind;
        let clock = self.core.engine.clock().clone();
        let counted = Arc::new(Counted::new(Arc::clone(&name), breaker, clock));
        let code = Some(Arc::new(code));
        let waiting = self.core.kinds.add(&name, Registered { counted, code })?;
        self.resolve_each(waiting);
        Ok(())
    }

    /// The kinds that are registered, by name.
    pub fn kinds(&self) -> Vec<KindInfo> {
        self.core.kinds.infos()
    }
}
