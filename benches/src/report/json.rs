//! The JSON for programs: one object per row, with the same keys in each. Pure.
//!
//! `ns_per_op`, `mops`, `bytes_per_timer`, `tick_ns` and `lateness_us` are always there, and null
//! where a workload has no such figure. Other figures stand beside them by name, their medians.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Findings, Row, losses};
use crate::contestants::describe;
use crate::measure::figure;

/// All of it, readable.
pub fn write(findings: &Findings) -> String {
    let mut text = format!("{:#}", value(findings));
    text.push('\n');
    text
}

fn value(findings: &Findings) -> Value {
    let (noisy, note) = &findings.noise;
    let engines: BTreeSet<&str> = findings
        .rows
        .iter()
        .map(|row| row.cell.engine.as_str())
        .collect();
    let setups = engines
        .into_iter()
        .map(|name| (name.to_owned(), json!(describe(name))));
    let left_out = findings.left_out.iter().map(|left| {
        json!({
            "workload": left.workload.name(),
            "engine": left.engine,
            "reason": left.reason,
        })
    });
    json!({
        "machine": findings.machine,
        "noise": { "noisy": noisy, "note": note },
        "engines": setups.collect::<Map<String, Value>>(),
        "results": findings.rows.iter().map(result).collect::<Vec<Value>>(),
        "left_out": left_out.collect::<Vec<Value>>(),
        "losses": losses(&findings.rows),
    })
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

fn result(row: &Row) -> Value {
    let middle = |name: &str| row.figure(name).map(|spread| spread.p50);
    let tick = |key, name| (key, middle(name));
    let tick_ns = [
        tick("p999", figure::TICK_P999),
        tick("p9999", figure::TICK_P9999),
        tick("max", figure::TICK_MAX),
    ];
    let lateness_us = [
        tick("p50", figure::LATE_P50),
        tick("p99", figure::LATE_P99),
        tick("p999", figure::LATE_P999),
        tick("max", figure::LATE_MAX),
    ];
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("workload", json!(row.cell.workload.name()));
    put("engine", json!(row.cell.engine));
    if !row.cell.variant.is_empty() {
        put("variant", json!(row.cell.variant));
    }
    put("threads", json!(row.cell.threads));
    put("pending", json!(row.cell.pending));
    put("rounds", json!(row.rounds));
    put("ns_per_op", json!(row.figure(figure::NS_PER_OP)));
    put("mops", json!(middle(figure::MOPS)));
    put("bytes_per_timer", json!(middle(figure::BYTES_PER_TIMER)));
    put("tick_ns", group(&tick_ns));
    put("lateness_us", group(&lateness_us));
    put("ratio_to_heap", json!(row.to_heap));
    let best = row.to_best.as_ref();
    put("ratio_to_best_rival", json!(best.map(|(_, ratio)| ratio)));
    put("best_rival", json!(best.map(|(name, _)| name)));
    for (name, spread) in &row.figures {
        if !PLACED.contains(&name.as_str()) {
            put(&name.replace('.', "_"), json!(spread.p50));
        }
    }
    if let Some(failure) = &row.failure {
        put("failure", json!(failure));
    }
    Value::Object(object)
}

/// An object, or null when none of it is known.
fn group(figures: &[(&str, Option<f64>)]) -> Value {
    if figures.iter().all(|(_, value)| value.is_none()) {
        return Value::Null;
    }
    let fields = figures.iter();
    Value::Object(
        fields
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;
    use crate::Workload;
    use crate::measure::Machine;
    use crate::plan::LeftOut;

    fn findings() -> Findings {
        let mut wheel = taken("wheel", &[10.0, 12.0, 11.0]);
        let first = wheel.samples[0].take().unwrap();
        wheel.samples[0] = Some(
            first
                .with(figure::TICK_MAX, 500.0)
                .with(figure::DRIVER_NS_PER_OP, 3.0),
        );
        let left_out = LeftOut {
            workload: Workload::FireAll,
            engine: "async_io".to_owned(),
            reason: "has only the real clock".to_owned(),
        };
        let rows = rows(&[wheel, taken("heap", &[20.0, 24.0, 22.0])]);
        Findings::new(Machine::this(), rows, vec![left_out])
    }

    #[test]
    fn a_result_has_every_key_that_a_reader_counts_on() {
        let read: Value = serde_json::from_str(&write(&findings())).unwrap();
        assert!(read["machine"]["cpu"].is_string() && read["machine"]["cores"].is_u64());
        let result = &read["results"][0];
        assert_eq!(result["workload"], "pair_fifo");
        assert_eq!(result["engine"], "wheel");
        assert_eq!(result["threads"], 1);
        assert_eq!(result["pending"], 100_000);
        assert_eq!(result["rounds"], 3);
        assert_eq!(
            result["ns_per_op"],
            json!({ "min": 10.0, "p50": 11.0, "max": 12.0 })
        );
        assert_eq!(result["tick_ns"]["max"], 500.0);
        assert_eq!(result["driver_ns_per_op"], 3.0);
        assert_eq!(result["ratio_to_heap"], 0.5);
        assert_eq!(result["best_rival"], "heap");
        for key in ["mops", "bytes_per_timer", "lateness_us"] {
            assert_eq!(result.get(key), Some(&Value::Null), "{key}");
        }
        assert_eq!(read["left_out"][0]["reason"], "has only the real clock");
    }
}
