//! A retry policy as definitions write it: one key says which back-off, others what goes with it.
//!
//! ```text
//!  {"exponential": "1s", "factor": 2.0, "max_attempts": 5, "max_delay": "1m", "jitter": "equal"}
//! ```
//!
//! Functions are not data: a policy with one of them is not written.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use super::{Backoff, Duration, Retry, RetryJitter};
use crate::written::WrittenDuration;

#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename = "retry")]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linear: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exponential: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_delay: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_elapsed: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter: Option<RetryJitter>,
}

impl Retry {
    /// Which part of it is a function, if one is.
    pub(crate) fn function(&self) -> Option<&'static str> {
        match (&self.backoff, &self.retry_if) {
            (Backoff::Custom(_), _) => Some("Retry::custom"),
            (_, Some(_)) => Some("Retry::retry_if"),
            _ => None,
        }
    }
}

impl Serialize for Retry {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if let Some(function) = self.function() {
            let error = format!("retry: {function} is a function, which cannot be written down");
            return Err(S::Error::custom(error));
        }
        let Retry {
            backoff,
            jitter,
            max_attempts,
            max_delay,
            max_elapsed,
            retry_if: _,
        } = self;
        let mut written = Written {
            max_attempts: Some(*max_attempts),
            max_delay: (*max_delay != Duration::MAX).then_some(WrittenDuration(*max_delay)),
            max_elapsed: max_elapsed.map(WrittenDuration),
            jitter: *jitter,
            ..Written::default()
        };
        match *backoff {
            Backoff::Fixed(delay) => written.fixed = Some(WrittenDuration(delay)),
            Backoff::Linear(step) => written.linear = Some(WrittenDuration(step)),
            Backoff::Exponential { base, factor } => {
                written.exponential = Some(WrittenDuration(base));
                written.factor = Some(factor);
            }
            Backoff::Custom(_) => {}
        }
        written.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Retry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(from)?;
        let backoffs = [
            written.fixed.map(|delay| Retry::fixed(delay.0)),
            written.linear.map(|step| Retry::linear(step.0)),
            written.exponential.map(|base| Retry::exponential(base.0)),
        ];
        let mut backoffs = backoffs.into_iter().flatten();
        let (Some(mut retry), None) = (backoffs.next(), backoffs.next()) else {
            return Err(D::Error::custom(
                "a retry has one of `fixed`, `linear`, `exponential`",
            ));
        };
        match (&mut retry.backoff, written.factor) {
            (_, None) => {}
            (Backoff::Exponential { factor, .. }, Some(by)) => *factor = by,
            _ => return Err(D::Error::custom("`factor` goes with `exponential`")),
        }
        retry.jitter = written.jitter;
        if let Some(attempts) = written.max_attempts {
            retry.max_attempts = attempts;
        }
        if let Some(delay) = written.max_delay {
            retry.max_delay = delay.0;
        }
        retry.max_elapsed = written.max_elapsed.map(|limit| limit.0);
        // Here, where the key is known, and not only when it is submitted.
        retry.check().map_err(D::Error::custom)?;
        Ok(retry)
    }
}
