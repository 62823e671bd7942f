//! The name of one timer of one engine, for ever.

use std::num::NonZeroU32;

use crate::state::Generation;

/// Names one timer of one engine. 16 bytes, `Copy`, and never another timer's name.
///
/// Keys come from `insert` and `reset` only and cannot be made otherwise. Once the timer has fired,
/// was cancelled or was reset, its old key does nothing, however often the memory behind it has
/// been used again; another engine's key does nothing either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) engine: EngineId,
    pub(crate) index: u32,
    pub(crate) generation: Generation,
}

const _: () = assert!(size_of::<Key>() == 16 && size_of::<Option<Key>>() == 16);

/// Tells the keys of one engine from those of another in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EngineId(NonZeroU32);

impl EngineId {
    /// An id that no other engine of this process has.
    ///
    /// # Panics
    ///
    /// After 2^32 - 1 engines, rather than give out an id twice.
    pub(crate) fn unique() -> EngineId {
        // tidy: allow sync-only, ids outlive an execution of a model and order nothing
        use std::sync::atomic::{AtomicU32, Ordering};
        static LAST: AtomicU32 = AtomicU32::new(0);
        // Relaxed: it hands out numbers. [O15]
        let relaxed = Ordering::Relaxed;
        let next = LAST.fetch_update(relaxed, relaxed, |last| last.checked_add(1));
        let last =
            next.expect("this process has made 2^32 - 1 timing wheels, the most there are ids for");
        EngineId(NonZeroU32::MIN.saturating_add(last))
    }
}
