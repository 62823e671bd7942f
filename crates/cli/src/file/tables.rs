//! From the tables of a document to tasks: which keys belong together, and which ids are taken.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use toml::de::DeTable;
use wheel_runtime::Zone;

use super::fault::Faults;
use super::keys::{self, OF_TASK, TASK_KEYS};
use super::program::{Finder, Program, ProgramError};
use super::retry;
use super::values::{self, Value};
use super::{Schedule, Task, calendar};

/// Reads all tasks. What is wrong is added to `faults`; a task with a fault is left out.
pub(crate) fn read(document: &DeTable<'_>, faults: &mut Faults) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut found = false;
    for (key, value) in document.iter() {
        if key.get_ref() != "task" {
            let fault = faults.add(key.span(), format!("unknown key `{}`", key.get_ref()));
            match keys::nearest(key.get_ref(), &["task"]) {
                Some(_) => fault.help("did you mean `[[task]]`?"),
                None if TASK_KEYS.contains(&key.get_ref().as_ref()) => {
                    fault.help("it belongs below a [[task]] line")
                }
                None => fault.help("a task file holds [[task]] tables and nothing else"),
            };
            // Something close to a task is there: do not also say that there is none.
            found = true;
            continue;
        }
        found = true;
        read_all(value, &mut tasks, faults);
    }
    if !found {
        faults.add(0..0, "there is no task in the file").help(
            "add one: [[task]] with id = \"hello\", after = \"1s\", run = [\"echo\", \"hello\"]",
        );
    }
    tasks
}

fn read_all(value: &Value<'_>, tasks: &mut Vec<Task>, faults: &mut Faults) {
    let Some(items) = value.get_ref().as_array() else {
        faults
            .add(value.span(), "`task` must be an array of tables")
            .help("write [[task]] with two brackets in front of each task");
        return;
    };
    if items.is_empty() {
        faults
            .add(value.span(), "there is no task in the file")
            .help("write [[task]] in front of each task");
    }
    let mut reader = Reader {
        taken: HashMap::new(),
        finder: Finder::new(),
    };
    tasks.reserve(items.len());
    for item in items.iter() {
        match item.get_ref().as_table() {
            Some(table) => tasks.extend(reader.task(item.span(), table, faults)),
            None => {
                faults
                    .add(item.span(), "a task must be a table")
                    .help("write [[task]] in front of each task");
            }
        }
    }
}

/// A task has exactly one of these.
const SCHEDULE_KEYS: [&str; 4] = ["after", "at", "every", "cron"];

/// A key that may be absent.
type Optional<T> = Result<Option<T>, Wrong>;

/// The key is there, and its fault has been added.
#[derive(Debug, Clone, Copy)]
struct Wrong;

