//! Runs that were given up, with what it takes to try them again.
//!
//! ```text
//!  conclude.rs (worker): a run is dead --> push --> oldest ... newest --> list, purge
//!                                            |           \-- replay --> a run waits for a worker
//!                                            \-- beyond the bound: the oldest goes, and is counted
//! ```
//!
//! Ground rules: one lock, held for some instructions. It may be taken under the lock of a task,
//! never the other way round, and nothing of the user's is dropped under it. A letter holds the code
//! of its task, so it may hold a clone of the scheduler: that ring is cut when the letter goes, at
//! the latest when the scheduler shuts down.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use wheel_sync::{Mutex, MutexGuard};

use super::registry::NotAdded;
use super::{Core, Scheduler};
use crate::policy::{GaveUp, OnConflict};
use crate::schedule::Schedule;
use crate::task::{Code, NotReplayed, Settings, Task, TaskHandle};

/// How many earlier deaths a letter shows.
const EARLIER_MAX: usize = 15;

/// Names a dead letter of a scheduler, for ever. A run that is replayed and dies again has the same
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeadLetterId(u64);

/// A run that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Names this letter.
    pub id: DeadLetterId,
    /// The id of the task.
    pub task: String,
    /// What the task is [labelled](crate::TaskBuilder::label) with.
    pub labels: BTreeMap<String, String>,
    /// Which run of the task it was, from 1.
    pub run: u64,
    /// The instant that the schedule named for the run; it stays so when it is replayed.
    pub nominal: SystemTime,
    /// How it was given up.
    pub last: Death,
    /// How it was given up before it was replayed, the earliest first; the latest 15 of them.
    pub earlier: Vec<Death>,
    /// How often it was replayed.
    pub replays: u64,
}

/// How a run was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Death {
    /// What the last attempt said as it failed.
    pub error: String,
    /// Why there was no further one.
    pub gave_up: GaveUp,
    /// How many there were.
    pub attempts: u32,
    /// When the first one started.
    pub first_start: SystemTime,
    /// When the last one ended.
    pub at: SystemTime,
}

/// Why a dead letter was not replayed. It stays where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplayError {
    /// There is no such letter: it was replayed, purged, or had to make room. Trying again does not
    /// help.
    NotFound,
    /// A run of the task is waiting or going. Trying again helps once that one is over.
    Busy,
    /// Another live task has the id by now. Trying again helps once that one has ended.
    DuplicateId(String),
    /// There are as many live tasks as the scheduler may have. Trying again helps once some have
    /// ended.
    Full,
    /// The scheduler is shutting down, or has been shut down. Trying again does not help.
    ShuttingDown,
}

/// The dead letters of a scheduler: [`Scheduler::dead_letters`](crate::Scheduler::dead_letters).
#[derive(Clone, Copy)]
pub struct DeadLetters<'s> {
    core: &'s Arc<Core>,
}

/// A letter, and what it takes to replay it.
#[derive(Debug)]
pub(crate) struct Letter {
    pub(crate) shown: Box<DeadLetter>,
    /// Gone once the scheduler is shut down.
    pub(crate) replay: Option<Replay>,
}

/// The task of a letter, which may have ended meanwhile.
pub(crate) struct Replay {
    pub(crate) serial: u64,
    pub(crate) settings: Settings,
    pub(crate) code: Code,
}

impl Replay {
    /// Drops it; a panic of the user's `Drop` ends here.
    pub(crate) fn discard(self) {
        self.code.discard();
    }
}

fn discard_each(replays: impl IntoIterator<Item = Replay>) {
    replays.into_iter().for_each(Replay::discard);
}

/// Whoever holds it adds to the letters.
pub(crate) struct DeadDoor<'q> {
    letters: MutexGuard<'q, Letters>,
    letters_max: usize,
}

impl DeadDoor<'_> {
    pub(crate) fn new_id(&mut self) -> DeadLetterId {
        self.letters.ids += 1;
        DeadLetterId(self.letters.ids)
    }

    /// Adds a letter. The user's code that had to go comes back, to be dropped without a lock.
    #[must_use = "drop it without a lock"]
    pub(crate) fn push(self, letter: Letter) -> Vec<Replay> {
        self.insert(usize::MAX, letter)
    }

    fn insert(mut self, place: usize, letter: Letter) -> Vec<Replay> {
        let letters = &mut *self.letters;
        let place = place.min(letters.queue.len());
        letters.queue.insert(place, letter);
        let mut gone = Vec::new();
        if letters.queue.len() > self.letters_max {
            letters.dropped += 1;
            let evicted = letters.queue.pop_front();
            gone.extend(evicted.and_then(|letter| letter.replay));
        }
        if letters.is_closed {
            gone.extend(letters.take_code());
        }
        gone
    }
}

