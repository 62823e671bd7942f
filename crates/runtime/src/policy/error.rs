//! A number in a policy that is not possible.

use std::fmt;

/// Why a policy is refused. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyError {
    /// Which number of which policy.
    pub what: &'static str,
    /// What was given.
    pub given: u64,
    /// The most that is possible; the least is 1.
    pub most: u64,
}

impl PolicyError {
    /// Refuses a number that is not from 1 to `most`.
    pub(crate) fn check(
        what: &'static str,
        given: impl Into<u64>,
        most: impl Into<u64>,
    ) -> Result<(), PolicyError> {
        let (given, most) = (given.into(), most.into());
        if (1..=most).contains(&given) {
            return Ok(());
        }
        Err(PolicyError { what, given, most })
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyError { what, given, most } = self;
        write!(f, "{what} is {given}, but must be from 1 to {most}")
    }
}

impl std::error::Error for PolicyError {}
