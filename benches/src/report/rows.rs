//! One row per cell: figures over the rounds, and ratios within them. Pure.

use std::collections::BTreeMap;

use crate::Workload;
use crate::contestants::OURS;
use crate::measure::{Noise, Sample, Spread, median};
use crate::rounds::Taken;
use crate::workloads::Cell;

/// What is known of a cell after all rounds.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub cell: Cell,
    /// Rounds that succeeded.
    pub rounds: usize,
    /// By name.
    pub figures: BTreeMap<String, Spread>,
    /// The distribution, the median of the rounds at each point.
    pub curve: Vec<(f64, f64)>,
    /// To the heap, by the workload's primary figure: below 1 is better than it.
    pub to_heap: Option<f64>,
    /// To the best of the rivals other than itself, and which that is.
    pub to_best: Option<(String, f64)>,
    /// Why it has no figures, or fewer than rounds.
    pub failure: Option<String>,
    /// What disturbed it.
    pub noise: Vec<Noise>,
}

impl Row {
    /// The figure that engines are compared by.
    pub fn primary(&self) -> Option<Spread> {
        self.figure(self.cell.workload.primary())
    }

    /// A figure by its name.
    pub fn figure(&self, name: &str) -> Option<Spread> {
        self.figures.get(name).copied()
    }

    /// Whether it was disturbed, and how.
    pub fn disturbed(&self) -> (bool, String) {
        crate::measure::verdict(&self.noise)
    }

    /// Whether it is one of ours.
    pub fn is_ours(&self) -> bool {
        OURS.contains(&self.cell.engine.as_str())
    }

    /// Workload, pending, threads: rows that have them alike are compared with each other.
    pub fn stand(&self) -> Stand {
        (self.cell.workload, self.cell.pending, self.cell.threads)
    }

    /// Whether two rows are compared with each other.
    pub fn is_beside(&self, other: &Row) -> bool {
        self.stand() == other.stand()
    }
}

/// What is compared with each other.
pub(super) type Stand = (Workload, u64, usize);

/// The row of an engine, called with its variant.
pub(super) fn find<'r>(rows: &'r [Row], stand: Stand, engine: &str) -> Option<&'r Row> {
    let mut beside = rows.iter().filter(|row| row.stand() == stand);
    beside.find(|row| row.cell.name() == engine)
}

/// The rows of a group.
pub fn rows(taken: &[Taken]) -> Vec<Row> {
    let heap = taken.iter().find(|taken| taken.cell.engine == "heap");
    taken
        .iter()
        .map(|own| {
            let rivals = taken.iter().filter(|other| {
                !OURS.contains(&other.cell.engine.as_str()) && other.cell != own.cell
            });
            let best = rivals
                .filter_map(|rival| Some((rival, middle(rival)?)))
                .min_by(|(_, a), (_, b)| a.total_cmp(b));
            Row {
                cell: own.cell.clone(),
                rounds: own.samples.iter().flatten().count(),
                figures: figures(&own.samples),
                curve: curve(&own.samples),
                to_heap: heap.and_then(|heap| ratio(own, heap)),
                to_best: best.and_then(|(best, _)| Some((best.cell.name(), ratio(own, best)?))),
                failure: own.failure.clone(),
                noise: own.noise.clone(),
            }
        })
        .collect()
}

fn primary(cell: &Cell, sample: &Sample) -> Option<f64> {
    sample.get(cell.workload.primary())
}

fn middle(taken: &Taken) -> Option<f64> {
    let samples = taken.samples.iter().flatten();
    let values: Vec<f64> = samples
        .filter_map(|sample| primary(&taken.cell, sample))
        .collect();
    median(&values)
}

/// The median of the ratios within each round, in which both ran within seconds of each other.
fn ratio(own: &Taken, other: &Taken) -> Option<f64> {
    let pairs = own.samples.iter().zip(&other.samples);
    let ratios: Vec<f64> = pairs
        .filter_map(|(own_sample, other_sample)| {
            let own_value = primary(&own.cell, own_sample.as_ref()?)?;
            let other_value = primary(&other.cell, other_sample.as_ref()?)?;
            (other_value > 0.0).then(|| own_value / other_value)
        })
        .collect();
    median(&ratios)
}

