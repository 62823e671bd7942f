//! `cargo xtask bench --counts`: instructions per operation, held to a band.
//!
//! callgrind counts the same on a busy machine as on an idle one, so these can be held where times
//! cannot. The counts that stand in `benches/counts.json` belong to one compiler; another one makes
//! other code, so then they are printed and not held. `--counts --accept` writes what was counted.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::step::{cargo, execute, output_of, root};

const RUNNER: &str = "gungraun-runner";
const RUNNER_VERSION: &str = "=0.20.0";
/// What each bench of `benches/benches/counts.rs` does.
const OPERATIONS: f64 = 1_000.0;
/// How far a count may be off, in percent, in a file that says nothing.
const BAND_PERCENT: f64 = 3.0;

/// Whether counts are compared or written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Hold,
    Accept,
}

/// Counts, and holds or writes. Without valgrind there is nothing to be done, which is said.
pub(super) fn run(purpose: Purpose) -> Result<(), String> {
    if output_of(Command::new("valgrind").arg("--version")).is_err() {
        println!("No valgrind here: instructions were not counted, and are not held.");
        return Ok(());
    }
    let runner = match runner() {
        Ok(runner) => runner,
        Err(error) => {
            println!("{error}\nNo {RUNNER} here: instructions were not counted, and are not held.");
            return Ok(());
        }
    };
    let mut bench = cargo(&[
        "bench",
        "--locked",
        "-p",
        "wheel-benches",
        "--bench",
        "counts",
    ]);
    bench.args(["--features", "counts", "--", "--output-format=json"]);
    println!("Counting instructions with callgrind.");
    let printed = output_of(bench.env("GUNGRAUN_RUNNER", runner))?;
    let counted = counts(&printed);
    if counted.is_empty() {
        return Err("the benches printed no counts".to_owned());
    }
    let compiler = Compiler::of(&output_of(Command::new("rustc").arg("-vV"))?);
    let file = root().join("benches").join("counts.json");
    match purpose {
        Purpose::Accept => accept(&file, &counted, &compiler),
        Purpose::Hold => hold(&file, &counted, &compiler),
    }
}

/// What makes the code that is counted: another version, or one for another machine, makes other
/// code.
#[derive(Debug, PartialEq)]
struct Compiler {
    version: String,
    host: String,
}

impl Compiler {
    /// From what `rustc -vV` prints.
    fn of(printed: &str) -> Compiler {
        let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
        Compiler {
            version: printed.lines().next().unwrap_or_default().to_owned(),
            host: host.unwrap_or("unknown").to_owned(),
        }
    }

    /// Whether it has made the counts of a file; one that names no host is taken at its version.
    fn is_of(&self, bounds: &Value) -> bool {
        let host = &bounds["host"];
        bounds["compiler"] == *self.version && (host.is_null() || *host == *self.host)
    }
}

/// Instructions per operation by the name of the bench.
type Counts = Vec<(String, f64)>;

/// The program that starts the benches under valgrind, installed under `target/` if it is not yet.
fn runner() -> Result<PathBuf, String> {
    let tools = root().join("target").join("tools");
    let program = tools.join("bin").join(RUNNER);
    if !program.exists() {
        let mut install = cargo(&["install", "--locked", RUNNER, "--version", RUNNER_VERSION]);
        execute(install.arg("--root").arg(&tools))?;
    }
    Ok(program)
}

/// From what the benches print: an object per bench, which holds `Ir` somewhere among its profiles.
fn counts(printed: &str) -> Counts {
    let objects = serde_json::Deserializer::from_str(printed).into_iter::<Value>();
    let counted = objects.flatten().filter_map(|object| {
        let name = object["function_name"].as_str()?.to_owned();
        let instructions = find(object.get("profiles")?, "Ir")?;
        Some((name, newest(&instructions["values"])? / OPERATIONS))
    });
    counted.collect()
}

/// The first value of `key`, at any depth.
fn find<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields
            .get(key)
            .or_else(|| fields.values().find_map(|field| find(field, key))),
        Value::Array(items) => items.iter().find_map(|item| find(item, key)),
        _ => None,
    }
}

/// The first number: a value stands alone, or before the one of an earlier run.
fn newest(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Object(fields) => match fields.get("New").or_else(|| fields.get("new")) {
            Some(new) => newest(new),
            None => fields.values().find_map(newest),
        },
        Value::Array(items) => items.iter().find_map(newest),
        _ => None,
    }
}

