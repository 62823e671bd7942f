//! One entry of a crontab, made into a task.
//!
//! Cron starts a command with an environment of its own, in the home of its user, by the shell of
//! the crontab, also while the last one still runs. The task says so in the words of a task file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use wheel_runtime::Overlap;
use wheel_sync::Arc;

use super::account::{self, Account};
use super::command::Command;
use super::times::{self, Times, is_blank};
use super::{Look, Owner, Reader, name};
use crate::file::{Faults, Finder, Inherits, Program, Schedule, Task};

const SHELL: &str = "/bin/sh";
const PATH: &str = "/usr/bin:/bin";
/// Sets the environment of a command of another user.
const ENV: &str = "/usr/bin/env";
/// What a pipe takes at once on every system.
const INPUT_BYTES_MAX: usize = 4_096;
/// Cron has no limit; this is the highest that the runtime has.
const BESIDE_MAX: u16 = 1_000;

/// What a line says.
pub(super) struct Entry<'l> {
    /// `None`: wrong, and told.
    times: Option<Times>,
    user: Option<&'l str>,
    /// Where the user stands, or would stand.
    user_at: Range<usize>,
    command: &'l str,
    command_at: Range<usize>,
}

impl<'l> Entry<'l> {
    /// Reads a line that begins at `place`, or adds all that is wrong with it.
    pub(super) fn read(
        line: &'l str,
        place: usize,
        owner: Owner,
        faults: &mut Faults,
    ) -> Option<Entry<'l>> {
        let (times, rest) = times::read(line, place, faults)?;
        let at = |rest: &str| place + (line.len() - rest.len());
        let end = place + line.trim_end().len();
        let first = rest.find(is_blank).unwrap_or(rest.len());
        let first_at = at(rest)..at(rest) + first;
        let (user, command) = match owner {
            Owner::User => (None, rest),
            Owner::System => (
                Some(&rest[..first]).filter(|user| !user.is_empty()),
                rest[first..].trim_start_matches(is_blank),
            ),
        };
        let command_at = at(command)..end.max(at(command));
        let (missing, help) = match (owner, user) {
            (Owner::System, None) => (
                "the line has no user and no command",
                "write them behind the times, such as 30 2 * * * root /usr/bin/backup",
            ),
            (Owner::System, Some(_)) => (
                "the line has no command behind the user",
                "write it there; a crontab of a user, without that column, is read without --system",
            ),
            (Owner::User, _) => (
                "the line has no command",
                "write it behind the times, such as 30 2 * * * /usr/bin/backup",
            ),
        };
        if command.trim_end().is_empty() {
            faults.add(end..end, missing).help(help);
            return None;
        }
        if !first_at.is_empty() && rest.starts_with('*') {
            faults
                .add(
                    first_at,
                    "a sixth field: cron knows no seconds and no years",
                )
                .help("drop it; `cron` of a task file has a second in front and a year behind");
            return None;
        }
        Some(Entry {
            times,
            user,
            user_at: first_at,
            command,
            command_at,
        })
    }

    /// The task, or `None` if something is wrong, which is added.
    pub(super) fn task(self, reader: &mut Reader<'_>, faults: &mut Faults) -> Option<Task> {
        let account = match reader.reading.look {
            Look::Text => None,
            Look::Machine | Look::ToRun => Some(self.account(reader, faults)?),
        };
        let command = Command::read(self.command);
        if command
            .input
            .as_ref()
            .is_some_and(|input| input.len() > INPUT_BYTES_MAX)
        {
            faults
                .add(
                    self.command_at.clone(),
                    format!("the input behind the % is longer than {INPUT_BYTES_MAX} bytes"),
                )
                .help("put it into a file, and read that: command < file");
            return None;
        }
        let env = environment(&reader.settings, account.as_ref());
        let other = account.as_ref().filter(|account| !account.is_own());
        let other = other.filter(|_| reader.reading.look == Look::ToRun);
        let program = self.program(&command.line, &env, (other, &mut reader.finder), faults)?;
        let schedule = match self.times? {
            Times::Start => Schedule::at_start(),
            Times::Calendar(cron) => Schedule::by_calendar(cron, reader.zone.clone()),
        };
        let line = faults.line_of(self.command_at.start);
        let id = name::of(&command.line).unwrap_or_else(|| format!("line-{line}"));
        Some(Task {
            id: reader.names.take(id),
            schedule,
            upstream: Vec::new(),
            program,
            retry: None,
            misfire: None,
            overlap: Some(Overlap::Allow { max: BESIDE_MAX }),
            jitter: None,
            priority: None,
            timeout: None,
            deadline: None,
            concurrency: None,
            rate: None,
            dir: Some(home(&env)),
            // Of another user it is set behind the change of the user, and not in front of it.
            env: match other {
                Some(_) => Vec::new(),
                None => env,
            },
            inherits: Inherits::Nothing,
            input: command.input.map(Arc::from),
            output: None,
        })
    }

    /// Whose command it is.
    fn account(&self, reader: &mut Reader<'_>, faults: &mut Faults) -> Option<Account> {
        let Some(user) = self.user else {
            let first = self.command.split(is_blank).next().unwrap_or_default();
            let is_of_system = !first.contains('/')
                && reader.finder.find(first, None, None).is_err()
                && reader.accounts.named(first).is_some();
            if is_of_system {
                faults
                    .add(
                        self.user_at.clone(),
                        format!("`{}` is a user and no program", first.escape_debug()),
                    )
                    .help("a crontab of the system, with a column for the user, is read with --system");
                return None;
            }
            return Some(reader.accounts.own());
        };
        let account = reader.accounts.named(user);
        if account.is_none() {
            faults
                .add(
                    self.user_at.clone(),
                    format!("there is no user `{}`", user.escape_debug()),
                )
                .help("correct the name; a crontab of a user, without this column, is read without --system");
        }
        account
    }

    /// The shell with the command, as that user.
    fn program(
        &self,
        command: &str,
        env: &[(String, String)],
        (other, finder): (Option<&Account>, &mut Finder),
        faults: &mut Faults,
    ) -> Option<Program> {
        let shell = value(env, "SHELL").unwrap_or(SHELL);
        let args = [shell, "-c", command].map(str::to_owned);
        let own = Program {
            path: PathBuf::from(shell),
            args: args.to_vec(),
        };
        let Some(other) = other else {
            return Some(own);
        };
        let name = other.name.escape_debug();
        if !account::is_root() {
            faults
                .add(
                    self.user_at.clone(),
                    format!("only root can run a command as the user `{name}`"),
                )
                .help("start wheel as root, or as that user with a crontab of that user's entries");
            return None;
        }
        match finder.find("setpriv", None, Some("/usr/bin:/bin:/usr/sbin:/sbin")) {
            Ok(path) => {
                let to_user = [
                    "setpriv".to_owned(),
                    format!("--reuid={}", other.uid),
                    format!("--regid={}", other.gid),
                    "--init-groups".to_owned(),
                    "--".to_owned(),
                ];
                // What the crontab sets means nothing to setpriv, which is still root: LD_PRELOAD.
                let set = env.iter().map(|(name, value)| format!("{name}={value}"));
                let set = [ENV, "-i", "--"].map(str::to_owned).into_iter().chain(set);
                let args = to_user.into_iter().chain(set).chain(args).collect();
                Some(Program { path, args })
            }
            Err(error) => {
                faults
                    .add(
                        self.user_at.clone(),
                        format!(
                            "there is no setpriv to run a command as the user `{name}`: {error}"
                        ),
                    )
                    .help("install util-linux");
                None
            }
        }
    }
}

