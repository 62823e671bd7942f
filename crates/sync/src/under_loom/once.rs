//! A cell that is written once, as weak as std's: who sees that it is set sees what was set, and who
//! has nothing that orders it behind the `set` may still see nothing.

use super::atomic::{AtomicBool, Ordering};

/// A cell that is written once.
#[derive(Debug)]
pub struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_set: AtomicBool,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    pub fn new() -> OnceLock<T> {
        OnceLock {
            value: std::sync::OnceLock::new(),
            is_set: AtomicBool::new(false),
        }
    }

    /// What it was set to.
    pub fn get(&self) -> Option<&T> {
        // Acquire: pairs with `set`.
        let is_set = self.is_set.load(Ordering::Acquire);
        is_set.then(|| self.value.get().expect("it is set first"))
    }

    /// Sets it.
    ///
    /// # Errors
    ///
    /// `value`, if it was set before.
    pub fn set(&self, value: T) -> Result<(), T> {
        self.value.set(value)?;
        // Release: pairs with `get`.
        self.is_set.store(true, Ordering::Release);
        Ok(())
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}
