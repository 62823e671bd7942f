//! A page through the facade of the crate `metrics`, for a process that has its recorder already.
//!
//! The facade takes counters and gauges as they stand. Of a histogram it takes single values only, so
//! it is given what came since the last time, each value as the bound of its bucket.

use std::collections::HashMap;
use std::fmt;

use ::metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use wheel_sync::{Mutex, RandomState};

use super::exposition::Exposition;
use super::families::LIST;
use super::page::{Family, Kind, Labels, Sample, Value};
use crate::observe::Histogram;

/// Hands the numbers to whatever recorder the process has installed for the crate `metrics`, each
/// time it is told to: before a scrape, or every some seconds.
///
/// Each name is described. A recorder that is installed later is not told of descriptions.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Exposition, MetricsPublisher, Scheduler};
///
/// let scheduler = Scheduler::builder().build()?;
/// let publisher = MetricsPublisher::new(Exposition::of(&scheduler));
/// // The scheduler may see to that itself.
/// scheduler.every(Duration::from_secs(10), move |_| publisher.publish())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MetricsPublisher {
    exposition: Exposition,
    /// What has been handed over of each histogram.
    handed: Mutex<HashMap<Series, Histogram, RandomState>>,
}

type Series = (&'static str, Labels);

impl MetricsPublisher {
    /// Describes all metrics to the recorder that is installed now.
    pub fn new(exposition: Exposition) -> MetricsPublisher {
        LIST.iter().for_each(describe);
        MetricsPublisher {
            exposition,
            handed: Mutex::default(),
        }
    }

    /// Hands the numbers over as they are now. Of several threads one after the other, so a recorder
    /// must not publish itself.
    pub fn publish(&self) {
        // The look comes after the lock: else what one thread has seen later would be handed over
        // before what another one has seen, and some of it twice.
        let mut handed = self.handed.lock();
        let page = self.exposition.look();
        for (family, samples) in page.families {
            for Sample { labels, value } in samples {
                match value {
                    Value::Count(count) => hand_count(family, &labels, count),
                    Value::Number(number) => gauge!(family.name, as_labels(&labels)).set(number),
                    Value::Durations(now) => {
                        let to = histogram!(family.name, as_labels(&labels));
                        let before = handed.entry((family.name, labels)).or_default();
                        for (bound, more) in now.since(before) {
                            let more = usize::try_from(more).unwrap_or(usize::MAX);
                            to.record_many(bound.as_secs_f64(), more);
                        }
                        *before = now;
                    }
                }
            }
        }
    }
}

fn hand_count(family: &Family, labels: &Labels, count: u64) {
    let labels = as_labels(labels);
    match family.kind {
        Kind::Counter => counter!(family.name, labels).absolute(count),
        // Exact up to 2^53.
        _ => gauge!(family.name, labels).set(count as f64),
    }
}

fn as_labels(labels: &Labels) -> Vec<Label> {
    let labels = labels.iter();
    labels
        .map(|(name, value)| Label::new(*name, value.clone()))
        .collect()
}

fn describe(family: &'static Family) {
    let Family { name, help, kind } = *family;
    let unit = match name.ends_with("_seconds") {
        true => Unit::Seconds,
        false => Unit::Count,
    };
    match kind {
        Kind::Counter => describe_counter!(name, unit, help),
        Kind::Gauge => describe_gauge!(name, unit, help),
        Kind::Histogram => describe_histogram!(name, unit, help),
    }
}

impl fmt::Debug for MetricsPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MetricsPublisher")
            .field("exposition", &self.exposition)
            .finish_non_exhaustive()
    }
}
