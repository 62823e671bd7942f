//! What tasks are counted under: names that they were given, or their kinds.
//!
//! A name has counters of its own from its first task on, and keeps them. There is a bound, for a
//! name is for a sort of work and not for a customer; what comes beyond it is counted under
//! [`OTHER`]. Tasks without a name are counted where everything was counted before there were names,
//! and pay nothing.
//!
//! Ground rules: one lock, taken when a task with a name is added and when somebody reads; counting
//! takes none.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use wheel_sync::{CachePadded, Mutex, RandomState, thread};

use super::line::{LatestMs, RunCounts};
use crate::observe::NameStats;
use crate::scheduler::limits::Limits;

/// Of tasks that have no name.
pub(super) const UNNAMED: &str = "_unnamed";
/// Of names beyond the bound.
const OTHER: &str = "_other";

/// Fewer than for the scheduler: of one name, few run at the same time.
const LINES: usize = 4;

/// The counters of one name.
pub(crate) struct Series {
    name: Arc<str>,
    lines: [CachePadded<RunCounts>; LINES],
    last_success: LatestMs,
}

pub(super) struct Names {
    names: Mutex<HashMap<Arc<str>, Named, RandomState>>,
    names_max: usize,
}

struct Named {
    series: Arc<Series>,
    /// For tasks that have a name and nothing else: one for all of them.
    alone: Arc<Limits>,
}

impl Series {
    fn new(name: &str) -> Arc<Series> {
        Arc::new(Series {
            name: name.into(),
            lines: Default::default(),
            last_success: LatestMs::default(),
        })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Where the calling thread counts.
    pub(crate) fn here(&self) -> &RunCounts {
        &self.lines[thread::slot().unwrap_or(0) % LINES]
    }

    pub(crate) fn succeeded_at(&self, at: SystemTime) {
        self.last_success.note(at);
    }

    fn read(&self) -> NameStats {
        let mut sum = NameStats::of(&self.name);
        self.lines.iter().for_each(|line| line.add_to(&mut sum));
        sum.last_success = self.last_success.read();
        sum
    }
}

impl Names {
    pub(super) fn new(names_max: usize) -> Names {
        Names {
            names: Mutex::default(),
            names_max,
        }
    }

    /// What a task that is counted under `name` carries, with its other limits or without.
    /// `None` if that is the name of those that have none.
    pub(super) fn limits(&self, name: &str, limits: Option<Limits>) -> Option<Arc<Limits>> {
        if name == UNNAMED {
            return limits.map(Arc::new);
        }
        let mut names = self.names.lock();
        let own = names.len() - usize::from(names.contains_key(OTHER));
        let name = match names.contains_key(name) || own < self.names_max {
            true => name,
            false => OTHER,
        };
        if !names.contains_key(name) {
            let series = Series::new(name);
            let alone = Arc::new(Limits {
                series: Some(Arc::clone(&series)),
                ..Limits::default()
            });
            names.insert(Arc::clone(&series.name), Named { series, alone });
        }
        let named = &names[name];
        Some(match limits {
            None => Arc::clone(&named.alone),
            Some(limits) => Arc::new(Limits {
                series: Some(Arc::clone(&named.series)),
                ..limits
            }),
        })
    }

    /// All of them by name.
    pub(super) fn read(&self) -> Vec<NameStats> {
        let names = self.names.lock();
        let series: Vec<Arc<Series>> = names
            .values()
            .map(|named| Arc::clone(&named.series))
            .collect();
        drop(names);
        let mut read: Vec<NameStats> = series.iter().map(|series| series.read()).collect();
        read.sort_by(|a, b| a.name.cmp(&b.name));
        read
    }
}

impl std::fmt::Debug for Series {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Series").field(&self.name).finish()
    }
}