/// Adds a fault if no command could be given to this shell.
pub(super) fn check_shell(finder: &mut Finder, shell: &str, at: Range<usize>, faults: &mut Faults) {
    let why = if !shell.starts_with('/') {
        "it is not the whole path of a program".to_owned()
    } else {
        match finder.find(shell, None, None) {
            Ok(_) => return,
            Err(error) => error.to_string(),
        }
    };
    faults
        .add(at, format!("SHELL cannot be run: {why}"))
        .help(format!("write the path of a shell, such as SHELL={SHELL}"));
}

/// What a command finds set: nothing of what `wheel` has, but what the crontab says, and what cron
/// adds to it.
fn environment(settings: &[(String, String)], account: Option<&Account>) -> Vec<(String, String)> {
    let mut env = settings.to_vec();
    let mut default = |name: &str, text: &str| {
        if value(&env, name).is_none() {
            env.push((name.to_owned(), text.to_owned()));
        }
    };
    default("SHELL", SHELL);
    default("PATH", PATH);
    if let Some(account) = account {
        default("HOME", &account.home);
        env.retain(|(name, _)| name != "LOGNAME");
        env.push(("LOGNAME".to_owned(), account.name.clone()));
        if value(&env, "USER").is_none() {
            env.push(("USER".to_owned(), account.name.clone()));
        }
    }
    env
}

fn value<'e>(env: &'e [(String, String)], name: &str) -> Option<&'e str> {
    let found = env.iter().find(|(other, _)| other == name);
    found.map(|(_, value)| value.as_str())
}

/// Where the command runs. Users of the system may have a home that is not there.
fn home(env: &[(String, String)]) -> PathBuf {
    let home = value(env, "HOME").map(Path::new);
    home.filter(|home| home.is_dir())
        .unwrap_or(Path::new("/"))
        .to_owned()
}
