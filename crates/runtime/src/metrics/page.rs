//! Families of metrics with their samples, as one look at the sources found them.

use crate::observe::Histogram;

/// What a family is. Its name ends in its unit, or in `_total`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only goes up.
    Counter,
    Gauge,
    Histogram,
}

/// The labels of a sample, in the order in which they are shown.
pub(super) type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
pub(super) struct Sample {
    pub(super) labels: Labels,
    pub(super) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Count(u64),
    Number(f64),
    Durations(Histogram),
}

/// What one look at all sources found.
#[derive(Debug)]
pub(super) struct Page {
    /// In the order of the list, those without samples included.
    pub(super) families: Vec<(&'static Family, Vec<Sample>)>,
}

/// A source, which writes its samples.
pub(super) struct Writer<'p> {
    pub(super) page: &'p mut Page,
    /// What all samples of the source are labelled with, besides their own labels.
    pub(super) source: Option<(&'static str, &'p str)>,
}

impl Page {
    pub(super) fn new(list: &'static [Family]) -> Page {
        Page {
            families: list.iter().map(|family| (family, Vec::new())).collect(),
        }
    }
}

impl Writer<'_> {
    /// A sample of the family `name`, which is on the list.
    pub(super) fn write(&mut self, name: &str, labels: &[(&'static str, &str)], value: Value) {
        let found = self.page.families.iter_mut();
        let mut found = found.filter(|(family, _)| family.name == name);
        let (_, samples) = found
            .next()
            .expect("a family that is written is on the list");
        let labels = labels.iter().copied().chain(self.source);
        let labels = labels.map(|(name, value)| (name, value.to_owned()));
        let labels = labels.collect();
        samples.push(Sample { labels, value });
    }

    pub(super) fn count(&mut self, name: &str, labels: &[(&'static str, &str)], count: u64) {
        self.write(name, labels, Value::Count(count));
    }

    pub(super) fn number(&mut self, name: &str, labels: &[(&'static str, &str)], number: f64) {
        self.write(name, labels, Value::Number(number));
    }
}
