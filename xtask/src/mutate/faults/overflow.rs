//! Faults of `wheel-overflow`: the order of the heap, its keys, the sweep of far timers.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[];
