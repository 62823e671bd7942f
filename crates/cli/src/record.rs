//! What happened: every run of every task, and how late each one was.
//!
//! Written by the workers, read by the live line and the summary. One lock: a run takes it twice,
//! and a run is a program.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;
use wheel_sync::{Arc, Mutex};

/// Percentiles beyond a day are shown as a day; the maximum is exact.
const SHOWN_NS_MAX: u64 = 86_400_000_000_000;

/// How a run has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The program ended with exit status 0.
    Succeeded,
    /// It could not be started, ended with another status, or a signal that `wheel` did not send
    /// ended it.
    Failed(String),
    /// `wheel` ended it, because its own end had come.
    Cut(String),
}

/// Whether a program was started when it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Punctuality {
    /// Then, or later.
    Due,
    /// Before: that must never be.
    Early,
}

/// The runs of one task, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) runs: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) cut: u64,
    /// Attempts that failed and were followed by another one, or would have been.
    pub(crate) retried: u64,
    /// Attempts whose time was over before their program had ended.
    pub(crate) timed_out: u64,
    /// Runs whose program was started before they were due.
    pub(crate) early: u64,
}

/// One task so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    pub(crate) late_max: Duration,
    /// How its last run ended; `None` while there was none.
    pub(crate) last: Option<Outcome>,
}

/// From the due instants to the starts, in whole microseconds, rounded up.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct LatenessUs {
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

/// How many programs were started so late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LatenessBar {
    /// And later than the bar before it says; `None`: later than all others.
    pub(crate) up_to_us: Option<u64>,
    pub(crate) count: u64,
}

/// The bounds of the bars.
const BOUNDS_US: [u64; 14] = [
    50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000,
    60_000_000,
];

/// A cheap handle; all clones write the same record.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    tallies: Vec<Tally>,
    total: Counts,
    lateness_ns: Histogram<u64>,
}

