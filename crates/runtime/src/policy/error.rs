//! Why what a policy was told is refused: one form for all of them.

use std::fmt;
use std::ops::RangeInclusive;

/// The longest key or label, in bytes.
const TEXT_MAX: usize = 256;

/// What a policy was told is not possible. Says which part of it, what was given, and what would be
/// right; trying the same again does not help.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Retry, Scheduler, SubmitError};
///
/// let scheduler = Scheduler::builder().build()?;
/// let task = scheduler.task("x").after(Duration::ZERO);
/// let retry = Retry::fixed(Duration::from_secs(1)).max_attempts(0);
/// let SubmitError::Policy(error) = task.retry(retry).run(|_| ()).unwrap_err() else { panic!() };
/// assert_eq!(error.field(), "retry.max_attempts");
/// assert_eq!(
///     error.to_string(),
///     "retry.max_attempts: 0 is not possible: at least 1, as it counts the first try"
/// );
/// # Ok::<(), wheel_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    field: &'static str,
    given: String,
    wanted: String,
}

impl PolicyError {
    pub(crate) fn new(
        field: &'static str,
        given: impl fmt::Display,
        wanted: impl Into<String>,
    ) -> PolicyError {
        PolicyError {
            field,
            given: given.to_string(),
            wanted: wanted.into(),
        }
    }

    /// What was given what is not possible: the method of the builder, such as `timeout`, and behind
    /// a dot that of the policy, such as `retry.max_attempts`.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Refuses a number that is not in `possible`, which `what` counts.
    pub(crate) fn check(
        field: &'static str,
        what: &str,
        given: u64,
        possible: RangeInclusive<u64>,
    ) -> Result<(), PolicyError> {
        if possible.contains(&given) {
            return Ok(());
        }
        let (least, most) = possible.into_inner();
        let wanted = match most {
            u64::MAX => format!("at least {least}"),
            _ => format!("{least} to {most}"),
        };
        Err(PolicyError::new(field, format!("{what}{given}"), wanted))
    }

    /// Refuses a text that cannot be shown or told apart.
    pub(crate) fn check_text(field: &'static str, text: &str) -> Result<(), PolicyError> {
        let is_possible = (1..=TEXT_MAX).contains(&text.len()) && !text.contains(char::is_control);
        if is_possible {
            return Ok(());
        }
        let shown: String = text.chars().take(40).collect();
        let wanted = format!("1 to {TEXT_MAX} bytes without control characters");
        Err(PolicyError::new(field, format!("{shown:?}"), wanted))
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyError {
            field,
            given,
            wanted,
        } = self;
        write!(f, "{field}: {given} is not possible: {wanted}")
    }
}

impl std::error::Error for PolicyError {}
