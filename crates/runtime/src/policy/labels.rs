//! What tasks are labelled with.

use std::collections::BTreeMap;
use std::fmt;

use super::PolicyError;

/// The most labels of a task, or of a pool.
const LABELS_MAX: usize = 64;

/// Names with a value each, in order of the names. A task has few, so they stand in a row.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<(String, String)>);

impl Labels {
    /// Of two labels of one name, the later one counts.
    pub(crate) fn set(&mut self, name: String, value: String) {
        match self.0.binary_search_by(|(other, _)| other.cmp(&name)) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (name, value)),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self
            .0
            .binary_search_by(|(other, _)| other.as_str().cmp(name));
        found.ok().map(|at| self.0[at].1.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    #[cfg(feature = "serde")]
    pub(crate) fn from_map(labels: &BTreeMap<String, String>) -> Labels {
        let labels = labels.iter();
        Labels(
            labels
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        )
    }

    pub(crate) fn to_map(&self) -> BTreeMap<String, String> {
        self.0.iter().cloned().collect()
    }

    /// Whether each of `others` is here, with the same value.
    pub(crate) fn include(&self, others: &Labels) -> bool {
        others
            .iter()
            .all(|(name, value)| self.get(name) == Some(value))
    }

    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        if self.0.len() > LABELS_MAX {
            let given = format!("{} labels", self.0.len());
            let wanted = format!("at most {LABELS_MAX}");
            return Err(PolicyError::new("label", given, wanted));
        }
        self.iter().try_for_each(|(name, value)| {
            PolicyError::check_text("label", name)?;
            PolicyError::check_text("label", value)
        })
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