fn figures(samples: &[Option<Sample>]) -> BTreeMap<String, Spread> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for sample in samples.iter().flatten() {
        for (name, value) in &sample.figures {
            values.entry(name.clone()).or_default().push(*value);
        }
    }
    let spreads = values
        .into_iter()
        .filter_map(|(name, values)| Some((name, Spread::of(&values)?)));
    spreads.collect()
}

fn curve(samples: &[Option<Sample>]) -> Vec<(f64, f64)> {
    let curves: Vec<&Vec<(f64, f64)>> = samples
        .iter()
        .flatten()
        .map(|sample| &sample.curve)
        .collect();
    let Some(first) = curves.first() else {
        return Vec::new();
    };
    let at = |point: usize| {
        let values = curves.iter().filter_map(|curve| curve.get(point));
        let values: Vec<f64> = values.map(|&(_, value)| value).collect();
        median(&values).unwrap_or(0.0)
    };
    let percents = first.iter().map(|&(percent, _)| percent).enumerate();
    percents
        .map(|(point, percent)| (percent, at(point)))
        .collect()
}

/// A number of timers in few letters: `1k`, `100k`, `1M`.
pub(super) fn short(count: u64) -> String {
    match count {
        millions if millions >= 1_000_000 && millions % 1_000_000 == 0 => {
            format!("{}M", millions / 1_000_000)
        }
        thousands if thousands >= 1_000 && thousands % 1_000 == 0 => {
            format!("{}k", thousands / 1_000)
        }
        other => other.to_string(),
    }
}

/// Where a row stands, such as `1M pending` or `2 threads`.
pub(super) fn place(workload: Workload, pending: u64, threads: usize) -> String {
    if workload.is_threaded() {
        let many = if threads == 1 { "" } else { "s" };
        return format!("{threads} thread{many}");
    }
    match workload {
        Workload::Tasks | Workload::SlowTasks => format!("{} tasks", short(pending)),
        Workload::Lateness | Workload::Idle | Workload::Storm | Workload::Timeouts => {
            format!("{} timers", short(pending))
        }
        _ => format!("{} pending", short(pending)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::measure::figure;

    /// What came of `engine` in `pair_fifo`, one value a round.
    pub(in crate::report) fn taken(engine: &str, ns: &[f64]) -> Taken {
        Taken {
            cell: Cell {
                workload: Workload::PairFifo,
                engine: engine.to_owned(),
                variant: String::new(),
                threads: 1,
                pending: 100_000,
            },
            samples: ns
                .iter()
                .map(|&ns| (ns > 0.0).then(|| Sample::new().with(figure::NS_PER_OP, ns)))
                .collect(),
            failure: ns.contains(&0.0).then(|| "failed".to_owned()),
            noise: vec![Noise::default(); ns.len()],
        }
    }

    #[test]
    fn a_ratio_is_taken_within_rounds_so_that_a_slow_round_slows_both() {
        let all = [
            taken("wheel", &[10.0, 50.0, 11.0]),
            taken("heap", &[20.0, 100.0, 22.0]),
        ];
        assert_eq!(rows(&all)[0].to_heap, Some(0.5));
        assert_eq!(rows(&all)[1].to_heap, Some(1.0));
    }

    #[test]
    fn the_best_rival_is_none_of_ours_and_not_oneself() {
        let all = [
            taken("wheel", &[10.0]),
            taken("local_wheel", &[1.0]),
            taken("heap", &[20.0]),
            taken("btree", &[40.0]),
        ];
        let rows = rows(&all);
        assert_eq!(rows[0].to_best, Some(("heap".to_owned(), 0.5)));
        assert_eq!(rows[2].to_best, Some(("btree".to_owned(), 0.5)));
    }

    #[test]
    fn a_round_that_failed_counts_in_no_figure() {
        let row = &rows(&[taken("wheel", &[10.0, 0.0, 30.0])])[0];
        let spread = row.primary().unwrap();
        assert_eq!((row.rounds, spread.min, spread.p50), (2, 10.0, 20.0));
        assert!(row.failure.is_some());
    }

    #[test]
    fn counts_are_short() {
        assert_eq!(short(1_000), "1k");
        assert_eq!(short(10_000_000), "10M");
        assert_eq!(short(500), "500");
    }
}
