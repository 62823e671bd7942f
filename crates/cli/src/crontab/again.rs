//! A crontab that is read again: its entries have no names, so what is the same is found by what it
//! says.

use std::collections::HashMap;

use super::name::{self, Names};
use crate::file::{Difference, Task, TaskFile};

/// Gives entries that are in both crontabs the names that they had, and others names of their own.
/// What has changed in one entry keeps its name if that is free.
pub(crate) fn keep_names(old: &[&Task], new: &mut TaskFile) {
    let mut by_text: HashMap<String, Vec<&Task>> = HashMap::new();
    // The last is taken first.
    for task in old.iter().rev() {
        by_text.entry(text(task)).or_default().push(task);
    }
    let mut names = Names::default();
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
                // Each old one has another.
                task.id = names.take(old.id.clone());
            }
            None => others.push(number),
        }
    }
    for number in others {
        let task = &mut new.tasks[number];
        let mut name = task.id.clone();
        if names.has(&name) {
            let command = task.program.args.last();
            let of_command = command.and_then(|command| name::of(command));
            name = of_command.unwrap_or_else(|| "line".to_owned());
        }
        task.id = names.take(name);
    }
}

fn text(task: &Task) -> String {
    format!("{}\n{:?}", task.schedule, task.program.args)
}
