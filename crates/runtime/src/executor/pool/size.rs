//! How many threads a pool is asked to have.

use std::ops::RangeInclusive;

use super::staff::WORKERS_MAX;
use crate::error::BuildError;

/// How many threads run handlers: a number, or a range within which the pool grows and shrinks.
/// From 1 to 1024.
///
/// A pool with a range starts with the least. It grows while work waits that no sleeping worker is
/// there for, one thread at a time and always one ahead of what is busy, up to the most. A worker
/// that has had nothing to do for the pool's
/// [`keep_alive`](crate::PoolBuilder::keep_alive) leaves, down to the least.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{Scheduler, Workers};
///
/// let fixed = Scheduler::builder().workers(8).build()?;
/// let elastic = Scheduler::builder().workers(2..=32).build()?;
/// assert_eq!(Workers::from(8), Workers::from(8..=8));
/// # drop((fixed, elastic));
/// # Ok::<(), wheel_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Workers(RangeInclusive<usize>);

impl Workers {
    /// # Errors
    ///
    /// Which number is not possible. Of a range that is empty, the end.
    pub(crate) fn checked(&self) -> Result<RangeInclusive<usize>, BuildError> {
        let (least, most) = (*self.0.start(), *self.0.end());
        BuildError::check("workers", least as u128, 1..=WORKERS_MAX as u128)?;
        BuildError::check("workers", most as u128, least as u128..=WORKERS_MAX as u128)?;
        Ok(least..=most)
    }
}

impl From<usize> for Workers {
    fn from(workers: usize) -> Workers {
        Workers(workers..=workers)
    }
}

impl From<RangeInclusive<usize>> for Workers {
    fn from(workers: RangeInclusive<usize>) -> Workers {
        Workers(workers)
    }
}
