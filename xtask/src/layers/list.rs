//! The decisions: which crate may use which, and why.
//!
//! A line here is a design change. Normal edges point to the left of
//! `sync <- wheel-core <- overflow <- runtime <- cli`; a test holds the list to that.

use Kind::{Dev, Normal};

/// `from` may use `to`, as `kind`, because `why`.
pub(super) struct Edge {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) kind: Kind,
    pub(super) why: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Normal,
    Dev,
    Build,
}

const fn edge(from: &'static str, to: &'static str, kind: Kind, why: &'static str) -> Edge {
    Edge {
        from,
        to,
        kind,
        why,
    }
}

pub(super) const EDGES: &[Edge] = &[
    edge(
        "wheel-core",
        "wheel-sync",
        Normal,
        "atomics that loom can replace",
    ),
    edge(
        "wheel-overflow",
        "wheel-core",
        Normal,
        "implements its trait Overflow",
    ),
    edge(
        "wheel-runtime",
        "wheel-sync",
        Normal,
        "locks, threads and atomics that loom can replace",
    ),
    edge("wheel-runtime", "wheel-core", Normal, "the near timers"),
    edge(
        "wheel-runtime",
        "wheel-overflow",
        Normal,
        "the far timers and the wall-clock timers",
    ),
    edge(
        "wheel",
        "wheel-runtime",
        Normal,
        "the command is a user of the public face",
    ),
    edge("wheel", "wheel-sync", Normal, "the command's own threads"),
    edge(
        "wheel-core",
        "wheel-testkit",
        Dev,
        "the oracle judges the wheel",
    ),
    edge(
        "wheel-overflow",
        "wheel-testkit",
        Dev,
        "the oracle judges the heap",
    ),
    edge(
        "wheel-runtime",
        "wheel-testkit",
        Dev,
        "seeded operation streams",
    ),
    edge(
        "wheel-loom-tests",
        "wheel-core",
        Normal,
        "the protocols under the model",
    ),
    edge(
        "wheel-loom-tests",
        "wheel-runtime",
        Normal,
        "the protocols under the model",
    ),
    edge("wheel-loom-tests", "wheel-sync", Normal, "fn model"),
    edge(
        "wheel-loom-tests",
        "wheel-overflow",
        Normal,
        "where far timers wait in a model",
    ),
    edge(
        "wheel-fuzz",
        "wheel-core",
        Normal,
        "the levels and the wheels, fuzzed",
    ),
    edge("wheel-fuzz", "wheel-overflow", Normal, "the heap, fuzzed"),
    edge(
        "wheel-fuzz",
        "wheel",
        Normal,
        "the parsers of the command, fuzzed",
    ),
    edge("wheel-fuzz", "wheel-runtime", Normal, "cron, fuzzed"),
    edge(
        "wheel-fuzz",
        "wheel-sync",
        Normal,
        "an adapter of the wheel's tests counts wakes",
    ),
    edge("wheel-fuzz", "wheel-testkit", Normal, "the judge"),
    edge(
        "wheel-shuttle-tests",
        "wheel-core",
        Normal,
        "the wheel in random schedules",
    ),
    edge(
        "wheel-shuttle-tests",
        "wheel-overflow",
        Normal,
        "the far timers of its scenarios",
    ),
    edge(
        "wheel-shuttle-tests",
        "wheel-runtime",
        Normal,
        "its pool and both doors in random schedules",
    ),
    edge(
        "wheel-shuttle-tests",
        "wheel-sync",
        Normal,
        "threads that shuttle schedules",
    ),
    edge(
        "wheel-shuttle-tests",
        "wheel-testkit",
        Normal,
        "judges what the threads have seen",
    ),
    edge("wheel-benches", "wheel-core", Normal, "contestant"),
    edge("wheel-benches", "wheel-overflow", Normal, "contestant"),
    edge(
        "wheel-benches",
        "wheel-runtime",
        Normal,
        "contestant where time is real",
    ),
    edge(
        "example-gateway",
        "wheel-runtime",
        Normal,
        "an example is a user",
    ),
    edge(
        "example-order_timeout",
        "wheel-runtime",
        Normal,
        "an example is a user",
    ),
];

/// What a published crate may declare from outside the workspace, optional ones included.
pub(super) const OUTSIDE: &[(&str, &[&str])] = &[
    (
        "wheel-sync",
        &["crossbeam-channel", "crossbeam-utils", "loom", "shuttle"],
    ),
    ("wheel-core", &["crossbeam-utils", "slab"]),
    ("wheel-overflow", &[]),
    (
        "wheel-runtime",
        &[
            "crossbeam-channel",
            "crossbeam-utils",
            "hashbrown",
            "hdrhistogram",
            "jiff",
            "libc",
            "metrics",
            "pin-project-lite",
            "rayon",
            "rustix",
            "serde",
            "serde_json",
            "tracing",
        ],
    ),
];

/// The whole tree behind wheel-core.
pub(super) const CORE_TREE: &[&str] = &["wheel-core", "wheel-sync", "crossbeam-utils", "slab"];

/// Never behind wheel-runtime: async runtimes, and what only tests use.
pub(super) const NEVER: &[&str] = &[
    "tokio",
    "async-std",
    "smol",
    "async-io",
    "futures-executor",
    "loom",
    "shuttle",
    "wheel-testkit",
];
