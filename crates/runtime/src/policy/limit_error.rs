//! Why what was asked about order and limits is refused.

use std::fmt;

/// The longest key or label, in bytes.
const TEXT_MAX: usize = 256;

/// Why a label, a pool, a concurrency key or a rate limit is refused. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitError {
    field: &'static str,
    given: String,
    wanted: String,
}

impl LimitError {
    pub(crate) fn new(
        field: &'static str,
        given: impl fmt::Display,
        wanted: impl Into<String>,
    ) -> LimitError {
        LimitError {
            field,
            given: given.to_string(),
            wanted: wanted.into(),
        }
    }

    /// The method that was given what is not possible: `label`, `pool`, `concurrency_key` or
    /// `rate_limit`.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Refuses a text that cannot be shown or told apart.
    pub(crate) fn check_text(field: &'static str, text: &str) -> Result<(), LimitError> {
        let is_possible = (1..=TEXT_MAX).contains(&text.len()) && !text.contains(char::is_control);
        if is_possible {
            return Ok(());
        }
        let shown: String = text.chars().take(40).collect();
        let wanted = format!("1 to {TEXT_MAX} bytes without control characters");
        Err(LimitError::new(field, format!("{shown:?}"), wanted))
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LimitError {
            field,
            given,
            wanted,
        } = self;
        write!(f, "{field}: {given} is not possible: {wanted}")
    }
}

impl std::error::Error for LimitError {}