/// Where the letters are.
pub(crate) struct DeadQueue {
    letters: Mutex<Letters>,
    letters_max: usize,
}

#[derive(Default)]
struct Letters {
    /// The oldest first.
    queue: VecDeque<Letter>,
    ids: u64,
    dropped: u64,
    is_closed: bool,
}

impl Letters {
    /// What it takes to replay them: the user's code.
    fn take_code(&mut self) -> impl Iterator<Item = Replay> {
        let queue = self.queue.iter_mut();
        queue.filter_map(|letter| letter.replay.take())
    }
}

impl Scheduler {
    /// The runs that their [`Retry`](crate::Retry) policies have given up: to look at, to replay,
    /// to purge. A letter keeps the handler of its task, and whatever that holds, until it is
    /// replayed, purged, or has to make [room](crate::SchedulerBuilder::dead_letters).
    pub fn dead_letters(&self) -> DeadLetters<'_> {
        DeadLetters::of(&self.core)
    }
}

impl DeadQueue {
    pub(super) fn new(letters_max: usize) -> DeadQueue {
        DeadQueue {
            letters: Mutex::default(),
            letters_max,
        }
    }

    /// To add to.
    pub(crate) fn enter(&self) -> DeadDoor<'_> {
        let (letters, letters_max) = (self.letters.lock(), self.letters_max);
        DeadDoor {
            letters,
            letters_max,
        }
    }

    /// As `enter`, unless somebody is there: for the driver.
    pub(crate) fn try_enter(&self) -> Option<DeadDoor<'_>> {
        let (letters, letters_max) = (self.letters.try_lock()?, self.letters_max);
        Some(DeadDoor {
            letters,
            letters_max,
        })
    }

    /// Adds a letter in front of number `place`, or behind all.
    #[must_use = "drop it without a lock"]
    fn insert(&self, place: usize, letter: Letter) -> Vec<Replay> {
        self.enter().insert(place, letter)
    }

    fn take(&self, id: DeadLetterId) -> Option<(usize, Letter)> {
        let mut letters = self.letters.lock();
        let place = letters
            .queue
            .iter()
            .position(|letter| letter.shown.id == id)?;
        let letter = letters.queue.remove(place)?;
        Some((place, letter))
    }

    fn list(&self) -> Vec<DeadLetter> {
        let letters = self.letters.lock();
        letters
            .queue
            .iter()
            .map(|letter| (*letter.shown).clone())
            .collect()
    }

    fn take_all(&self) -> VecDeque<Letter> {
        std::mem::take(&mut self.letters.lock().queue)
    }

    /// Nothing can be replayed any more. What that took comes back, to be dropped without a lock.
    #[must_use = "drop it without a lock"]
    pub(super) fn close(&self) -> Vec<Replay> {
        let mut letters = self.letters.lock();
        letters.is_closed = true;
        letters.take_code().collect()
    }

    /// How many there are, and how many had to make room.
    pub(super) fn counts(&self) -> (usize, u64) {
        let letters = self.letters.lock();
        (letters.queue.len(), letters.dropped)
    }
}

impl<'s> DeadLetters<'s> {
    pub(super) fn of(core: &'s Arc<Core>) -> DeadLetters<'s> {
        DeadLetters { core }
    }

    /// All of them, the oldest first. Also after the scheduler was shut down.
    pub fn list(&self) -> Vec<DeadLetter> {
        self.core.dead.list()
    }

    /// Runs it again, at once, with as many attempts as it had at first. The letter is taken out of
    /// the queue; if the run dies again it comes back, as the newest, with the same id.
    ///
    /// If the task is live because it recurs, this is a run beside its schedule, which counts for
    /// the overlap policy like any other. Else it is a new task with the same id, handler and
    /// policies, that runs once. The nominal instant, and with it the
    /// [idempotency key](crate::Context::idempotency_key), stay what they were. Does not wait for
    /// the run. A replay that is cancelled, or that a shutdown keeps from its end, is not kept.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] says whether trying again helps. The letter stays where it was.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{Retry, Scheduler, TaskState};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let retry = Retry::fixed(Duration::from_millis(1)).max_attempts(3);
    /// let print = scheduler.task("print").after(Duration::ZERO).retry(retry);
    /// let print = print.run(|run| match run.last_error() {
    ///     Some("no paper") if run.attempt() == 1 => Ok(()), // Somebody has brought some.
    ///     _ => Err("no paper"),
    /// })?;
    /// assert_eq!(print.wait(), TaskState::Dead);
    ///
    /// let letter = &scheduler.dead_letters().list()[0];
    /// assert_eq!((letter.task.as_str(), letter.last.attempts), ("print", 3));
    /// let again = scheduler.dead_letters().replay(letter.id)?;
    /// assert_eq!(again.wait(), TaskState::Succeeded);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replay(&self, id: DeadLetterId) -> Result<TaskHandle, ReplayError> {
        let core = self.core;
        let (place, letter) = core.dead.take(id).ok_or(ReplayError::NotFound)?;
        let Letter { shown, replay } = letter;
        let Some(replay) = replay else {
            let shown = Letter { shown, replay };
            discard_each(core.dead.insert(place, shown));
            return Err(ReplayError::ShuttingDown);
        };
        match core.replay(shown, &replay) {
            Ok(handle) => {
                replay.discard();
                Ok(handle)
            }
            Err((shown, error)) => {
                let replay = Some(replay);
                discard_each(core.dead.insert(place, Letter { shown, replay }));
                Err(error)
            }
        }
    }

