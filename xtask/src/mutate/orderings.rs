//! Mutants of orderings: one site weakened at a time, while the models that reach it run.
//!
//! ```text
//! sites.rs  scan of the source --.
//!                                 >-- mutants --> models that reach the site, --> noticed by
//! models run once, recording ----'                the quickest first
//! ```
//!
//! Nothing is built for a mutant: the operations under loom weaken a site when the environment
//! names it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::report::{Fate, Verdict};
use super::rows::Rows;
use super::sites::{self, Site};
use super::weakenings::{self, Kind, Order, Weakening};
use super::{Scope, TABLE};
use crate::models::{self, Model};
use crate::process::{End, in_parallel};
use crate::step::{root, seconds};
use crate::tidy::tree::Tree;

/// Preemptions of the runs that shall notice something.
const PREEMPTIONS: u32 = 2;
/// How many are sampled for a quick run.
const SAMPLE: usize = 16;
/// A quick run leaves out models that take longer than this to record.
const QUICK_LIMIT: Duration = Duration::from_secs(5);
const RECORD_LIMIT: Duration = Duration::from_secs(900);
/// A model that takes so much longer than it did as the product stands does not end.
const LIMIT_MIN: Duration = Duration::from_secs(20);
const LIMIT_FACTOR: u32 = 4;

/// What recording a model has shown.
struct Recorded {
    model: usize,
    /// `file: label`.
    name: String,
    took: Duration,
    /// Place, part, ordering.
    sites: BTreeSet<(String, String, Order)>,
}

struct Mutant<'a> {
    site: &'a Site,
    part: &'static str,
    written: Order,
    weakening: Weakening,
    /// Recorded models that reach the site, the quickest first.
    models: Vec<usize>,
}

pub(super) fn run(scope: &Scope) -> Result<Vec<Verdict>, String> {
    let tree = Tree::read(&root()).map_err(|error| format!("cannot read the files: {error}"))?;
    let sites = sites::all(&tree);
    let rows = Rows::read(tree.get(TABLE).map_or("", |file| file.text.as_str()));
    // What is wanted can be told before the models are recorded, which takes minutes.
    let any = mutants(&sites, &[])?;
    if !any.iter().any(|mutant| scope.wants(&mutant.describe())) {
        return Ok(Vec::new());
    }
    let models = models::build()?;
    let recorded = record(&models, scope)?;
    let mut mutants = mutants(&sites, &recorded)?;
    mutants.retain(|mutant| scope.wants(&mutant.describe()));
    if scope.quick {
        let known = |m: &Mutant<'_>| m.reason(&rows).is_none() && !m.models.is_empty();
        mutants.retain(known);
        mutants = sample(mutants);
    }
    println!(
        "{} weakened orderings, within {PREEMPTIONS} preemptions.",
        mutants.len()
    );
    let (mut done, of) = (0, mutants.len());
    let judge = |mutant: &Mutant<'_>| mutant.verdict(&models, &recorded, &rows);
    Ok(in_parallel(&mutants, judge, |_, verdict| {
        done += 1;
        verdict.print(done, of);
    }))
}

/// Runs each model once and notes which sites it reaches.
fn record(models: &[Model], scope: &Scope) -> Result<Vec<Recorded>, String> {
    let limit = match scope.quick {
        true => QUICK_LIMIT,
        false => RECORD_LIMIT,
    };
    println!("Recording which sites {} models reach.", models.len());
    let indices: Vec<usize> = (0..models.len()).collect();
    let record = |&index: &usize| {
        let model = &models[index];
        let run = model.run(Some(PREEMPTIONS), &[("WHEEL_SITES", "1")], limit)?;
        match run.end {
            End::Failed => Err(format!("{} fails as the product stands", model.name)),
            End::TimedOut if scope.quick => Ok(None),
            End::TimedOut => Err(format!("{} does not end", model.name)),
            End::Passed => Ok(Some(Recorded {
                model: index,
                name: models::label_of(&model.name, &run.output),
                took: run.took,
                sites: run.output.lines().filter_map(read_site).collect(),
            })),
        }
    };
    let slow = |&index: &usize, recorded: &Result<Option<Recorded>, String>| {
        if let Ok(Some(recorded)) = recorded
            && recorded.took > QUICK_LIMIT
        {
            println!("  {}: {}", models[index].name, seconds(recorded.took));
        }
    };
    let recorded: Result<Vec<_>, _> = in_parallel(&indices, record, slow).into_iter().collect();
    Ok(recorded?.into_iter().flatten().collect())
}

