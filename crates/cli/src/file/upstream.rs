//! The key `depends_on`: which tasks come before a task, and whether they can.
//!
//! ```text
//! depends_on = "import"                              when it has succeeded
//! depends_on = ["import", "fetch"]                   when both have
//! depends_on = { import = "failed", fetch = "finished" }
//! ```
//!
//! What is named is looked for when the whole file has been read, so the order of the tasks is of no
//! importance. The runtime wants a task after those that it depends on; [`order`] finds that order,
//! or the circles for which there is none.

use std::collections::HashMap;
use std::ops::Range;

use wheel_runtime::When;

use super::choice::one_of;
use super::fault::Faults;
use super::keys::nearest;
use super::values::{self, Value};

/// One task that comes before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    pub(crate) id: String,
    /// How that one must have ended.
    pub(crate) ended: When,
}

/// What one task has said, with the places.
#[derive(Debug)]
pub(super) struct Asked {
    /// The id of the task, where it has one.
    pub(super) id: Option<String>,
    /// All that can be read of it.
    pub(super) upstream: Vec<(Upstream, Range<usize>)>,
}

const ENDINGS: [(&str, When); 3] = [
    ("succeeded", When::Succeeded),
    ("finished", When::Finished),
    ("failed", When::Failed),
];
const HELP: &str = "write depends_on = \"import\", depends_on = [\"import\", \"fetch\"] or \
                    depends_on = { import = \"succeeded\", fetch = \"finished\" }";

/// For so many unknown ids something similar is looked for, among so many tasks.
const SUGGESTED_MAX: usize = 20;
const LOOKED_AT_MAX: usize = 10_000;
/// Names of a circle that are shown; of a longer one both ends.
const SHOWN_MAX: usize = 8;

/// Reads it. `false`: some of it cannot be read.
pub(super) fn read(
    value: &Value<'_>,
    faults: &mut Faults,
) -> (Vec<(Upstream, Range<usize>)>, bool) {
    let mut found: Vec<(Upstream, Range<usize>)> = Vec::new();
    let mut right = true;
    let mut add = |id: &str, ended: When, place: Range<usize>, faults: &mut Faults| {
        if found.iter().any(|(upstream, _)| upstream.id == id) {
            faults
                .add(place, format!("`depends_on` names {id:?} twice"))
                .help("drop one of them");
            return false;
        }
        let id = id.to_owned();
        found.push((Upstream { id, ended }, place));
        true
    };
    if let Some(id) = value.get_ref().as_str() {
        add(id, When::Succeeded, value.span(), faults);
    } else if let Some(items) = value.get_ref().as_array() {
        for item in items.iter() {
            right &= match item.get_ref().as_str() {
                Some(id) => add(id, When::Succeeded, item.span(), faults),
                None => {
                    let kind = values::kind(item);
                    faults
                        .add(
                            item.span(),
                            format!("`depends_on` must hold ids of tasks, not {kind}"),
                        )
                        .help(HELP);
                    false
                }
            };
        }
    } else if let Some(table) = value.get_ref().as_table() {
        for (id, ended) in table.iter() {
            right &= match one_of(id.get_ref(), ended, ENDINGS, faults) {
                Some(ended) => add(id.get_ref(), ended, id.span(), faults),
                None => false,
            };
        }
    } else {
        right = false;
        let kind = values::kind(value);
        faults
            .add(
                value.span(),
                format!("`depends_on` must be an id, some ids, or a table of them, not {kind}"),
            )
            .help(HELP);
    }
    if right && found.is_empty() {
        right = false;
        faults
            .add(value.span(), "`depends_on` is empty")
            .help("name a task, or drop it");
    }
    (found, right)
}

/// Looks for what all tasks have named. Returns the tasks in an order in which each comes after
/// those that it depends on, as far as possible in that of the file.
pub(super) fn order(asked: &[Asked], faults: &mut Faults) -> Vec<usize> {
    let mut numbers: HashMap<&str, usize> = HashMap::with_capacity(asked.len());
    for (number, task) in asked.iter().enumerate() {
        if let Some(id) = &task.id {
            numbers.insert(id, number);
        }
    }
    let mut unknown = 0;
    let edges: Vec<Vec<(usize, Range<usize>)>> = (asked.iter())
        .map(|task| {
            let mut known = Vec::with_capacity(task.upstream.len());
            for (upstream, place) in &task.upstream {
                match numbers.get(upstream.id.as_str()) {
                    Some(number) => known.push((*number, place.clone())),
                    None => {
                        unknown += 1;
                        add_unknown(&upstream.id, place.clone(), (unknown, &numbers), faults);
                    }
                }
            }
            known
        })
        .collect();
    let mut walk = Walk {
        edges: &edges,
        seen: vec![Seen::Not; asked.len()],
        order: Vec::with_capacity(asked.len()),
        circles: Vec::new(),
    };
    for number in 0..asked.len() {
        walk.from(number);
    }
    for (circle, place) in &walk.circles {
        let name = |number: &usize| asked[*number].id.as_deref().unwrap_or_default();
        let names: Vec<&str> = circle.iter().map(name).collect();
        let first = names[0];
        let what = match names.as_slice() {
            [one] => format!("the task {one:?} waits for itself"),
            _ => format!(
                "`depends_on` goes in a circle, so none of these is ever due: {} -> {first}",
                shown(&names)
            ),
        };
        faults
            .add(place.clone(), what)
            .help("drop one of them: each waits for the one behind it");
    }
    walk.order
}

