//! Many tasks with policies of all sorts live through some days of virtual time, in which runs fail
//! and panic, the clock is set and jumps, and tasks are paused, triggered, moved, replayed and
//! cancelled at random. Every occurrence is accounted for.
//!
//! ```text
//!   plan.rs      what tasks there are           errands.rs, graphs.rs  kinds with a breaker, graphs
//!   acts.rs      what is done to them           world.rs     the time that passes
//!   points.rs    the instants of a schedule, counted without the scheduler
//!   ledger.rs    what handlers say, and what they have seen
//!   book.rs      what was due against what became of it, task by task; notes.rs  run by run
//!   close.rs     all of it against the numbers of the scheduler
//! ```
//!
//! `WHEEL_FULL` plays a hundred thousand tasks and a week, as `cargo xtask stress` does in release;
//! else there are some thousands, and two days. `WHEEL_SEED=n` is for that seed alone.

mod points;
mod ledger;
mod plan;
mod book;
mod notes;

mod errands;
mod graphs;
mod acts;
mod world;
mod close;

use std::time::Instant;

use plan::Hands;
use wheel_testkit::seeds;
use world::{Size, World};

fn size() -> Size {
    match std::env::var_os("WHEEL_FULL") {
        Some(_) => Size {
            tasks: 100_000,
            days: 7,
        },
        None => Size {
            tasks: 2_000,
            days: 2,
        },
    }
}

/// Plays it and checks the books. Returns the hash of the log.
fn soak(seed: u64, size: Size, hands: Hands) -> u64 {
    let begun = Instant::now();
    let mut world = World::new(seed, size, hands);
    let hash = world.live_through(size);
    let (tally, graphs, lived) = (world.tally, world.graphs.len(), begun.elapsed());
    let (stats, closed) = world.close();
    println!(
        "seed {seed}, {hands:?}, {size:?}, {graphs} graphs, {tally:?}, {closed:?}, lived {lived:?}, \
         in all {:?}\n{stats:?}",
        begun.elapsed()
    );
    // It is not quiet.
    let counts = [
        stats.retried,
        stats.dead,
        stats.snoozed,
        stats.abandoned,
        stats.panicked,
        stats.timed_out,
        stats.skipped_overlap,
        stats.skipped_misfire,
        stats.skipped_paused,
        stats.skipped_upstream,
        stats.missed,
        stats.cancelled,
    ];
    assert!(
        counts.iter().all(|count| *count > 0),
        "seed {seed}: {stats:?}"
    );
    assert!(closed.exact * 4 > size.tasks, "seed {seed}: {closed:?}");
    hash
}

#[test]
fn every_occurrence_is_accounted_for_and_the_same_seed_gives_the_same_log() {
    let size = size();
    let mut others = Vec::new();
    for seed in seeds(2) {
        let hash = soak(seed, size, Hands::Driver);
        if others.is_empty() {
            assert_eq!(
                hash,
                soak(seed, size, Hands::Driver),
                "seed {seed}: two logs"
            );
        }
        assert!(
            !others.contains(&hash),
            "seed {seed}: the log of another one"
        );
        others.push(hash);
    }
}

#[test]
fn on_workers_the_books_are_the_same_in_whatever_order() {
    for seed in seeds(1) {
        soak(seed, size(), Hands::Workers);
    }
}
