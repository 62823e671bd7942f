//! The runs that wait at the gate: lane by lane, and in a lane in the order in which they go.
//!
//! One sorted map for all lanes: so a lane that is empty takes no memory, and a walk over all that
//! waits can stop anywhere and go on later.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::super::limits::Limits;
use crate::clock::Moment;
use crate::executor::waits_since;
use crate::policy::Priority;
use crate::task::WaitingRun;

/// The number of a lane; each concurrency key and each rate key has one.
pub(super) type Lane = u64;

/// A run that waits.
pub(super) struct Waiter {
    pub(super) run: WaitingRun,
    /// When it was found due, from which on it waits.
    pub(super) found: Moment,
    pub(super) limits: Arc<Limits>,
}

/// Where a run stands: in its lane class by class, the highest first; in a class by due, and of one
/// due first come, first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) lane: Lane,
    pub(super) class: Reverse<Priority>,
    pub(super) due_ns: u64,
    pub(super) arrival: u64,
}

#[derive(Default)]
pub(super) struct Waiting(BTreeMap<Place, Waiter>);

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn add(&mut self, place: Place, waiter: Waiter) {
        let before = self.0.insert(place, waiter);
        assert!(before.is_none(), "two runs have the place {place:?}");
    }

    pub(super) fn remove(&mut self, place: Place) -> Waiter {
        let waiter = self.0.remove(&place);
        waiter.expect("a place that was just seen is taken")
    }

    /// Who goes first of a lane: of the first ones of the classes, who has waited longest, when a
    /// class counts as much as waiting for `ageing_ns`. As in the queue of a pool.
    pub(super) fn first(&self, lane: Lane, ageing_ns: u64) -> Option<(Place, &Waiter)> {
        let of_class = |class| {
            let least = Place {
                lane,
                class: Reverse(class),
                due_ns: 0,
                arrival: 0,
            };
            let (place, waiter) = self.0.range(least..).next()?;
            let is_of_class = place.lane == lane && place.class.0 == class;
            is_of_class.then_some((*place, waiter))
        };
        let classes = [Priority::High, Priority::Normal, Priority::Low];
        let firsts = classes.into_iter().filter_map(of_class);
        // Of equal ranks the first one stays, which is the higher class.
        firsts.min_by_key(|(place, waiter)| {
            let since = waits_since(place.due_ns, waiter.found.as_nanos());
            place.class.0.rank_of_wait(since, ageing_ns)
        })
    }

    pub(super) fn is_empty(&self, lane: Lane) -> bool {
        self.first(lane, 0).is_none()
    }

    /// Of up to `count` runs behind `from`, the places of those that `is_void`; and where to go on.
    pub(super) fn voids(
        &self,
        from: Option<Place>,
        count: usize,
        is_void: impl Fn(&WaitingRun) -> bool,
    ) -> (Vec<Place>, Option<Place>) {
        let from = from.map_or(Bound::Unbounded, Bound::Excluded);
        let (mut voids, mut seen, mut last) = (Vec::new(), 0, None);
        for (place, waiter) in self.0.range((from, Bound::Unbounded)).take(count) {
            if is_void(&waiter.run) {
                voids.push(*place);
            }
            seen += 1;
            last = Some(*place);
        }
        (voids, last.filter(|_| seen == count))
    }
}