fn accept(file: &Path, counted: &Counts, compiler: &Compiler) -> Result<(), String> {
    let counts: Map<String, Value> = counted
        .iter()
        .map(|(name, count)| (name.clone(), json!((count * 10.0).round() / 10.0)))
        .collect();
    let text = format!(
        "{:#}\n",
        json!({
            "compiler": compiler.version,
            "host": compiler.host,
            "band_percent": BAND_PERCENT,
            "instructions_per_operation": counts,
        })
    );
    std::fs::write(file, text).map_err(|error| format!("cannot write the counts: {error}"))?;
    println!("{} counts were written.", counted.len());
    Ok(())
}

fn hold(file: &Path, counted: &Counts, compiler: &Compiler) -> Result<(), String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let bounds: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{} is no JSON: {error}", file.display()))?;
    let (table, outside) = compare(&bounds, counted);
    print!("{table}");
    if !compiler.is_of(&bounds) {
        println!(
            "Not held: {} for {} has made the code, and the counts of the file are of {} for {}.",
            compiler.version, compiler.host, bounds["compiler"], bounds["host"]
        );
        return Ok(());
    }
    if outside.is_empty() {
        println!("All within the band.");
        return Ok(());
    }
    Err(format!(
        "outside of the band: {}; if that is meant, `cargo xtask bench --counts --accept`",
        outside.join(", ")
    ))
}

/// A table of all counts, and the names of those that are outside of the band or not in the file.
fn compare(bounds: &Value, counted: &Counts) -> (String, Vec<String>) {
    let band = bounds["band_percent"].as_f64().unwrap_or(BAND_PERCENT);
    let mut table = format!(
        "  {:<20} {:>10} {:>10}\n",
        "instructions", "counted", "held to"
    );
    let mut outside = Vec::new();
    for (name, count) in counted {
        let bound = bounds["instructions_per_operation"][name].as_f64();
        let off = bound.map(|bound| (count - bound) / bound * 100.0);
        let note = match off {
            Some(off) if off.abs() <= band => format!("{off:+.1}%"),
            Some(off) => format!("{off:+.1}%, the band is {band}%"),
            None => "not in the file".to_owned(),
        };
        if off.is_none_or(|off| off.abs() > band) {
            outside.push(name.clone());
        }
        let bound = bound.map_or("-".to_owned(), |bound| format!("{bound:.1}"));
        table.push_str(&format!("  {name:<20} {count:>10.1} {bound:>10}  {note}\n"));
    }
    (table, outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_what_the_benches_print() {
        let both = r#"{"function_name":"cancel","profiles":[{"data":{"total":{"summary":
            {"Callgrind":{"Ir":{"values":{"Both":[{"Int":41000},{"Int":50000}]}}}}}}}]}
            {"function_name":"insert","profiles":[{"data":{"total":{"summary":
            {"Callgrind":{"Ir":{"values":{"Left":{"Int":52000}}}}}}}}]}"#;
        let counted = counts(both);
        assert_eq!(
            counted,
            [("cancel".to_owned(), 41.0), ("insert".to_owned(), 52.0)]
        );
    }

    #[test]
    fn a_compiler_is_known_by_its_version_and_its_machine() {
        let own = Compiler::of("rustc 1.95.0 (5980)\nbinary: rustc\nhost: x86_64-linux\n");
        let of =
            |version: &str, host: Value| own.is_of(&json!({ "compiler": version, "host": host }));
        assert!(of("rustc 1.95.0 (5980)", json!("x86_64-linux")));
        assert!(of("rustc 1.95.0 (5980)", Value::Null));
        assert!(!of("rustc 1.95.0 (5980)", json!("aarch64-linux")));
        assert!(!of("rustc 1.96.0 (1234)", json!("x86_64-linux")));
    }

    #[test]
    fn a_count_outside_of_the_band_is_named_whichever_way() {
        let bounds = json!({
            "band_percent": 3.0,
            "instructions_per_operation": { "same": 100.0, "more": 100.0, "less": 100.0 },
        });
        let counted = [
            ("same", 102.0),
            ("more", 104.0),
            ("less", 96.0),
            ("new", 1.0),
        ];
        let counted = counted
            .map(|(name, count)| (name.to_owned(), count))
            .to_vec();
        let (table, outside) = compare(&bounds, &counted);
        assert_eq!(outside, ["more", "less", "new"]);
        assert!(table.contains("+4.0%, the band is 3%"), "{table}");
    }
}