impl Record {
    /// A record for this many tasks, which are named by their index.
    pub(crate) fn new(tasks: usize) -> Record {
        let lateness_ns =
            Histogram::new_with_max(SHOWN_NS_MAX, 3).expect("the bounds are constants");
        let state = State {
            tallies: vec![Tally::default(); tasks],
            total: Counts::default(),
            lateness_ns,
        };
        Record {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The number of one more task.
    pub(crate) fn grow(&self) -> usize {
        let mut state = self.state.lock();
        state.tallies.push(Tally::default());
        state.tallies.len() - 1
    }

    /// Writes down that a program was started, for this attempt of a run.
    pub(crate) fn started(
        &self,
        task: usize,
        attempt: u32,
        punctuality: Punctuality,
        late: Duration,
    ) {
        let early = u64::from(punctuality == Punctuality::Early);
        let mut state = self.state.lock();
        state.count(task, |counts| {
            counts.runs += u64::from(attempt == 1);
            counts.early += early;
        });
        let tally = &mut state.tallies[task];
        tally.late_max = tally.late_max.max(late);
        state
            .lateness_ns
            .saturating_record(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Writes down that the program could not be started, for this attempt of a run.
    pub(crate) fn not_started(&self, task: usize, attempt: u32) {
        let runs = u64::from(attempt == 1);
        self.state.lock().count(task, |counts| counts.runs += runs);
    }

    /// Writes down that an attempt has failed, after which there is another one.
    pub(crate) fn retried(&self, task: usize) {
        self.state.lock().count(task, |counts| counts.retried += 1);
    }

    /// Writes down that the time of an attempt was over.
    pub(crate) fn timed_out(&self, task: usize) {
        self.state
            .lock()
            .count(task, |counts| counts.timed_out += 1);
    }

    /// Writes down how a run has ended.
    pub(crate) fn ended(&self, task: usize, outcome: Outcome) {
        let mut state = self.state.lock();
        state.count(task, |counts| match outcome {
            Outcome::Succeeded => counts.succeeded += 1,
            Outcome::Failed(_) => counts.failed += 1,
            Outcome::Cut(_) => counts.cut += 1,
        });
        state.tallies[task].last = Some(outcome);
    }

    /// A run that was written down as failed would have been tried again, had the end not come.
    pub(crate) fn recalled(&self, task: usize, outcome: Outcome) {
        self.state.lock().count(task, |counts| {
            counts.failed = counts.failed.saturating_sub(1);
            counts.retried += 1;
        });
        self.ended(task, outcome);
    }

    /// All tasks together.
    pub(crate) fn total(&self) -> Counts {
        self.state.lock().total
    }

    /// Each task, by its index.
    pub(crate) fn tallies(&self) -> Vec<Tally> {
        self.state.lock().tallies.clone()
    }

    /// How lateness is spread, within a thousandth at the bounds.
    pub(crate) fn lateness_bars(&self) -> Vec<LatenessBar> {
        let lateness = &self.state.lock().lateness_ns;
        let mut before = 0;
        let bounds = BOUNDS_US.into_iter().map(Some).chain([None]);
        let bar = |up_to_us: Option<u64>| {
            let upper = up_to_us.map_or(u64::MAX, |us| us * 1_000);
            let count = lateness.count_between(before, upper);
            before = upper.saturating_add(1);
            LatenessBar { up_to_us, count }
        };
        bounds.map(bar).collect()
    }

    pub(crate) fn lateness(&self) -> LatenessUs {
        let state = self.state.lock();
        let at = |ns: u64| ns.div_ceil(1_000);
        let lateness = &state.lateness_ns;
        if lateness.is_empty() {
            return LatenessUs::default();
        }
        // The buckets of a histogram are as wide as a thousandth; the largest value is known
        // exactly.
        let max = state
            .tallies
            .iter()
            .map(|tally| tally.late_max)
            .max()
            .unwrap_or_default();
        let max = u64::try_from(max.as_nanos()).unwrap_or(u64::MAX);
        LatenessUs {
            p50: at(lateness.value_at_quantile(0.5).min(max)),
            p99: at(lateness.value_at_quantile(0.99).min(max)),
            max: at(max),
        }
    }
}

impl State {
    fn count(&mut self, task: usize, change: impl Fn(&mut Counts)) {
        change(&mut self.tallies[task].counts);
        change(&mut self.total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_runs_and_the_lateness_of_all_are_counted() {
        let record = Record::new(2);
        assert_eq!(record.lateness().max, 0);
        record.started(0, 1, Punctuality::Due, Duration::from_millis(2));
        record.started(1, 1, Punctuality::Due, Duration::from_nanos(3_999_001));
        assert_eq!(record.total().early, 0);
        let lateness = record.lateness();
        assert!((2_000..2_010).contains(&lateness.p50), "{lateness:?}");
        assert_eq!((lateness.p99, lateness.max), (4_000, 4_000));
        record.started(1, 1, Punctuality::Early, Duration::ZERO);
        assert_eq!(
            (record.total().early, record.tallies()[1].counts.early),
            (1, 1)
        );
    }

    #[test]
    fn every_run_ends_in_one_of_three_ways() {
        let record = Record::new(1);
        for outcome in [
            Outcome::Succeeded,
            Outcome::Failed("exit status 3".into()),
            Outcome::Cut("by SIGTERM".into()),
        ] {
            record.started(0, 1, Punctuality::Due, Duration::ZERO);
            record.ended(0, outcome);
        }
        record.not_started(0, 1);
        record.ended(0, Outcome::Failed("gone".into()));
        // A run of two attempts is one run.
        record.started(0, 1, Punctuality::Due, Duration::ZERO);
        record.retried(0);
        record.started(0, 2, Punctuality::Due, Duration::ZERO);
        record.ended(0, Outcome::Succeeded);
        let counts = Counts {
            runs: 5,
            succeeded: 2,
            failed: 2,
            cut: 1,
            retried: 1,
            timed_out: 0,
            early: 0,
        };
        assert_eq!(
            (record.total(), record.tallies()[0].counts),
            (counts, counts)
        );
    }
}
