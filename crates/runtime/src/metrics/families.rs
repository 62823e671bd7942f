//! Which metrics there are, and what of the statistics each one shows.
//!
//! Base units; counters only go up; labels are names, kinds, pools and words of a fixed set, never
//! ids.

use std::time::UNIX_EPOCH;

use super::clocks;
use super::page::{Family, Kind, Value, Writer};
use crate::observe::{ClockJumps, Histogram, NameStats, PoolStats, Stats};
use crate::scheduler::DEFAULT_POOL;
use crate::timers::TimersStats;

const fn counter(name: &'static str, help: &'static str) -> Family {
    let kind = Kind::Counter;
    Family { name, help, kind }
}

const fn gauge(name: &'static str, help: &'static str) -> Family {
    let kind = Kind::Gauge;
    Family { name, help, kind }
}

const fn histogram(name: &'static str, help: &'static str) -> Family {
    let kind = Kind::Histogram;
    Family { name, help, kind }
}

/// All of them, in the order in which they are shown.
pub(super) const LIST: &[Family] = &[
    gauge(
        "wheel_build_info",
        "The version of wheel-runtime. Always 1.",
    ),
    gauge(
        "wheel_up",
        "Whether the scheduler or the timers take new work: 1, or 0 once they are shut down.",
    ),
    gauge("wheel_tasks", "Live tasks by state."),
    gauge(
        "wheel_definitions_unresolved",
        "Definitions that are no tasks yet, because their kind is not registered.",
    ),
    counter("wheel_tasks_cancelled_total", "Tasks that were cancelled."),
    gauge("wheel_timers_pending", "Timers that the engine holds."),
    counter("wheel_timers_fired_total", "Timers that have fired."),
    counter(
        "wheel_runs_started_total",
        "Runs that have started, by name of the task.",
    ),
    counter(
        "wheel_runs_total",
        "Runs that are over, by name of the task and outcome; occurrences that were left out have the outcome skipped.",
    ),
    histogram(
        "wheel_run_duration_seconds",
        "How long attempts took, by name of the task.",
    ),
    histogram(
        "wheel_run_start_delay_seconds",
        "From when attempts were due to their starts, by queue.",
    ),
    gauge(
        "wheel_oldest_due_seconds",
        "How long what was due first of the queue has been due; 0 if nothing waits.",
    ),
    counter(
        "wheel_run_retries_total",
        "Attempts that failed and were tried again, or will be.",
    ),
    counter("wheel_run_snoozes_total", "Attempts that were snoozed."),
    counter("wheel_run_panics_total", "Attempts that panicked."),
    counter(
        "wheel_run_timeouts_total",
        "Attempts that were not over in time.",
    ),
    counter(
        "wheel_dead_letters_total",
        "Runs that a retry policy has given up.",
    ),
    gauge("wheel_dead_letters", "Dead letters that are kept now."),
    counter(
        "wheel_dead_letters_dropped_total",
        "Dead letters that were dropped because there were too many.",
    ),
    counter(
        "wheel_misfires_total",
        "Occurrences that were too late: late (run all the same), skipped, or merged into a later run.",
    ),
    counter(
        "wheel_overlaps_total",
        "Occurrences that were left out because runs before had not ended.",
    ),
    counter(
        "wheel_skips_total",
        "Occurrences that were left out, by reason.",
    ),
    gauge(
        "wheel_queue_depth",
        "How much waits in the queue of a pool.",
    ),
    counter(
        "wheel_queue_rejected_total",
        "Runs that found the queue full: rejected (left out), displaced (left out for others), waited (run later).",
    ),
    gauge("wheel_workers", "Threads of a pool: busy, or idle."),
    gauge(
        "wheel_handlers_hung",
        "Handlers that go on although the time of their attempts is over.",
    ),
    counter(
        "wheel_hook_panics_total",
        "Panics in hooks and in functions of a retry policy.",
    ),
    gauge(
        "wheel_task_last_success_timestamp_seconds",
        "When a run of this name last ended that succeeded.",
    ),
    histogram(
        "wheel_tick_lag_seconds",
        "How late the driver came to ticks at which it had something to do.",
    ),
    counter(
        "wheel_driver_wakeups_total",
        "How often the driver thread woke up.",
    ),
    counter(
        "wheel_clock_jumps_total",
        "Jumps of a clock that the driver has met, by kind.",
    ),
    gauge(
        "wheel_clock_synchronized",
        "Whether a daemon keeps the system clock near a reference: 1, or 0.",
    ),
    gauge(
        "wheel_clock_offset_seconds",
        "How far the system clock is still to be slewed; positive if it is behind its reference.",
    ),
    gauge(
        "wheel_clock_frequency_ratio",
        "By which part the system clock is made to run faster than its crystal; negative: slower.",
    ),
    gauge(
        "wheel_clock_error_seconds",
        "The largest error that the system clock has, as its daemon says.",
    ),
    gauge(
        "wheel_clock_error_estimated_seconds",
        "The likely error of the system clock, as its daemon says.",
    ),
    counter(
        "wheel_callback_panics_total",
        "Callbacks of timers that panicked.",
    ),
    counter(
        "wheel_callbacks_refused_total",
        "Callbacks of timers that the executor did not take.",
    ),
];

/// What all sources show once.
pub(super) fn write_build(writer: &mut Writer<'_>) {
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    writer.count("wheel_build_info", &version, 1);
}

