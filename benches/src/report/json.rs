//! The JSON that a run writes, for programs and for a later run: one object per row, with the same
//! keys in each.
//!
//! `ns_per_op`, `mops`, `bytes_per_timer`, `tick_ns` and `lateness_us` are always there, and null
//! where a workload has no such figure. Other figures stand beside them by name, their medians;
//! `spreads` has every figure with its least and its most, by the name that the tables use.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Findings, Row, losses};
use crate::contestants::describe;
use crate::measure::{Machine, Spread, figure};
use crate::workloads::Effort;

/// Which shape of the file this is; another one is refused when it is read.
const FORMAT: u64 = 1;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    format: u64,
    /// `quick` or `full`: how much work each cell was given.
    pub(super) effort: String,
    pub(super) machine: Machine,
    pub(super) noise: Note,
    engines: BTreeMap<String, String>,
    pub(super) results: Vec<Entry>,
    left_out: Vec<Left>,
    losses: Vec<String>,
}

/// Whether the run was disturbed, and in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) noisy: bool,
    note: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Left {
    workload: String,
    engine: String,
    reason: String,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    workload: String,
    engine: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    variant: String,
    threads: usize,
    pending: u64,
    rounds: usize,
    ns_per_op: Option<Spread>,
    mops: Option<f64>,
    bytes_per_timer: Option<f64>,
    tick_ns: Option<TickNs>,
    lateness_us: Option<LatenessUs>,
    ratio_to_heap: Option<f64>,
    ratio_to_best_rival: Option<f64>,
    best_rival: Option<String>,
    pub(super) spreads: BTreeMap<String, Spread>,
    /// Whether this row was disturbed.
    pub(super) noisy: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<String>,
    /// Medians of the figures that have no place above.
    #[serde(flatten)]
    others: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TickNs {
    p999: Option<f64>,
    p9999: Option<f64>,
    max: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LatenessUs {
    p50: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    max: Option<f64>,
}

/// The figures that have a place of their own.
const PLACED: &[&str] = &[
    figure::NS_PER_OP,
    figure::MOPS,
    figure::BYTES_PER_TIMER,
    figure::TICK_P999,
    figure::TICK_P9999,
    figure::TICK_MAX,
    figure::LATE_P50,
    figure::LATE_P99,
    figure::LATE_P999,
    figure::LATE_MAX,
];

/// What a run has found, as it is written.
pub fn document(findings: &Findings) -> Document {
    let (noisy, note) = findings.noise.clone();
    let engines = findings.rows.iter().filter_map(|row| {
        let name = row.cell.engine.clone();
        Some((name, describe(&row.cell.engine)?.to_owned()))
    });
    let left_out = findings.left_out.iter().map(|left| Left {
        workload: left.workload.name().to_owned(),
        engine: left.engine.clone(),
        reason: left.reason.clone(),
    });
    Document {
        format: FORMAT,
        effort: match findings.effort {
            Effort::Quick => "quick".to_owned(),
            Effort::Full => "full".to_owned(),
        },
        machine: findings.machine.clone(),
        noise: Note { noisy, note },
        engines: engines.collect(),
        results: findings.rows.iter().map(entry).collect(),
        left_out: left_out.collect(),
        losses: losses(&findings.rows),
    }
}

fn entry(row: &Row) -> Entry {
    let middle = |name: &str| row.figure(name).map(|spread| spread.p50);
    let tick_ns = TickNs {
        p999: middle(figure::TICK_P999),
        p9999: middle(figure::TICK_P9999),
        max: middle(figure::TICK_MAX),
    };
    let lateness_us = LatenessUs {
        p50: middle(figure::LATE_P50),
        p99: middle(figure::LATE_P99),
        p999: middle(figure::LATE_P999),
        max: middle(figure::LATE_MAX),
    };
    let best = row.to_best.as_ref();
    let others = row.figures.iter();
    let others = others.filter(|(name, _)| !PLACED.contains(&name.as_str()));
    Entry {
        workload: row.cell.workload.name().to_owned(),
        engine: row.cell.engine.clone(),
        variant: row.cell.variant.clone(),
        threads: row.cell.threads,
        pending: row.cell.pending,
        rounds: row.rounds,
        ns_per_op: row.figure(figure::NS_PER_OP),
        mops: middle(figure::MOPS),
        bytes_per_timer: middle(figure::BYTES_PER_TIMER),
        tick_ns: tick_ns.max.is_some().then_some(tick_ns),
        lateness_us: lateness_us.max.is_some().then_some(lateness_us),
        ratio_to_heap: row.to_heap,
        ratio_to_best_rival: best.map(|(_, ratio)| *ratio),
        best_rival: best.map(|(name, _)| name.clone()),
        spreads: row.figures.clone(),
        noisy: row.disturbed().0,
        failure: row.failure.clone(),
        others: others
            .map(|(name, spread)| (name.replace('.', "_"), spread.p50))
            .collect(),
    }
}

impl Document {
    /// As it is written to a file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("numbers and strings can be written") + "\n"
    }

    /// From the text of a file; what is wrong with it, if it is none of ours.
    fn from_text(text: &str) -> Result<Document, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
        match value.get("format") {
            Some(format) if *format == FORMAT => {}
            Some(format) => {
                return Err(format!(
                    "has `format` {format}, and this program reads {FORMAT}: measure it again, or \
                     compare with the program that wrote it"
                ));
            }
            None if value.get("results").is_some() && value.get("machine").is_some() => {
                return Err(
                    "has no `format`: a program wrote it that is older than the first one; \
                            measure it again"
                        .to_owned(),
                );
            }
            None => {
                return Err("has no `format`: it is not what `bench --json` writes".to_owned());
            }
        }
        serde_json::from_value(value)
            .map_err(|error| format!("is not what `bench --json` writes: {error}"))
    }
}

