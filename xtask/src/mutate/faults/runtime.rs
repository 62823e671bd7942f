//! Faults of `wheel-runtime`.

use super::Fault;

pub(super) const FAULTS: &[Fault] = &[];