pub(super) fn write_scheduler(writer: &mut Writer<'_>, stats: &Stats) {
    for (state, tasks) in [
        ("scheduled", stats.scheduled),
        ("queued", stats.queued),
        ("running", stats.running),
        ("retrying", stats.retrying),
        ("paused", stats.paused),
    ] {
        writer.count("wheel_tasks", &[("state", state)], tasks as u64);
    }
    for (name, count) in [
        ("wheel_definitions_unresolved", stats.unresolved as u64),
        ("wheel_tasks_cancelled_total", stats.cancelled),
        ("wheel_dead_letters", stats.dead_letters as u64),
        (
            "wheel_dead_letters_dropped_total",
            stats.dead_letters_dropped,
        ),
        ("wheel_handlers_hung", stats.hung as u64),
        ("wheel_hook_panics_total", stats.hooks_panicked),
    ] {
        writer.count(name, &[], count);
    }
    for (reason, count) in [
        ("rejected", stats.rejected),
        ("displaced", stats.displaced),
        ("waited", stats.queue_full),
    ] {
        writer.count("wheel_queue_rejected_total", &[("reason", reason)], count);
    }
    write_engine(writer, (stats.pending_timers, stats.fired), stats.wakeups);
    write_clock(writer, &stats.jumps, stats.tick_lag);
    for pool in &stats.pools {
        write_pool(writer, pool);
    }
    for name in &stats.by_name {
        write_name(writer, name);
    }
}

fn write_pool(writer: &mut Writer<'_>, pool: &PoolStats) {
    let queue = ("queue", pool.name.as_deref().unwrap_or(DEFAULT_POOL));
    let busy = pool.workers.saturating_sub(pool.idle);
    for (state, workers) in [("busy", busy), ("idle", pool.idle)] {
        writer.count("wheel_workers", &[queue, ("state", state)], workers as u64);
    }
    writer.count("wheel_queue_depth", &[queue], pool.depth as u64);
    let oldest = pool.oldest_due.unwrap_or_default().as_secs_f64();
    writer.number("wheel_oldest_due_seconds", &[queue], oldest);
    let delay = Value::Durations(pool.start_delay);
    writer.write("wheel_run_start_delay_seconds", &[queue], delay);
}

fn write_name(writer: &mut Writer<'_>, of: &NameStats) {
    let task = ("task", of.name.as_str());
    for (outcome, runs) in [
        ("succeeded", of.succeeded),
        ("failed", of.failed),
        ("timed_out", of.timed_out),
        ("dead", of.dead),
        ("cancelled", of.cancelled),
        ("skipped", of.skipped()),
    ] {
        writer.count("wheel_runs_total", &[task, ("outcome", outcome)], runs);
    }
    for (name, count) in [
        ("wheel_runs_started_total", of.runs),
        ("wheel_run_retries_total", of.retried),
        ("wheel_run_snoozes_total", of.snoozed),
        ("wheel_run_panics_total", of.panicked),
        ("wheel_run_timeouts_total", of.attempts_timed_out),
        ("wheel_dead_letters_total", of.dead),
    ] {
        writer.count(name, &[task], count);
    }
    for (action, count) in [
        ("late", of.misfired),
        ("skipped", of.skipped_misfire),
        ("merged", of.missed),
    ] {
        writer.count("wheel_misfires_total", &[task, ("action", action)], count);
    }
    let skipped = [task, ("action", "skipped")];
    writer.count("wheel_overlaps_total", &skipped, of.skipped_overlap);
    for (reason, count) in [
        ("overlap", of.skipped_overlap),
        ("misfire", of.skipped_misfire),
        ("paused", of.skipped_paused),
        ("refused", of.skipped_refused),
        ("upstream", of.skipped_upstream),
    ] {
        writer.count("wheel_skips_total", &[task, ("reason", reason)], count);
    }
    let took = Value::Durations(of.duration);
    writer.write("wheel_run_duration_seconds", &[task], took);
    let last_success = of.last_success.map(|at| at.duration_since(UNIX_EPOCH));
    if let Some(Ok(since_epoch)) = last_success {
        let name = "wheel_task_last_success_timestamp_seconds";
        writer.number(name, &[task], since_epoch.as_secs_f64());
    }
}

pub(super) fn write_timers(writer: &mut Writer<'_>, stats: &TimersStats) {
    for (name, count) in [
        ("wheel_callback_panics_total", stats.panics),
        ("wheel_callbacks_refused_total", stats.refused),
    ] {
        writer.count(name, &[], count);
    }
    write_engine(writer, (stats.pending, stats.fired), stats.wakeups);
    write_clock(writer, &stats.jumps, stats.tick_lag);
}

/// What an engine has done, whoever has it.
fn write_engine(writer: &mut Writer<'_>, (pending, fired): (usize, u64), wakeups: u64) {
    for (name, count) in [
        ("wheel_timers_pending", pending as u64),
        ("wheel_timers_fired_total", fired),
        ("wheel_driver_wakeups_total", wakeups),
    ] {
        writer.count(name, &[], count);
    }
}

/// How time has gone for it.
fn write_clock(writer: &mut Writer<'_>, jumps: &ClockJumps, lag: Histogram) {
    clocks::write_jumps(writer, jumps);
    writer.write("wheel_tick_lag_seconds", &[], Value::Durations(lag));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_the_docs_lists_each_family_with_its_type_and_no_other() {
        let docs = include_str!("../../../../docs/METRICS.md");
        let rows = docs
            .lines()
            .filter_map(|line| line.strip_prefix("| `wheel_"));
        let listed = rows.map(|row| {
            let (name, rest) = row.split_once("` | ").expect("a name and what follows");
            let (kind, _) = rest.split_once(" | ").expect("a type and what follows");
            format!("wheel_{name} {kind}")
        });
        let shown = LIST.iter().map(|family| {
            format!(
                "{} {}",
                family.name,
                format!("{:?}", family.kind).to_lowercase()
            )
        });
        assert_eq!(listed.collect::<Vec<_>>(), shown.collect::<Vec<_>>());
    }
}