fn optional<T>(
    value: Option<&Value<'_>>,
    read: impl FnOnce(&Value<'_>) -> Option<T>,
) -> Optional<T> {
    value.map(|value| read(value).ok_or(Wrong)).transpose()
}

struct Reader {
    /// Ids that were seen, and where.
    taken: HashMap<String, usize>,
    finder: Finder,
}

impl Reader {
    fn task(
        &mut self,
        header: Range<usize>,
        table: &DeTable<'_>,
        faults: &mut Faults,
    ) -> Option<Task> {
        OF_TASK.check(table, faults);
        let id = match table.get("id") {
            Some(value) => self.id(value, faults),
            None => {
                if !OF_TASK.is_misspelt("id", table) {
                    faults
                        .add(header.clone(), "the task has no `id`")
                        .help("give it a name of its own, such as id = \"heartbeat\"");
                }
                None
            }
        };
        let schedule = schedule(&header, table, faults);
        let retry = optional(table.get("retry"), |value| retry::read(value, faults));
        let env = optional(table.get("env"), |value| values::env(value, faults));
        let dir = optional(table.get("dir"), |value| values::dir(value, faults));
        let output = optional(table.get("output"), |value| values::output(value, faults));
        let program = match table.get("run") {
            Some(value) => values::run(value, faults)
                .and_then(|(args, place)| self.program(args, place, &dir, &env, faults)),
            None => {
                if !OF_TASK.is_misspelt("run", table) {
                    faults
                        .add(header, "the task has no `run`")
                        .help("say what it runs, such as run = [\"echo\", \"hello\"]");
                }
                None
            }
        };
        Some(Task {
            id: id?,
            schedule: schedule?,
            program: program?,
            retry: retry.ok()?,
            env: env.ok()?.unwrap_or_default(),
            dir: dir.ok()?,
            output: output.ok()?,
        })
    }

    fn program(
        &mut self,
        args: Vec<String>,
        place: Range<usize>,
        dir: &Optional<PathBuf>,
        env: &Optional<Vec<(String, String)>>,
        faults: &mut Faults,
    ) -> Option<Program> {
        let dir = match dir {
            // Nothing can be said about a path that starts from a folder that is not there.
            Err(Wrong) if args[0].contains('/') => return None,
            Err(Wrong) | Ok(None) => None,
            Ok(Some(dir)) => Some(dir.as_path()),
        };
        let variables = env.as_ref().ok().and_then(Option::as_ref);
        let search = variables
            .and_then(|all| all.iter().find(|(name, _)| name == "PATH"))
            .map(|(_, value)| value.as_str());
        match self.finder.find(&args[0], dir, search) {
            Ok(path) => Some(Program { path, args }),
            Err(error) => {
                missing_program(place, &args[0], &error, faults);
                None
            }
        }
    }

    fn id(&mut self, value: &Value<'_>, faults: &mut Faults) -> Option<String> {
        let id = values::id(value, faults)?;
        let line = faults.line_of(value.span().start);
        if let Some(first) = self.taken.get(&id) {
            faults
                .add(
                    value.span(),
                    format!(
                        "the id {id:?} in line {line} is already taken by the task in line {first}"
                    ),
                )
                .help("every task needs an id of its own");
            return None;
        }
        self.taken.insert(id.clone(), line);
        Some(id)
    }
}

fn schedule(header: &Range<usize>, table: &DeTable<'_>, faults: &mut Faults) -> Option<Schedule> {
    let given: Vec<(&str, &Value<'_>)> = SCHEDULE_KEYS
        .into_iter()
        .filter_map(|key| Some((key, table.get(key)?)))
        .collect();
    // Each value is checked also where there are too many of them.
    let mut schedules = given.iter().map(|(key, value)| match *key {
        "after" => values::duration(key, value, faults).map(Schedule::After),
        "at" => calendar::at(value, faults).map(Schedule::At),
        "cron" => calendar::cron(value, faults),
        _ => values::period(value, faults).map(|period| Schedule::Every {
            period,
            count: None,
        }),
    });
    let first = schedules.next();
    let others = schedules.count();
    let count = table
        .get("count")
        .map(|value| (value, values::count(value, faults)));
    let timezone = table.get("timezone");
    let zone = optional(timezone, |value| calendar::timezone(value, faults));
    let Some(schedule) = first else {
        if !SCHEDULE_KEYS
            .into_iter()
            .any(|key| OF_TASK.is_misspelt(key, table))
        {
            faults.add(header.clone(), "the task does not say what it is due by").help(
                "add one of after = \"3s\", at = \"2026-12-01T02:00:00+08:00\", every = \"500ms\", \
                 cron = \"30 2 * * *\"",
            );
        }
        return None;
    };
    if others > 0 {
        let names: Vec<String> = given.iter().map(|(key, _)| format!("`{key}`")).collect();
        let last = given
            .iter()
            .map(|(_, value)| value.span())
            .max_by_key(|span| span.start);
        faults
            .add(
                last.unwrap_or_else(|| header.clone()),
                format!("the task has {}", names.join(" and ")),
            )
            .help("keep exactly one of `after`, `at`, `every` and `cron`");
        return None;
    }
    let (key, place) = given[0];
    let schedule = match (schedule?, timezone) {
        (Schedule::Cron { cron, .. }, _) => {
            let zone = zone.ok()?.unwrap_or(Zone::UTC);
            calendar::in_zone(cron, zone, place, faults)?
        }
        // `@every` needs no zone, and is none the worse for one.
        (schedule, None) => schedule,
        (schedule, Some(_)) if key == "cron" => schedule,
        (_, Some(value)) => {
            faults
                .add(
                    value.span(),
                    format!("a task with `{key}` is due at the same instant in every time zone"),
                )
                .help("use `timezone` with `cron`, or drop it");
            return None;
        }
    };
    let Some((value, count)) = count else {
        return Some(schedule);
    };
    let count = count?;
    match schedule {
        Schedule::Every { period, .. } => Some(Schedule::Every {
            period,
            count: Some(count),
        }),
        Schedule::Cron { cron, zone, .. } => Some(Schedule::Cron {
            cron,
            zone,
            count: Some(count),
        }),
        once if count == 1 => Some(once),
        _ => {
            faults
                .add(
                    value.span(),
                    format!("a task with `{key}` runs once, so `count` cannot be {count}"),
                )
                .help("use `every` or `cron` for a task that runs more than once, or drop `count`");
            None
        }
    }
}

fn missing_program(place: Range<usize>, name: &str, error: &ProgramError, faults: &mut Faults) {
    let fault = faults.add(
        place,
        format!("the program {name:?} cannot be run: {error}"),
    );
    match error {
        ProgramError::NotInPath(_) if name.contains(char::is_whitespace) => {
            let words: Vec<&str> = name.split_whitespace().collect();
            fault.help(format!("each argument is a string of its own: write run = {words:?}"))
        }
        ProgramError::NotInPath(_) => fault.help("install it, correct the name, or write the path of the file"),
        ProgramError::NoSuchFile(_) => {
            fault.help("correct the path; a relative one is taken from the task's `dir`, or from where `wheel` is started")
        }
        ProgramError::NotExecutable(path) => fault.help(format!("chmod +x {}", path.display())),
        ProgramError::IsFolder(_) => fault.help("name a file in it"),
    };
}