/// Reads what an earlier run has written with `--json`.
pub fn read(path: &Path) -> Result<Document, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("`--against`: cannot read {}: {error}", path.display()))?;
    Document::from_text(&text).map_err(|wrong| format!("`--against`: {} {wrong}", path.display()))
}

impl Entry {
    /// `WORKLOAD/ENGINE`, as `--only` sees it.
    pub(super) fn label(&self) -> String {
        let name = if self.variant.is_empty() {
            self.engine.clone()
        } else {
            format!("{}:{}", self.engine, self.variant)
        };
        format!("{}/{name}", self.workload)
    }

    /// The label, and where it was measured.
    pub(super) fn line(&self) -> String {
        let place = match self.workload.parse() {
            Ok(workload) => super::rows::place(workload, self.pending, self.threads),
            Err(_) => format!("{} pending, {} threads", self.pending, self.threads),
        };
        format!("{}, {place}", self.label())
    }

    /// Whether two rows are of the same cell.
    pub(super) fn is_same_cell(&self, other: &Entry) -> bool {
        let cell = |entry: &Entry| (entry.label(), entry.threads, entry.pending);
        cell(self) == cell(other)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::super::rows::{rows, tests::taken};
    use super::*;
    use crate::Workload;
    use crate::plan::LeftOut;

    fn findings() -> Findings {
        let mut wheel = taken("wheel", &[10.0, 12.0, 11.0]);
        let first = wheel.samples[0].take().unwrap();
        wheel.samples[0] = Some(
            first
                .with(figure::TICK_MAX, 500.0)
                .with("start_ms.p99", 3.0),
        );
        let left_out = LeftOut {
            workload: Workload::FireAll,
            engine: "async_io".to_owned(),
            reason: "has only the real clock".to_owned(),
        };
        let failed = taken("btree", &[0.0, 0.0, 0.0]);
        let rows = rows(&[wheel, taken("heap", &[20.0, 24.0, 22.0]), failed]);
        Findings::new(Effort::Full, Machine::this(), rows, vec![left_out])
    }

    #[test]
    fn a_result_has_every_key_that_a_reader_counts_on() {
        let read: Value = serde_json::from_str(&document(&findings()).text()).unwrap();
        assert!(read["machine"]["cpu"].is_string() && read["machine"]["cores"].is_u64());
        let result = &read["results"][0];
        assert_eq!(result["workload"], "pair_fifo");
        assert_eq!(result["engine"], "wheel");
        assert_eq!(result["threads"], 1);
        assert_eq!(result["pending"], 100_000);
        assert_eq!(result["rounds"], 3);
        let spread = json!({ "min": 10.0, "p50": 11.0, "max": 12.0 });
        assert_eq!(result["ns_per_op"], spread);
        assert_eq!(result["spreads"]["ns_per_op"], spread);
        assert_eq!(
            result["tick_ns"],
            json!({ "p999": null, "p9999": null, "max": 500.0 })
        );
        assert_eq!(result["start_ms_p99"], 3.0);
        assert_eq!(result["ratio_to_heap"], 0.5);
        assert_eq!(result["best_rival"], "heap");
        for key in ["mops", "bytes_per_timer", "lateness_us"] {
            assert_eq!(result.get(key), Some(&Value::Null), "{key}");
        }
        assert_eq!(read["results"][2]["failure"], "failed");
        assert_eq!(read["left_out"][0]["reason"], "has only the real clock");
    }

    #[test]
    fn what_is_written_is_read_again_as_it_was() {
        let written = document(&findings());
        assert_eq!(Document::from_text(&written.text()), Ok(written));
    }

    #[test]
    fn every_workload_and_engine_has_a_name_that_is_read_again() {
        for &workload in Workload::ALL {
            for &engine in crate::contestants::ALL {
                let mut one = taken(engine, &[1.0]);
                one.cell.workload = workload;
                one.cell.variant = "other".to_owned();
                let written = entry(&rows(&[one])[0]);
                let text = serde_json::to_string(&written).unwrap();
                let read: Entry = serde_json::from_str(&text).unwrap();
                assert_eq!(read, written);
                assert_eq!(read.label(), format!("{workload}/{engine}:other"));
            }
        }
    }

    fn refused(change: impl FnOnce(&mut Value)) -> String {
        let mut value = serde_json::to_value(document(&findings())).unwrap();
        change(&mut value);
        Document::from_text(&value.to_string()).unwrap_err()
    }

    #[test]
    fn a_file_that_is_none_of_ours_is_refused_in_words() {
        assert!(
            Document::from_text("not {")
                .unwrap_err()
                .starts_with("is no JSON: ")
        );
        let other = Document::from_text("{\"rows\": []}").unwrap_err();
        assert!(other.contains("not what `bench --json` writes"), "{other}");
        let older = refused(|value| {
            value.as_object_mut().unwrap().remove("format");
        });
        assert!(
            older.contains("older") && older.contains("measure it again"),
            "{older}"
        );
        let newer = refused(|value| value["format"] = json!(2));
        assert!(
            newer.contains("`format` 2") && newer.contains("reads 1"),
            "{newer}"
        );
        let broken = refused(|value| value["results"][0]["pending"] = json!("many"));
        assert!(
            broken.contains("not what `bench --json` writes: invalid type"),
            "{broken}"
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = read(Path::new("/no/such/file.json")).unwrap_err();
        assert!(
            error.starts_with("`--against`: cannot read /no/such/file.json: "),
            "{error}"
        );
    }
}
