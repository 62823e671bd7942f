//! What only some crates may use: threads and atomics, and the clock.
//!
//! Threads, atomics and locks come from `wheel-sync`, so that the model checker can put its own in
//! their place. That goes for everything that ships and for the models themselves: a lock of std in
//! a model is invisible to it. Tests, benches and examples never run under the model and are free.
//! Time is read in `crates/runtime/src/clock/` only, so that `ManualClock` rules all of it. The
//! command may look at the clock for what it shows a person.

use super::imports::imports;
use super::source::is_word;
use super::tree::{File, Tree};
use super::{Finding, Rule};

/// Paths below `std` or `core`, and below `std::sync`, that come from `wheel-sync` instead.
const THREADS: &[&str] = &[
    "thread",
    "sync::atomic",
    "sync::Mutex",
    "sync::RwLock",
    "sync::Condvar",
    "sync::Barrier",
    "sync::mpsc",
];
const CLOCKS: &[&str] = &[
    "Instant::now",
    "SystemTime::now",
    "clock_gettime",
    "_rdtsc",
    "__rdtscp",
];
const CLOCK_FOLDERS: &[&str] = &["crates/runtime/src/clock/", "crates/cli/"];

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "sync-only",
        about: "threads, atomics and locks come from wheel-sync",
        check: sync_only,
    },
    Rule {
        name: "clock-only",
        about: "time is read in crates/runtime/src/clock/ only",
        check: clock_only,
    },
];

fn sync_only(tree: &Tree) -> Vec<Finding> {
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| under_the_model(file)) {
        let code = product_text(file);
        let named = imports(&code)
            .into_iter()
            .map(|import| (import.line, import.path));
        let mut lines: Vec<(usize, String)> = named.chain(paths_in(&code)).collect();
        lines.retain(|(_, path)| is_of_threads(path));
        lines.sort();
        lines.dedup_by_key(|(line, _)| *line);
        for (line, path) in lines {
            wrong.push(Finding::at(
                file,
                line,
                format!("`{path}`: take it from wheel_sync, which loom can replace"),
            ));
        }
    }
    wrong
}

fn under_the_model(file: &File) -> bool {
    let ships = file.is_product() && file.crate_folder() != Some("sync");
    ships
        || ["loom-tests/", "shuttle-tests/"]
            .iter()
            .any(|folder| file.path.starts_with(folder))
}

/// The paths in code that begin with `std` or `core`, with their lines.
fn paths_in(code: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for root in ["std::", "core::"] {
            for (start, _) in line
                .match_indices(root)
                .filter(|(start, _)| !line[..*start].ends_with(is_word))
            {
                let length = line[start..].find(|c: char| !is_word(c) && c != ':');
                let path = &line[start..length.map_or(line.len(), |length| start + length)];
                paths.push((index + 1, path.to_owned()));
            }
        }
    }
    paths
}

fn is_of_threads(path: &str) -> bool {
    let Some(inside) = path
        .strip_prefix("std::")
        .or_else(|| path.strip_prefix("core::"))
    else {
        return false;
    };
    THREADS.iter().any(|banned| {
        inside
            .strip_prefix(banned)
            .is_some_and(|rest| !rest.starts_with(is_word))
    })
}

fn clock_only(tree: &Tree) -> Vec<Finding> {
    let free = |file: &File| {
        CLOCK_FOLDERS
            .iter()
            .any(|folder| file.path.starts_with(folder))
    };
    let mut wrong = Vec::new();
    for file in tree.rust().filter(|file| file.is_product() && !free(file)) {
        for (line, code) in file.product_code() {
            if let Some(read) = CLOCKS.iter().find(|read| code.contains(**read)) {
                wrong.push(Finding::at(
                    file,
                    line,
                    format!("`{read}`: ask the Clock of crates/runtime/src/clock/"),
                ));
            }
        }
    }
    wrong
}

fn product_text(file: &File) -> String {
    file.product_code()
        .map(|(_, code)| format!("{code}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    #[test]
    fn threads_and_atomics_of_std_are_found_however_they_are_named() {
        let bad = "use std::{\n    fmt,\n    thread,\n};\nuse core::sync::atomic::AtomicU8;\nstd::thread::yield_now();\n\
                   let m = std::sync::Mutex::new(1);\n";
        assert_eq!(
            found(RULES, "sync-only", &[("crates/runtime/src/a.rs", bad)]).len(),
            4
        );
    }

    #[test]
    fn what_loom_need_not_replace_is_left_alone() {
        let good = "use std::sync::{Arc, OnceLock, Weak};\nuse wheel_sync::{Mutex, atomic::AtomicU8, thread};\n\
                    // std::thread\nlet a = \"std::thread\";\nmy_std::thread();\n";
        assert!(found(RULES, "sync-only", &[("crates/runtime/src/a.rs", good)]).is_empty());
    }

    #[test]
    fn models_are_held_to_it_and_tests_are_not() {
        let code = "use std::thread;\n";
        let files = [
            ("crates/runtime/tests/a.rs", code),
            ("crates/sync/src/native.rs", code),
            ("examples/gateway/src/main.rs", code),
            ("loom-tests/tests/a.rs", code),
        ];
        assert_eq!(
            found(RULES, "sync-only", &files),
            ["loom-tests/tests/a.rs:1"]
        );
    }

    #[test]
    fn a_clock_read_outside_the_clock_is_found() {
        let code = "let now = Instant::now();\n";
        let files = [
            ("crates/runtime/src/clock/system.rs", code),
            ("crates/runtime/src/driver/mod.rs", code),
            ("crates/wheel-core/src/driver.rs", code),
            ("crates/runtime/tests/real.rs", code),
        ];
        assert_eq!(
            found(RULES, "clock-only", &files),
            [
                "crates/runtime/src/driver/mod.rs:1",
                "crates/wheel-core/src/driver.rs:1"
            ]
        );
    }
}