/// `site FILE:LINE:COLUMN OPERATION PART ORDERING`, perhaps behind the name of the test.
fn read_site(line: &str) -> Option<(String, String, Order)> {
    let line = line.split_once(" ... ").map_or(line, |(_, rest)| rest);
    let mut words = line.strip_prefix("site ")?.split(' ');
    let (place, _, part, order) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some((place.to_owned(), part.to_owned(), Order::read(order)?))
}

fn mutants<'a>(sites: &'a [Site], recorded: &[Recorded]) -> Result<Vec<Mutant<'a>>, String> {
    let mut reached: BTreeMap<(&str, &str), (Order, Vec<usize>)> = BTreeMap::new();
    let mut by_time: Vec<usize> = (0..recorded.len()).collect();
    by_time.sort_by_key(|&index| recorded[index].took);
    for index in by_time {
        for (place, part, order) in &recorded[index].sites {
            let entry = reached.entry((place, part)).or_insert((*order, Vec::new()));
            entry.1.push(index);
        }
    }
    let mut mutants = Vec::new();
    for site in sites {
        let place = site.place();
        for (position, &written) in site.orders.iter().enumerate() {
            let parts = if position == 1 {
                &["Failure"][..]
            } else {
                &["Only", "Success"]
            };
            let found = parts
                .iter()
                .find_map(|part| Some((*part, reached.get(&(place.as_str(), *part))?)));
            if let Some((_, (order, _))) = found
                && *order != written
            {
                return Err(format!(
                    "{place} says {written}, but the models met {order}"
                ));
            }
            let kind = Kind::of(&site.call, position);
            mutants.extend(weakenings::of(written, kind).into_iter().map(|weakening| {
                Mutant {
                    site,
                    part: found.map_or(parts[0], |(part, _)| part),
                    written,
                    weakening,
                    models: found
                        .map(|(_, (_, models))| models.clone())
                        .unwrap_or_default(),
                }
            }));
        }
    }
    Ok(mutants)
}

