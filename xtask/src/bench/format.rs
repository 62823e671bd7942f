//! Holds what `bench --json` has written to the format that other programs count on. Pure.
//!
//! A reader of its own, which knows nothing of the program that writes: names and keys are said
//! here once more, so that a change on one side alone is noticed.

use serde_json::Value;

/// Workloads and engines, by the names that readers know them by.
const WORKLOADS: &[&str] = &[
    "pair_fifo",
    "pair_random",
    "insert",
    "fire_all",
    "tick_max",
    "sparse",
    "memory",
    "mt_local",
    "mt_remote",
    "mt_jitter",
    "two_wheels",
    "driver",
    "lateness",
    "idle",
    "storm",
    "tasks",
    "slow_tasks",
];
const ENGINES: &[&str] = &[
    "wheel",
    "local_wheel",
    "heap",
    "std_binary_heap",
    "btree",
    "mutex_wheel",
    "mutex_wheel_per_thread",
    "tokio",
    "delay_queue",
    "hash_wheel_timer",
    "pingora_timeout",
    "async_io",
];

/// What every result has: a figure, or null where its workload has none such.
const NULL_OR_NUMBER: &[&str] = &["mops", "bytes_per_timer"];
const NULL_OR_OBJECT: &[(&str, &[&str])] = &[
    ("ns_per_op", &["min", "p50", "max"]),
    ("tick_ns", &["p999", "p9999", "max"]),
    ("lateness_us", &["p50", "p99", "p999", "max"]),
];

/// Every result has one of these.
const PRIMARY: &[&str] = &[
    "ns_per_op",
    "bytes_per_timer",
    "lateness_us",
    "wake_ups_per_s",
];

/// What a run holds that is well formed and in which nothing has failed: how many results. Else all
/// that is wrong with it.
pub(super) fn check(text: &str) -> Result<usize, String> {
    let document: Value =
        serde_json::from_str(text).map_err(|error| format!("it is no JSON: {error}"))?;
    let mut faults = Vec::new();
    let machine = &document["machine"];
    if !machine["cpu"].is_string() || !machine["cores"].is_u64() {
        faults.push("`machine` has no `cpu` or no `cores`".to_owned());
    }
    let results = document["results"].as_array();
    let results = results.filter(|results| !results.is_empty());
    let Some(results) = results else {
        faults.push("`results` is no list, or an empty one".to_owned());
        return Err(faults.join("; "));
    };
    for (index, result) in results.iter().enumerate() {
        let wrong = faults_of(result);
        let name = |key: &str| result[key].as_str().unwrap_or("?").to_owned();
        let place = format!("result {index}, {}/{}", name("workload"), name("engine"));
        faults.extend(wrong.into_iter().map(|fault| format!("{place}: {fault}")));
    }
    if faults.is_empty() {
        return Ok(results.len());
    }
    Err(faults.join("; "))
}

fn faults_of(result: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for (key, names) in [("workload", WORKLOADS), ("engine", ENGINES)] {
        if !result[key]
            .as_str()
            .is_some_and(|name| names.contains(&name))
        {
            faults.push(format!(
                "`{key}` is {}, not a name that is known",
                result[key]
            ));
        }
    }
    for key in ["threads", "pending"] {
        if !result[key].is_u64() {
            faults.push(format!("`{key}` is {}, not a number", result[key]));
        }
    }
    if let Some(failure) = result.get("failure") {
        faults.push(format!("it has failed: {failure}"));
    } else if result["rounds"].as_u64().is_none_or(|rounds| rounds == 0) {
        faults.push(format!("`rounds` is {}", result["rounds"]));
    }
    for &key in NULL_OR_NUMBER {
        match result.get(key) {
            Some(value) if value.is_null() || value.is_f64() => {}
            other => faults.push(format!("`{key}` is {other:?}, not a number or null")),
        }
    }
    for &(key, fields) in NULL_OR_OBJECT {
        match result.get(key) {
            Some(Value::Null) => {}
            Some(Value::Object(object)) if is_spread(object, fields) => {}
            other => faults.push(format!(
                "`{key}` is {other:?}, not null or numbers called {}",
                fields.join(", ")
            )),
        }
    }
    let known = |key: &str| result[key].is_object() || result[key].is_number();
    if !PRIMARY.iter().any(|key| known(key)) && result["failure"].is_null() {
        faults.push("it has no figure".to_owned());
    }
    faults
}