    /// Drops all of them, and returns how many there were.
    pub fn purge(&self) -> usize {
        let letters = self.core.dead.take_all();
        let count = letters.len();
        discard_each(letters.into_iter().filter_map(|letter| letter.replay));
        count
    }
}

impl Core {
    /// A run of the task of a letter waits for a worker; or the letter comes back.
    fn replay(
        self: &Arc<Core>,
        mut shown: Box<DeadLetter>,
        replay: &Replay,
    ) -> Result<TaskHandle, (Box<DeadLetter>, ReplayError)> {
        if self.closing.has_begun() {
            return Err((shown, ReplayError::ShuttingDown));
        }
        if let Some(live) = self.registry.get(&shown.task) {
            if live.id.serial != replay.serial {
                let id = shown.task.clone();
                return Err((shown, ReplayError::DuplicateId(id)));
            }
            match live.replay(shown) {
                Ok(()) => return Ok(TaskHandle::new(live)),
                Err(NotReplayed::Busy(shown)) => return Err((shown, ReplayError::Busy)),
                // Between its end and now.
                Err(NotReplayed::Ended(letter)) => shown = letter,
            }
        }
        let clock = self.engine.clock();
        let at_once = Schedule::after(Duration::ZERO);
        let plan = at_once.plan_single(clock.now(), clock.wall());
        let id = self.registry.id_again(self.serial(), &shown.task);
        let (settings, code) = (replay.settings.clone(), replay.code.clone());
        let task = Task::new(Arc::clone(self), id, settings, plan, code);
        let add = || self.registry.add(&task, OnConflict::Refuse).map(|_| ());
        match task.begin_with_replay(shown, add) {
            Ok(()) => Ok(TaskHandle::new(task)),
            Err((shown, error)) => {
                let error = match error {
                    None => ReplayError::ShuttingDown,
                    Some(NotAdded::Full) => ReplayError::Full,
                    Some(NotAdded::Duplicate | NotAdded::Kept(_)) => {
                        ReplayError::DuplicateId(shown.task.clone())
                    }
                };
                Err((shown, error))
            }
        }
    }
}

impl DeadLetter {
    /// It was replayed, and given up again.
    pub(crate) fn dead_again(mut self, death: Death) -> DeadLetter {
        self.replays += 1;
        self.earlier.push(std::mem::replace(&mut self.last, death));
        if self.earlier.len() > EARLIER_MAX {
            self.earlier.remove(0);
        }
        self
    }
}

impl ReplayError {
    /// Whether the same call may succeed later.
    pub fn may_succeed_later(&self) -> bool {
        match self {
            ReplayError::Busy | ReplayError::DuplicateId(_) | ReplayError::Full => true,
            ReplayError::NotFound | ReplayError::ShuttingDown => false,
        }
    }
}

impl fmt::Display for DeadLetterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NotFound => f.write_str("there is no such dead letter"),
            ReplayError::Busy => f.write_str("a run of the task is waiting or going"),
            ReplayError::DuplicateId(id) => write!(f, "another live task has the id {id:?} by now"),
            ReplayError::Full => f.write_str(
                "max_tasks: there are as many live tasks as it allows: some must end first",
            ),
            ReplayError::ShuttingDown => f.write_str("the scheduler is shutting down"),
        }
    }
}

impl std::error::Error for ReplayError {}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("serial", &self.serial)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DeadLetters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, dropped) = self.core.dead.counts();
        f.debug_struct("DeadLetters")
            .field("len", &len)
            .field("dropped", &dropped)
            .finish()
    }
}
