//! Named pools, and which tasks go there.
//!
//! A task goes where its builder says by name; else to a pool of whose labels it has every one; else
//! to the pool without a name. Of several that match, by weight: the id is hashed to a point on a
//! line on which each pool has a stretch as long as its weight. The hash never changes
//! (`policy/hash.rs`), so the same id goes the same way in each process, as long as the pools are the
//! same.

use std::fmt;

use crate::error::BuildError;
use crate::executor::Workers;
use crate::policy::{Labels, PolicyError, fnv1a, mixed_otherwise};

const FIELD: &str = "pool";
const POOLS_MAX: usize = 255;
/// What the one without a name is called where it must be called something.
pub(crate) const DEFAULT_POOL: &str = "_default";

/// A pool of workers besides the one without a name, for some of the tasks.
///
/// # Examples
///
/// A twentieth of the calls goes to the new handler's pool; the same id always the same way.
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{PoolSpec, Scheduler};
///
/// let scheduler = Scheduler::builder()
///     .pool(PoolSpec::named("stable").workers(4).label("part", "calls").weight(95))
///     .pool(PoolSpec::named("canary").workers(1).label("part", "calls").weight(5))
///     .build()?;
/// let call = scheduler.task("call-17").after(Duration::ZERO).label("part", "calls");
/// call.run(|_| println!("on {:?}", std::thread::current().name()))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "give it to `SchedulerBuilder::pool`"]
pub struct PoolSpec {
    pub(super) name: String,
    pub(super) workers: Workers,
    labels: Labels,
    weight: u32,
}

/// The named pools of a scheduler. They are counted from 1: 0 is the one without a name.
#[derive(Debug, Default)]
pub(super) struct Routes(Vec<Route>);

#[derive(Debug)]
struct Route {
    name: String,
    labels: Labels,
    weight: u32,
}

impl PoolSpec {
    /// A pool of one worker to which tasks go by name only, until it is told more.
    pub fn named(name: impl Into<String>) -> PoolSpec {
        PoolSpec {
            name: name.into(),
            workers: 1.into(),
            labels: Labels::default(),
            weight: 1,
        }
    }

    /// How many threads, or between how many; 1 unless told otherwise.
    pub fn workers(mut self, workers: impl Into<Workers>) -> PoolSpec {
        self.workers = workers.into();
        self
    }

    /// Tasks with this label go here; with all of them, if there are several. As
    /// [`TaskBuilder::label`](crate::TaskBuilder::label).
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> PoolSpec {
        self.labels.set(name.into(), value.into());
        self
    }

    /// Of the tasks that several pools match, this one gets so many parts of the sum of their
    /// weights; 1 unless told otherwise. With 0 it gets tasks by name only.
    pub fn weight(mut self, parts: u32) -> PoolSpec {
        self.weight = parts;
        self
    }
}

impl Routes {
    pub(super) fn new(specs: &[PoolSpec]) -> Result<Routes, BuildError> {
        BuildError::check("pools", specs.len() as u128, 0..=POOLS_MAX as u128)?;
        let mut routes = Vec::<Route>::new();
        for spec in specs {
            let is_new = routes.iter().all(|route| route.name != spec.name);
            let checked = PolicyError::check_text(FIELD, &spec.name).and(spec.labels.check());
            let checked = checked.and(if spec.name == DEFAULT_POOL {
                let wanted = "another name: that is the pool without a name in metrics";
                Err(PolicyError::new(FIELD, format!("{DEFAULT_POOL:?}"), wanted))
            } else if is_new {
                Ok(())
            } else {
                let given = format!("a second {:?}", spec.name);
                Err(PolicyError::new(FIELD, given, "each name once"))
            });
            checked.map_err(BuildError::Pool)?;
            routes.push(Route {
                name: spec.name.clone(),
                labels: spec.labels.clone(),
                weight: spec.weight,
            });
        }
        Ok(Routes(routes))
    }

    /// Which pool the name is of.
    pub(super) fn by_name(&self, name: &str) -> Result<usize, PolicyError> {
        let found = self.0.iter().position(|route| route.name == name);
        found.map(|index| index + 1).ok_or_else(|| {
            let wanted = match &*self.0 {
                [] => "the scheduler has no named pools".to_owned(),
                pools => format!("one of {}", Names(pools)),
            };
            PolicyError::new(FIELD, format!("{name:?}"), wanted)
        })
    }

