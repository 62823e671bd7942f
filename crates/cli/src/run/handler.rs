//! What the handler of a task does: run its program once, from the start to the end, on the worker
//! that it was given.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use wheel_runtime::{Context, Failure, Outcome as Verdict, Overlap, StopReason};
use wheel_sync::{Arc, Mutex};

use super::account::{self, Account};
use super::roster::Roster;
use super::time::Time;
use crate::child::{Children, Stops, Told};
use crate::file::{Floor, Inherits, Task};
use crate::output::{Lines, Printer};
use crate::record::{Outcome, Punctuality, Record};
use crate::service;

/// Where the output of programs without a file of their own goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// To the output of `wheel`, with the id in front.
    Lines,
    /// Nowhere.
    Nothing,
}

/// What all handlers of a run share.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) roster: Roster,
    pub(crate) children: Children,
    pub(crate) printer: Printer,
    pub(crate) record: Record,
    pub(crate) show: Show,
}

/// How a run ends that waited for this attempt when the end of `wheel` came.
pub(crate) fn cut_before(attempt: u32) -> Outcome {
    Outcome::Cut(format!("cut before attempt {attempt}"))
}

/// One task, ready to be run as often as it is due.
#[derive(Debug)]
pub(crate) struct Handler {
    /// Of its record.
    number: usize,
    /// As the file has it now: a run that has begun has the one of its beginning.
    task: Mutex<Arc<Task>>,
    setting: Setting,
    /// A moment before the task was handed to the scheduler.
    made: Instant,
    /// Before what no run may start.
    floor: Mutex<Floor>,
    account: Account,
    /// Held while the program runs, where the next run may come before that is gone: its deadline
    /// is over for the scheduler, and the program has the grace.
    alone: Option<Mutex<()>>,
}

impl Handler {
    /// To be made right before the task is handed to the scheduler.
    pub(crate) fn new(number: usize, task: Arc<Task>, setting: Setting) -> Handler {
        let is_let_go = task.deadline.is_some();
        let may_be_beside = matches!(task.overlap, Some(Overlap::Allow { .. }));
        let alone = (is_let_go && !may_be_beside).then(Mutex::default);
        let floor = task.schedule.floor();
        Handler {
            number,
            account: Account::new(number, setting.record.clone()),
            task: Mutex::new(task),
            setting,
            made: Instant::now(),
            floor: Mutex::new(floor),
            alone,
        }
    }

    /// The number of its record.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The task as the file has it now.
    pub(crate) fn task(&self) -> Arc<Task> {
        Arc::clone(&self.task.lock())
    }

    /// Runs that begin from now on are of this task.
    pub(crate) fn change(&self, task: Arc<Task>) {
        *self.task.lock() = task;
    }

    /// Says anew before what no run may start.
    pub(crate) fn begin_with(&self, floor: Floor) {
        *self.floor.lock() = floor;
    }

    /// Runs the program and waits for its end. Does nothing when the end of `wheel` has begun.
    pub(crate) fn run(&self, context: &Context) -> Verdict {
        let Setting {
            children,
            printer,
            record,
            ..
        } = &self.setting;
        let (task, number) = (self.task(), context.attempt());
        let attempt = (context.run(), number);
        let _alone = self.alone.as_ref().map(Mutex::lock);
        let punctuality = self.punctuality(context);
        match task.overlap {
            Some(Overlap::CancelRunning) => self.account.begun_instead(attempt),
            _ => self.account.begun(attempt),
        }
        let limits = Time::of(&task, context);
        if limits.is_over() {
            record.not_started(self.number, number);
            self.account.failed(attempt);
            return Verdict::Failure(limits.why);
        }
        let started = self
            .command(&task)
            .and_then(|mut command| children.start(&mut command));
        let late = context.since_due();
        let running = match started {
            Ok(Some(running)) => running,
            Ok(None) => {
                if number > 1 {
                    self.account.ended(attempt, cut_before(number));
                }
                return Verdict::Success;
            }
            Err(error) => {
                record.not_started(self.number, number);
                self.account.failed(attempt);
                return Verdict::Failure(why_not_started(&task, &error));
            }
        };
        // What was due before there was a scheduler is late since then.
        let late = late.min(self.made.elapsed());
        record.started(self.number, number, punctuality, late);
        let is_called_off = || context.stop_reason() == Some(StopReason::GaveWay);
        let stops = Stops {
            until: limits.until,
            is_called_off: match task.overlap {
                Some(Overlap::CancelRunning) => Some(&is_called_off),
                _ => None,
            },
        };
        let ended = running.follow(&mut Lines::new(&task.id, printer), stops);
        if matches!(&ended, Ok(ended) if ended.told == Some(Told::TimeOver)) {
            record.timed_out(self.number);
        }
        match limits.outcome(ended) {
            Outcome::Succeeded => {
                self.account.ended(attempt, Outcome::Succeeded);
                Verdict::Success
            }
            Outcome::Failed(reason) => {
                self.account.failed(attempt);
                Verdict::Failure(reason)
            }
            Outcome::Cut(reason) => {
                self.account.ended(attempt, Outcome::Cut(reason.clone()));
                Verdict::Permanent(reason)
            }
        }
    }