/// The same few each time: the first of every file, then the second, and so on.
fn sample(mutants: Vec<Mutant<'_>>) -> Vec<Mutant<'_>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Mutant<'_>)> = Vec::new();
    for mutant in mutants {
        let rank = seen.entry(&mutant.site.file).or_default();
        ranked.push((*rank, mutant));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked
        .into_iter()
        .take(SAMPLE)
        .map(|(_, mutant)| mutant)
        .collect()
}

impl Mutant<'_> {
    fn site(&self) -> String {
        let file = self
            .site
            .file
            .trim_start_matches("crates/")
            .replacen("/src/", "/", 1);
        let id = self.site.ids.first().map_or("-", String::as_str);
        format!("{id} {file}:{}", self.site.line)
    }

    fn change(&self) -> String {
        let to = self
            .weakening
            .to
            .map_or("no fence".to_owned(), |to| to.to_string());
        let failure = if self.part == "Failure" {
            " on failure"
        } else {
            ""
        };
        format!("{}: {} to {to}{failure}", self.site.function, self.written)
    }

    fn describe(&self) -> String {
        format!("{} {}", self.site(), self.change())
    }

    fn reason<'a>(&self, rows: &'a Rows) -> Option<&'a str> {
        let site = self.site;
        let reason = rows.reason(&site.ids, self.weakening.lost, &site.function)?;
        Some(&reason.why)
    }

    fn verdict(&self, models: &[Model], recorded: &[Recorded], rows: &Rows) -> Verdict {
        let started = Instant::now();
        let fate = match (self.fate(models, recorded), self.reason(rows)) {
            (Fate::Survived { .. }, Some(why)) => Fate::Explained {
                why: why.to_owned(),
            },
            (Fate::Noticed { by, .. }, Some(_)) => Fate::Broken {
                why: format!("{TABLE} gives a reason why nothing notices it, but {by} does"),
            },
            (fate, _) => fate,
        };
        Verdict {
            site: self.site(),
            change: self.change(),
            fate,
            took: started.elapsed(),
        }
    }

    fn fate(&self, models: &[Model], recorded: &[Recorded]) -> Fate {
        let to = self
            .weakening
            .to
            .map_or("None".to_owned(), |to| to.to_string());
        let weaken = format!("{} {} {to}", self.site.place(), self.part);
        for &index in &self.models {
            let recorded = &recorded[index];
            let limit = LIMIT_MIN.max(recorded.took * LIMIT_FACTOR);
            let model = &models[recorded.model];
            match model.run(Some(PREEMPTIONS), &[("WHEEL_WEAKEN", &weaken)], limit) {
                Err(why) => return Fate::Broken { why },
                Ok(run) if run.end == End::Passed => {}
                Ok(run) => {
                    return Fate::Noticed {
                        by: recorded.name.clone(),
                        end: run.end,
                    };
                }
            }
        }
        let why = match self.models.len() {
            0 => "no model reaches it".to_owned(),
            count => format!("none of the {count} models that reach it fails"),
        };
        Fate::Survived { why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reported_site_is_read_with_and_without_the_test_in_front() {
        let site = (
            "crates/a.rs:1:2".to_owned(),
            "Only".to_owned(),
            Order::Release,
        );
        let line = "site crates/a.rs:1:2 store Only Release";
        assert_eq!(read_site(line), Some(site.clone()));
        assert_eq!(read_site(&format!("test x ... {line}")), Some(site));
        assert_eq!(read_site("model x: 3 executions"), None);
    }

    fn site(file: &str, orders: &[Order]) -> Site {
        Site {
            file: file.into(),
            line: 1,
            column: 2,
            call: "swap".into(),
            function: "take".into(),
            orders: orders.to_vec(),
            ids: vec![],
        }
    }

    fn recorded(part: &str, order: Order, took: u64) -> Recorded {
        Recorded {
            model: 0,
            name: "m".into(),
            took: Duration::from_secs(took),
            sites: BTreeSet::from([("a.rs:1:2".to_owned(), part.to_owned(), order)]),
        }
    }

    #[test]
    fn the_quickest_model_that_reaches_a_site_comes_first() {
        let sites = [
            site("a.rs", &[Order::AcqRel]),
            site("b.rs", &[Order::Acquire]),
        ];
        let recorded = [
            recorded("Only", Order::AcqRel, 9),
            recorded("Only", Order::AcqRel, 1),
        ];
        let mutants = mutants(&sites, &recorded).unwrap();
        let models: Vec<_> = mutants.iter().map(|mutant| mutant.models.clone()).collect();
        assert_eq!(models, [vec![1, 0], vec![1, 0], vec![]]);
    }

    #[test]
    fn a_scan_that_the_models_contradict_is_an_error() {
        let sites = [site("a.rs", &[Order::AcqRel])];
        assert!(mutants(&sites, &[recorded("Only", Order::Acquire, 1)]).is_err());
    }

    #[test]
    fn a_sample_takes_from_every_file() {
        let sites: Vec<Site> = ["a.rs"; 20]
            .iter()
            .map(|file| site(file, &[Order::Acquire]))
            .collect();
        let last = site("b.rs", &[Order::Acquire]);
        let mut all = mutants(&sites, &[]).unwrap();
        let other = [last];
        all.extend(mutants(&other, &[]).unwrap());
        let sample = sample(all);
        assert_eq!(sample.len(), SAMPLE);
        assert_eq!(sample[1].site.file, "b.rs");
    }
}
