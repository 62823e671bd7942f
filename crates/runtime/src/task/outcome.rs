//! How a run ends, and what handlers may return.

use std::fmt::Display;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It did what it should.
    Success,
    /// It failed, with this message.
    Failure(String),
}

/// What a handler may return: `()`, `Result<(), E>` where `E` can be displayed, or an [`Outcome`].
pub trait IntoOutcome {
    /// The outcome that it stands for.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::Success
    }
}

impl<E: Display> IntoOutcome for Result<(), E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(()) => Outcome::Success,
            Err(error) => Outcome::Failure(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_may_return_nothing_a_result_or_an_outcome() {
        assert_eq!(().into_outcome(), Outcome::Success);
        assert_eq!(Ok::<(), &str>(()).into_outcome(), Outcome::Success);
        let failed = Outcome::Failure("no paper".into());
        assert_eq!(Err("no paper").into_outcome(), failed);
        assert_eq!(failed.clone().into_outcome(), failed);
    }
}
