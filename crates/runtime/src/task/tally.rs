//! The tally of a task, which takes no room before there is something to count: of a million tasks
//! that wait, few have run.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use super::Tally;

/// Reads as a tally of nothing until it is written to.
#[derive(Default)]
pub(super) struct LazyTally(Option<Box<Tally>>);

impl Deref for LazyTally {
    type Target = Tally;

    fn deref(&self) -> &Tally {
        static NOTHING: OnceLock<Tally> = OnceLock::new();
        match &self.0 {
            Some(tally) => tally,
            None => NOTHING.get_or_init(Tally::default),
        }
    }
}

impl DerefMut for LazyTally {
    fn deref_mut(&mut self) -> &mut Tally {
        self.0.get_or_insert_default()
    }
}