fn shown(names: &[&str]) -> String {
    if names.len() <= SHOWN_MAX {
        return names.join(" -> ");
    }
    let (head, tail) = (
        &names[..SHOWN_MAX / 2],
        &names[names.len() - SHOWN_MAX / 2..],
    );
    let more = names.len() - SHOWN_MAX;
    format!(
        "{} -> ({more} more) -> {}",
        head.join(" -> "),
        tail.join(" -> ")
    )
}

fn add_unknown(
    id: &str,
    place: Range<usize>,
    (nth, numbers): (usize, &HashMap<&str, usize>),
    faults: &mut Faults,
) {
    let fault = faults.add(
        place,
        format!("`depends_on`: there is no task {id:?} in the file"),
    );
    let nearest = if nth <= SUGGESTED_MAX && numbers.len() <= LOOKED_AT_MAX {
        let mut ids: Vec<&str> = numbers.keys().copied().collect();
        ids.sort_by_key(|id| numbers[id]);
        nearest(id, &ids)
    } else {
        None
    };
    match nearest {
        Some(meant) => fault.help(format!("did you mean {meant:?}?")),
        None => fault.help("name the `id` of another task of this file"),
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Not,
    /// It is on the way from where the walk began.
    OnTheWay,
    Done,
}

/// Goes from tasks to those that they depend on, depth first, without recursion: a chain may be as
/// long as the file.
struct Walk<'e> {
    edges: &'e [Vec<(usize, Range<usize>)>],
    seen: Vec<Seen>,
    order: Vec<usize>,
    /// Each with the place that closes it, and from the task that stands there.
    circles: Vec<(Vec<usize>, Range<usize>)>,
}

impl Walk<'_> {
    fn from(&mut self, first: usize) {
        if self.seen[first] != Seen::Not {
            return;
        }
        // Each with how many of its edges have been looked at.
        let mut way = vec![(first, 0)];
        self.seen[first] = Seen::OnTheWay;
        while let Some((task, looked)) = way.last_mut() {
            let task = *task;
            let Some((next, place)) = self.edges[task].get(*looked) else {
                self.seen[task] = Seen::Done;
                self.order.push(task);
                way.pop();
                continue;
            };
            *looked += 1;
            match self.seen[*next] {
                Seen::Not => {
                    self.seen[*next] = Seen::OnTheWay;
                    way.push((*next, 0));
                }
                Seen::OnTheWay => {
                    let begin = way.iter().rposition(|(task, _)| task == next).unwrap_or(0);
                    let mut circle = vec![task];
                    circle.extend(way[begin..way.len() - 1].iter().map(|(task, _)| *task));
                    self.circles.push((circle, place.clone()));
                }
                Seen::Done => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Tasks by number, each with those that it depends on.
    fn ordered(upstream: &[&[usize]]) -> (Vec<usize>, usize) {
        let asked: Vec<Asked> = (upstream.iter().enumerate())
            .map(|(number, upstream)| Asked {
                id: Some(number.to_string()),
                upstream: (upstream.iter())
                    .map(|id| {
                        let (id, ended) = (id.to_string(), When::Succeeded);
                        (Upstream { id, ended }, 0..0)
                    })
                    .collect(),
            })
            .collect();
        let mut faults = Faults::new(Path::new("x.toml"), String::new());
        let order = order(&asked, &mut faults);
        let count = faults.to_string().matches("error: ").count();
        (order, count)
    }

    #[test]
    fn each_task_comes_after_those_that_it_depends_on() {
        assert_eq!(ordered(&[&[], &[], &[]]), (vec![0, 1, 2], 0));
        assert_eq!(ordered(&[&[2], &[0], &[]]), (vec![2, 0, 1], 0));
        assert_eq!(ordered(&[&[1, 2], &[3], &[3], &[]]), (vec![3, 1, 2, 0], 0));
    }

    #[test]
    fn each_circle_is_a_fault_and_a_long_chain_is_none() {
        assert_eq!(ordered(&[&[0]]).1, 1);
        assert_eq!(ordered(&[&[1], &[0], &[3], &[4], &[2]]).1, 2);
        let chain: Vec<Vec<usize>> = (0..100_000).map(|n| vec![n + 1]).collect();
        let mut chain: Vec<&[usize]> = chain.iter().map(Vec::as_slice).collect();
        chain.push(&[]);
        let (order, count) = ordered(&chain);
        assert_eq!((order[0], order.len(), count), (100_000, 100_001, 0));
    }
}
