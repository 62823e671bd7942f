//! From the tables of a document to tasks: which keys belong together, and which ids are taken.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use toml::de::DeTable;
use wheel_runtime::Misfire;

use super::fault::Faults;
use super::keys::{self, OF_TASK, TASK_KEYS};
use super::program::{Finder, Program, ProgramError};
use super::upstream::{self, Asked, Upstream};
use super::values::{self, Optional, Value, Wrong, optional};
use super::{Concurrency, Inherits, Schedule, Task};
use super::{due, limits, policies, process, retry};

/// Reads all tasks, and in which order they can be added. What is wrong is added to `faults`; a task
/// with a fault is left out, and then the order is of no use.
pub(super) fn read(document: &DeTable<'_>, faults: &mut Faults) -> (Vec<Task>, Vec<usize>) {
    let mut tasks = Vec::new();
    let mut order = Vec::new();
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
        order = read_all(value, &mut tasks, faults);
    }
    if !found {
        faults.add(0..0, "there is no task in the file").help(
            "add one: [[task]] with id = \"hello\", after = \"1s\", run = [\"echo\", \"hello\"]",
        );
    }
    (tasks, order)
}

fn read_all(value: &Value<'_>, tasks: &mut Vec<Task>, faults: &mut Faults) -> Vec<usize> {
    let Some(items) = value.get_ref().as_array() else {
        faults
            .add(value.span(), "`task` must be an array of tables")
            .help("write [[task]] with two brackets in front of each task");
        return Vec::new();
    };
    if items.is_empty() {
        faults
            .add(value.span(), "there is no task in the file")
            .help("write [[task]] in front of each task");
    }
    let mut reader = Reader {
        taken: HashMap::new(),
        finder: Finder::new(),
        shared: limits::Shared::default(),
        asked: Vec::with_capacity(items.len()),
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
    for Concurrency { key, at_most } in tasks.iter_mut().filter_map(|t| t.concurrency.as_mut()) {
        *at_most = at_most.or_else(|| reader.shared.at_most(key));
    }
    upstream::order(&reader.asked, faults)
}

struct Reader {
    /// Ids that were seen, and where.
    taken: HashMap<String, usize>,
    finder: Finder,
    /// What tasks have said about the keys that they have in common.
    shared: limits::Shared,
    /// What they depend on.
    asked: Vec<Asked>,
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
        let schedule = due::read(&header, table, faults);
        let upstream = self.upstream(id.clone(), schedule.as_ref(), table, faults);
        let retry = optional(table.get("retry"), |value| retry::read(value, faults));
        let misfire = optional(table.get("misfire"), |value| {
            policies::misfire(value, faults)
                .filter(|misfire| goes_with(*misfire, schedule.as_ref(), value, faults))
        });
        let overlap = optional(table.get("overlap"), |value| {
            policies::overlap(value, faults)
        });
        let jitter = optional(table.get("jitter"), |value| policies::jitter(value, faults));
        let priority = optional(table.get("priority"), |value| {
            policies::priority(value, faults)
        });
        let [timeout, deadline] = ["timeout", "deadline"]
            .map(|key| optional(table.get(key), |value| limits::time(key, value, faults)));
        let (key, at_most) = (table.get("concurrency_key"), table.get("concurrency"));
        let concurrency = self.shared.concurrency(key, at_most, faults);
        let rate = optional(table.get("rate_limit"), |value| {
            self.shared.rate(value, faults)
        });
        let env = optional(table.get("env"), |value| process::env(value, faults));
        let dir = optional(table.get("dir"), |value| process::dir(value, faults));
        let output = optional(table.get("output"), |value| process::output(value, faults));
        let program = match table.get("run") {
            Some(value) => process::run(value, faults)
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
            upstream: upstream?,
            program: program?,
            retry: retry.ok()?,
            misfire: misfire.ok()?,
            overlap: overlap.ok()?,
            jitter: jitter.ok()?,
            priority: priority.ok()?,
            timeout: timeout.ok()?,
            deadline: deadline.ok()?,
            concurrency: concurrency?,
            rate: rate.ok()?,
            env: env.ok()?.unwrap_or_default(),
            inherits: Inherits::All,
            input: None,
            dir: dir.ok()?,
            output: output.ok()?,
        })
    }

    /// What the task depends on; also kept for when all tasks are known.
    fn upstream(
        &mut self,
        id: Option<String>,
        schedule: Option<&Schedule>,
        table: &DeTable<'_>,
        faults: &mut Faults,
    ) -> Option<Vec<Upstream>> {
        let (upstream, right) = match table.get("depends_on") {
            None => (Vec::new(), true),
            Some(value) => {
                let (upstream, right) = upstream::read(value, faults);
                let recurs = schedule.is_some_and(Schedule::recurs);
                if recurs {
                    faults
                        .add(
                            value.span(),
                            "a task that is due again and again cannot wait for others",
                        )
                        .help("keep `depends_on` and use `after` or `at`, or nothing else, or drop it");
                }
                (upstream, right && !recurs)
            }
        };
        let all = upstream.iter().map(|(upstream, _)| upstream.clone());
        let all = right.then(|| all.collect());
        self.asked.push(Asked { id, upstream });
        all
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

/// A run for each that was missed: of a task that runs once there are no several.
fn goes_with(
    misfire: Misfire,
    schedule: Option<&Schedule>,
    place: &Value<'_>,
    faults: &mut Faults,
) -> bool {
    let is_wrong = matches!(misfire, Misfire::FireAll { .. })
        && schedule.is_some_and(|schedule| !schedule.recurs());
    if is_wrong {
        faults
            .add(
                place.span(),
                "a task that runs once misses one run at most, so `fire_all` has no use",
            )
            .help("write misfire = \"fire_once\" or misfire = \"skip\", or use `every` or `cron`");
    }
    !is_wrong
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
