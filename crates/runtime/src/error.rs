//! Why an engine could not be built.
//!
//! One type for both doors, so that a service that builds several has one error to show.

use std::fmt;
use std::io;
use std::ops::RangeInclusive;

use wheel_core::TickLengthError;

use crate::policy::PolicyError;

/// Why `build` refused. Nothing has been started, and no thread is left behind.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The tick is not one that the wheel can have. Trying again does not help.
    Tick(TickLengthError),
    /// A number is outside what is possible. Trying again does not help.
    OutOfRange {
        /// The builder's method that was given the number, and the unit if it has one.
        what: &'static str,
        /// What was given.
        given: u128,
        /// The least that is possible.
        least: u128,
        /// The most that is possible.
        most: u128,
    },
    /// The name or a label of a [`PoolSpec`](crate::PoolSpec) is not possible. Trying again does not
    /// help.
    Pool(PolicyError),
    /// The system refused a thread. Trying again later may help.
    Thread(io::Error),
}

impl BuildError {
    /// Refuses a number that is not possible.
    pub(crate) fn check(
        what: &'static str,
        given: u128,
        possible: RangeInclusive<u128>,
    ) -> Result<(), BuildError> {
        if possible.contains(&given) {
            return Ok(());
        }
        let (least, most) = possible.into_inner();
        Err(BuildError::OutOfRange {
            what,
            given,
            least,
            most,
        })
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Tick(error) => error.fmt(f),
            BuildError::Pool(error) => error.fmt(f),
            BuildError::OutOfRange {
                what,
                given,
                least,
                most,
            } => {
                write!(f, "{what} is {given}, but must be ")?;
                if *most == usize::MAX as u128 {
                    write!(f, "at least {least}")
                } else {
                    write!(f, "from {least} to {most}")
                }
            }
            BuildError::Thread(_) => f.write_str("the system refused to start a thread"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Tick(error) => Some(error),
            BuildError::Pool(error) => Some(error),
            BuildError::Thread(error) => Some(error),
            BuildError::OutOfRange { .. } => None,
        }
    }
}

impl From<TickLengthError> for BuildError {
    fn from(error: TickLengthError) -> BuildError {
        BuildError::Tick(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_possible_says_which_ones_are() {
        let text = |most| {
            let error = BuildError::OutOfRange {
                what: "workers",
                given: 0,
                least: 1,
                most,
            };
            error.to_string()
        };
        assert_eq!(text(1024), "workers is 0, but must be from 1 to 1024");
        let without_limit = text(usize::MAX as u128);
        assert_eq!(without_limit, "workers is 0, but must be at least 1");
    }
}
