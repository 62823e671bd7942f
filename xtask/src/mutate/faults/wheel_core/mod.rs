//! Faults of `wheel-core`.

mod driver;
mod levels;
mod threads;

use super::Fault;

pub(super) const FAULTS: [&[Fault]; 3] = [threads::FAULTS, driver::FAULTS, levels::FAULTS];
