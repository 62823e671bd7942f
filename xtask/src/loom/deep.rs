//! `cargo xtask loom --deep`: each model with one preemption more, and then without a bound, for as
//! long as that ends.
//!
//! A preemption takes the processor from a thread that could go on. Most bugs need one or two; a
//! model that ends without a bound has been tried in every schedule that can make a difference.

use std::fmt;
use std::time::Duration;

use crate::models::{self, Model, executions_of, label_of};
use crate::process::{End, in_parallel};
use crate::step::seconds;

/// The first bound is that of a quick run. `None`: no bound.
const BOUNDS: &[Option<u32>] = &[Some(2), Some(3), Some(4), Some(5), None];

/// What a quick run explores too must end.
const FIRST_LIMIT: Duration = Duration::from_secs(1800);

/// How far a model was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// Every schedule.
    All,
    /// Those with so many preemptions.
    Within(u32),
}

struct Explored {
    name: String,
    /// Executions within the first bound, and in the deepest run that has ended.
    first: Option<u64>,
    deepest: Option<u64>,
    reached: Reached,
    took: Duration,
}

/// Explores the models whose name contains `only`, each step for `limit` at most.
pub(super) fn run(only: Option<&str>, limit: Duration, markdown: bool) -> Result<(), String> {
    let mut models = models::build()?;
    models.retain(|model| only.is_none_or(|only| model.name.contains(only)));
    if models.is_empty() {
        return Err("no model ran".to_owned());
    }
    println!(
        "{} models; a step deeper as long as one ends in {}.",
        models.len(),
        seconds(limit)
    );
    let (mut done, of) = (0, models.len());
    let explored: Result<Vec<Explored>, String> = in_parallel(
        &models,
        |model| explore(model, limit),
        |_, explored| {
            done += 1;
            if let Ok(explored) = explored {
                println!("  [{done:>3}/{of}] {explored}");
            }
        },
    )
    .into_iter()
    .collect();
    print_table(&explored?, markdown);
    Ok(())
}

fn explore(model: &Model, limit: Duration) -> Result<Explored, String> {
    let mut explored = Explored {
        name: model.name.replacen("::", ": ", 1),
        first: None,
        deepest: None,
        reached: Reached::Within(0),
        took: Duration::ZERO,
    };
    for (step, &bound) in BOUNDS.iter().enumerate() {
        let limit = if step == 0 { FIRST_LIMIT } else { limit };
        let run = model.run(bound, &[], limit)?;
        match run.end {
            End::Failed => return Err(format!("{} fails:\n{}", model.name, run.output)),
            End::TimedOut if step == 0 => return Err(format!("{} does not end", model.name)),
            End::TimedOut => break,
            End::Passed => {}
        }
        explored.name = label_of(&model.name, &run.output);
        let executions = executions_of(&run.output);
        explored.first = explored.first.or(executions);
        explored.deepest = executions;
        explored.reached = bound.map_or(Reached::All, Reached::Within);
        explored.took = run.took;
    }
    Ok(explored)
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reached::All => write!(f, "complete"),
            Reached::Within(bound) => write!(f, "up to {bound} preemptions"),
        }
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = count(self.deepest);
        let took = seconds(self.took);
        write!(
            f,
            "{:<52} {count:>10} {:>22} {took:>8}",
            self.name,
            self.reached.to_string()
        )
    }
}

/// A model that must be refuted reports no executions.
fn count(executions: Option<u64>) -> String {
    executions.map_or("refuted".to_owned(), |count| count.to_string())
}

fn print_table(explored: &[Explored], markdown: bool) {
    println!();
    if markdown {
        println!("| model | executions, 2 preemptions | executions, deepest | explored |");
        println!("|---|---|---|---|");
        for model in explored {
            let (first, deepest) = (count(model.first), count(model.deepest));
            println!(
                "| {} | {first} | {deepest} | {} |",
                model.name, model.reached
            );
        }
    } else {
        explored.iter().for_each(|model| println!("  {model}"));
    }
    let total: u64 = explored.iter().filter_map(|model| model.deepest).sum();
    let complete = explored
        .iter()
        .filter(|model| model.reached == Reached::All);
    println!(
        "\n  {} models, {total} executions, {} of them complete",
        explored.len(),
        complete.count()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_explored_is_said_in_words() {
        let words = [Reached::All, Reached::Within(3)].map(|reached| reached.to_string());
        assert_eq!(words, ["complete", "up to 3 preemptions"]);
    }
}
