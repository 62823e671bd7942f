//! A crontab that is read again: its entries have no names, so what is the same is found by what it
//! says.

use std::collections::{HashMap, HashSet};

use super::name;
use crate::file::{Difference, Task, TaskFile};

/// Gives entries that are in both crontabs the names that they had, and others names of their own.
/// What has changed in one entry keeps its name if that is free.
pub(crate) fn keep_names(old: &[&Task], new: &mut TaskFile) {
    let mut by_text: HashMap<String, Vec<&Task>> = HashMap::new();
    // The last is taken first.
    for task in old.iter().rev() {
        by_text.entry(text(task)).or_default().push(task);
    }
    let mut taken = HashSet::new();
    let mut others = Vec::new();
    for (number, task) in new.tasks.iter_mut().enumerate() {
        let alike = by_text.get_mut(&text(task));
        let same = alike.and_then(|alike| {
            let place =
                (alike.iter()).rposition(|old| old.difference(task) == Difference::Nothing)?;
            Some(alike.remove(place))
        });
        match same {
            Some(old) => {
                task.id.clone_from(&old.id);
                taken.insert(old.id.clone());
            }
            None => others.push(number),
        }
    }
    for number in others {
        let mut id = new.tasks[number].id.clone();
        if taken.contains(&id) {
            id = free(new.tasks[number].program.args.last(), &taken);
        }
        taken.insert(id.clone());
        new.tasks[number].id = id;
    }
}

/// The first name for a command that nobody has.
fn free(command: Option<&String>, taken: &HashSet<String>) -> String {
    let name = command
        .and_then(|command| name::of(command))
        .unwrap_or_else(|| "line".to_owned());
    let mut id = name.clone();
    let mut next = 2;
    while taken.contains(&id) {
        id = format!("{name}-{next}");
        next += 1;
    }
    id
}

fn text(task: &Task) -> String {
    format!("{}\n{:?}", task.schedule, task.program.args)
}
