//! How many runs with one key may go at once.

#[cfg(feature = "serde")]
mod written;

use std::num::NonZeroU32;

use super::PolicyError;

/// At most so many runs at once, of all tasks that name the same key: one, unless told otherwise.
///
/// Where tasks say different numbers for one key, the number of the one that was due last holds.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Concurrency, Scheduler};
///
/// let scheduler = Scheduler::builder().build()?;
/// let import = scheduler.task("import-7").after(Duration::ZERO).concurrency_key("customer-7");
/// import.run(|_| println!("no other run of customer 7 goes on meanwhile"))?;
/// let scan = scheduler.task("scan-7").after(Duration::ZERO);
/// scan.concurrency_key(Concurrency::key("disk").at_most(4)).run(|_| ())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "it limits the task that it is given to"]
pub struct Concurrency {
    pub(crate) key: String,
    at_most: u32,
}

impl Concurrency {
    /// One run at once. The key has 1 to 256 bytes, without control characters.
    pub fn key(key: impl Into<String>) -> Concurrency {
        Concurrency {
            key: key.into(),
            at_most: 1,
        }
    }

    /// So many at once, from 1.
    pub fn at_most(mut self, runs: u32) -> Concurrency {
        self.at_most = runs;
        self
    }

    /// How many may go at once.
    pub(crate) fn checked(&self) -> Result<NonZeroU32, PolicyError> {
        const FIELD: &str = "concurrency_key";
        PolicyError::check_text(FIELD, &self.key)?;
        let at_most = NonZeroU32::new(self.at_most);
        at_most.ok_or_else(|| PolicyError::new(FIELD, "at most 0 at once", "at least 1"))
    }
}

impl From<&str> for Concurrency {
    fn from(key: &str) -> Concurrency {
        Concurrency::key(key)
    }
}

impl From<String> for Concurrency {
    fn from(key: String) -> Concurrency {
        Concurrency::key(key)
    }
}