    /// What the scheduler tells of an attempt that has failed.
    pub(crate) fn failed(&self, failure: &Failure) {
        let Failure { error, attempt, .. } = failure;
        let told = match (self.account.told(failure), self.task().retry) {
            (account::Told::Nothing, _) => return,
            (account::Told::Again, Some(retry)) => {
                format!("{error}, attempt {attempt} of {}", retry.attempts)
            }
            _ => error.clone(),
        };
        if self.setting.show == Show::Lines {
            let (id, printer) = (&self.task().id, &self.setting.printer);
            printer.say(&format!("{id} failed: {told}"));
        }
    }

    /// Compares the clock with what the file asks for, and not with what the scheduler says.
    fn punctuality(&self, context: &Context) -> Punctuality {
        let is_early = match &*self.floor.lock() {
            Floor::Wall(instant) => SystemTime::now() < *instant,
            Floor::Nominal => SystemTime::now() < context.nominal(),
            Floor::Grid { first, period } => {
                let behind = u32::try_from(context.run() - 1).unwrap_or(u32::MAX);
                let behind = period.unwrap_or_default().saturating_mul(behind);
                first.elapsed() < behind || Instant::now() < *first
            }
        };
        if is_early {
            Punctuality::Early
        } else {
            Punctuality::Due
        }
    }

    fn command(&self, task: &Task) -> io::Result<Command> {
        let mut command = Command::new(&task.program.path);
        command
            .arg0(&task.program.args[0])
            .args(&task.program.args[1..])
            .stdin(input(task.input.as_deref())?);
        match task.inherits {
            Inherits::Nothing => in_session_of_its_own(command.env_clear()),
            Inherits::All => command.process_group(0),
        };
        for name in service::VARIABLES {
            command.env_remove(name);
        }
        command.envs(task.env.iter().map(|(name, value)| (name, value)));
        if let Some(dir) = &task.dir {
            command.current_dir(dir);
        }
        match (&task.output, self.setting.show) {
            (Some(path), _) => {
                // Both streams append to the same place: nothing is overwritten, whatever the
                // order.
                let file = File::options()
                    .create(true)
                    .append(true)
                    .open(path)
                    .map_err(|error| {
                        io::Error::new(error.kind(), format!("output {}: {error}", path.display()))
                    })?;
                command.stdout(file.try_clone()?).stderr(file);
            }
            (None, Show::Lines) => {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            (None, Show::Nothing) => {
                command.stdout(Stdio::null()).stderr(Stdio::null());
            }
        }
        Ok(command)
    }
}

/// What a program finds on standard input. It is short enough for a pipe to take it at once.
fn input(bytes: Option<&[u8]>) -> io::Result<Stdio> {
    let Some(bytes) = bytes else {
        return Ok(Stdio::null());
    };
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(bytes)?;
    Ok(reader.into())
}

/// The system says "not found" of a program and of a folder alike.
fn why_not_started(task: &Task, error: &io::Error) -> String {
    let missing = |dir: &&PathBuf| error.kind() == io::ErrorKind::NotFound && !dir.is_dir();
    match task.dir.as_ref().filter(missing) {
        Some(dir) => format!("cannot start: there is no folder {}", dir.display()),
        None => format!("cannot start: {error}"),
    }
}

/// As cron does it: without the terminal of `wheel`, into which another user's program could type. The
/// leader of a session leads its process group as well.
fn in_session_of_its_own(command: &mut Command) -> &mut Command {
    let begin = || Ok(rustix::process::setsid().map(drop)?);
    // SAFETY: between fork and exec this is one call of the system, without memory and locks. [U33]
    unsafe { command.pre_exec(begin) }
}
