//! A recorder of the crate `metrics` gets what Prometheus would.

use std::collections::HashMap;
use std::time::Duration;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshot};
use wheel_runtime::{
    Exposition, InlineExecutor, ManualClock, MetricsPublisher, Scheduler, SystemClock,
};

const MS: Duration = Duration::from_millis(1);

/// By name and labels.
fn read(snapshot: Snapshot) -> HashMap<String, DebugValue> {
    let of = |(key, _, description, value): (metrics_util::CompositeKey, _, Option<_>, _)| {
        assert!(description.is_some(), "{key:?} is not described");
        let labels = key.key().labels();
        let labels: Vec<String> = labels
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        (format!("{} {}", key.key().name(), labels.join(",")), value)
    };
    snapshot.into_vec().into_iter().map(of).collect()
}

#[test]
fn a_recorder_gets_counts_as_they_stand_and_each_duration_once() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone());
        let scheduler = builder.executor(InlineExecutor).build().unwrap();
        let publisher = MetricsPublisher::new(Exposition::of(&scheduler));
        let task = scheduler.task("x").name("report").every(10 * MS);
        task.run(|_| ()).unwrap();
        clock.run_for(30 * MS);
        publisher.publish();
        let runs = "wheel_runs_total task=report,outcome=succeeded";
        let took = "wheel_run_duration_seconds task=report";
        let shown = read(snapshotter.snapshot());
        assert_eq!(shown[runs], DebugValue::Counter(3));
        assert_eq!(
            shown["wheel_tasks state=scheduled"],
            DebugValue::Gauge(1.0.into())
        );
        let no_jump = DebugValue::Counter(0);
        assert_eq!(shown["wheel_clock_jumps_total kind=back"], no_jump);
        let kept = SystemClock::discipline().is_ok();
        assert_eq!(shown.contains_key("wheel_clock_synchronized "), kept);
        let bound = 0.0001.into();
        assert_eq!(shown[took], DebugValue::Histogram(vec![bound; 3]));
        clock.run_for(20 * MS);
        publisher.publish();
        let shown = read(snapshotter.snapshot());
        assert_eq!(shown[runs], DebugValue::Counter(5));
        // The snapshot before has taken the first three.
        assert_eq!(shown[took], DebugValue::Histogram(vec![bound; 2]));
    });
}

#[test]
fn without_a_recorder_nothing_happens() {
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    MetricsPublisher::new(Exposition::of(&scheduler)).publish();
}