/// Numbers under these names, in order of size, and none below 0.
fn is_spread(object: &serde_json::Map<String, Value>, fields: &[&str]) -> bool {
    let numbers: Option<Vec<f64>> = fields
        .iter()
        .map(|field| object.get(*field)?.as_f64())
        .collect();
    object.len() == fields.len() && numbers.is_some_and(|all| all[0] >= 0.0 && all.is_sorted())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        json!({
            "machine": { "cpu": "some", "cores": 2 },
            "results": [{
                "workload": "tick_max", "engine": "heap", "threads": 1, "pending": 1_000_000,
                "rounds": 3, "ns_per_op": { "min": 1.0, "p50": 2.0, "max": 3.0 },
                "mops": null, "bytes_per_timer": null,
                "tick_ns": { "p999": 1.0, "p9999": 2.0, "max": 2.0 }, "lateness_us": null,
            }],
        })
    }

    /// What is wrong once `change` was made to the one result.
    fn wrong(change: impl FnOnce(&mut Value)) -> String {
        let mut document = good();
        change(&mut document["results"][0]);
        check(&document.to_string()).unwrap_err()
    }

    #[test]
    fn what_is_well_formed_is_counted() {
        assert_eq!(check(&good().to_string()), Ok(1));
    }

    #[test]
    fn a_failed_cell_fails_with_its_place_and_reason() {
        let wrong = wrong(|result| result["failure"] = json!("lost a timer"));
        assert_eq!(
            wrong,
            "result 0, tick_max/heap: it has failed: \"lost a timer\""
        );
    }

    #[test]
    fn a_name_that_nobody_knows_or_a_key_that_is_gone_is_found() {
        assert!(wrong(|r| r["workload"] = json!("tick")).contains("`workload` is \"tick\""));
        assert!(wrong(|r| r["engine"] = json!("weel")).contains("`engine` is \"weel\""));
        let keys = [
            "mops",
            "bytes_per_timer",
            "ns_per_op",
            "tick_ns",
            "lateness_us",
            "threads",
            "pending",
            "rounds",
        ];
        for key in keys {
            let wrong = wrong(|result| drop(result.as_object_mut().unwrap().remove(key)));
            assert!(wrong.contains(&format!("`{key}` is ")), "{wrong}");
        }
    }

    #[test]
    fn figures_that_are_no_spread_are_found() {
        let others = [
            json!(12.5),
            json!({ "min": 1.0, "max": 3.0 }),
            json!({ "min": 2.0, "p50": 1.0, "max": 3.0 }),
            json!({ "min": -1.0, "p50": 1.0, "max": 3.0 }),
        ];
        for other in others {
            assert!(
                wrong(|r| r["ns_per_op"] = other.clone()).contains("`ns_per_op`"),
                "{other}"
            );
        }
        let nothing = wrong(|result| result["ns_per_op"] = Value::Null);
        assert!(nothing.contains("it has no figure"), "{nothing}");
    }

    #[test]
    fn an_empty_run_is_no_run() {
        let mut none = good();
        none["results"] = json!([]);
        assert!(check(&none.to_string()).unwrap_err().contains("empty"));
        assert!(check("").unwrap_err().starts_with("it is no JSON"));
        none["machine"] = Value::Null;
        assert!(check(&none.to_string()).unwrap_err().contains("`machine`"));
    }
}