    /// The name of a pool; `None` for the one that has none.
    pub(super) fn name(&self, pool: usize) -> Option<&str> {
        let route = self.0.get(pool.checked_sub(1)?)?;
        Some(&route.name)
    }

    /// Where the task `id` with these labels goes.
    pub(super) fn by_labels(&self, labels: &Labels, id: &str) -> usize {
        if labels.is_empty() {
            return 0;
        }
        let matching = || {
            let pools = self.0.iter().enumerate();
            pools.filter(|(_, route)| !route.labels.is_empty() && labels.include(&route.labels))
        };
        let sum: u64 = matching().map(|(_, route)| u64::from(route.weight)).sum();
        // Less than the sum, and even over it.
        let mut point = (u128::from(mixed_otherwise(fnv1a(id))) * u128::from(sum)) >> 64;
        for (index, route) in matching() {
            match point.checked_sub(u128::from(route.weight)) {
                Some(rest) => point = rest,
                None => return index + 1,
            }
        }
        0
    }
}

/// Some names, for a message.
struct Names<'a>(&'a [Route]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED: usize = 10;
        for (n, route) in self.0.iter().take(NAMED).enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{:?}", route.name)?;
        }
        if self.0.len() > NAMED {
            f.write_str(", ...")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let mut labels = Labels::default();
        for (name, value) in pairs {
            labels.set((*name).to_owned(), (*value).to_owned());
        }
        labels
    }

    #[test]
    fn a_task_goes_where_it_has_every_label_of_the_pool() {
        let routes = Routes::new(&[
            PoolSpec::named("both").label("a", "1").label("b", "2"),
            PoolSpec::named("one").label("c", "3"),
            PoolSpec::named("none"),
        ]);
        let routes = routes.unwrap();
        let to = |pairs: &[(&str, &str)]| routes.by_labels(&labels(pairs), "x");
        assert_eq!(to(&[]), 0);
        assert_eq!(to(&[("a", "1")]), 0);
        assert_eq!(to(&[("a", "1"), ("b", "3")]), 0);
        assert_eq!(to(&[("b", "2"), ("a", "1"), ("z", "")]), 1);
        assert_eq!(to(&[("c", "3")]), 2);
        assert_eq!(routes.by_name("none").unwrap(), 3);
    }

    #[test]
    fn the_same_id_goes_the_same_way_in_each_process() {
        let pool = |name| PoolSpec::named(name).label("k", "v");
        let routes = Routes::new(&[pool("a"), pool("b"), pool("c")]).unwrap();
        let labels = labels(&[("k", "v")]);
        let ids = ["order-1001", "order-1002", "customer-7", "a", "", "日报"];
        // Whoever changes these moves tasks of users from one pool to another.
        assert_eq!(
            ids.map(|id| routes.by_labels(&labels, id)),
            [3, 2, 2, 2, 3, 1]
        );
    }

    #[test]
    fn weights_share_the_ids_out() {
        let pool = |name, weight| PoolSpec::named(name).label("k", "v").weight(weight);
        let routes = Routes::new(&[pool("old", 95), pool("new", 5), pool("off", 0)]).unwrap();
        let labels = labels(&[("k", "v")]);
        let mut counts = [0; 4];
        for n in 0..100_000 {
            counts[routes.by_labels(&labels, &format!("order-{n}"))] += 1;
        }
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!((4_700..5_300).contains(&counts[2]), "{counts:?}");
    }

    #[test]
    fn pools_that_are_not_possible_are_refused() {
        for specs in [
            vec![PoolSpec::named("")],
            vec![PoolSpec::named("a\u{7}")],
            vec![PoolSpec::named("a"), PoolSpec::named("a")],
            vec![PoolSpec::named("a").label("", "v")],
        ] {
            assert!(Routes::new(&specs).is_err(), "{specs:?}");
        }
        let routes = Routes::new(&[PoolSpec::named("a")]).unwrap();
        let error = routes.by_name("b").unwrap_err();
        assert_eq!(
            error.to_string(),
            "pool: \"b\" is not possible: one of \"a\""
        );
    }
}
