//! A rate limit as definitions write it.
//!
//! ```text
//!  {"count": 100, "period": "1m", "burst": 5, "key": "api"}      {"per_second": 0.5}
//! ```

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use super::{Asked, RateLimit};
use crate::written::WrittenDuration;

#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename = "rate_limit")]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    burst: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl Serialize for RateLimit {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.checked().map_err(S::Error::custom)?;
        let RateLimit { asked, burst, key } = self;
        let mut written = Written {
            burst: (*burst != 1).then_some(*burst),
            key: key.clone(),
            ..Written::default()
        };
        match *asked {
            Asked::Count(count, period) => {
                written.count = Some(count);
                written.period = Some(WrittenDuration(period));
            }
            Asked::PerSecond(rate) => written.per_second = Some(rate),
        }
        written.serialize(to)
    }
}

impl<'de> Deserialize<'de> for RateLimit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(from)?;
        let asked = match (written.count, written.period, written.per_second) {
            (Some(count), Some(period), None) => Asked::Count(count, period.0),
            (None, None, Some(rate)) => Asked::PerSecond(rate),
            _ => {
                return Err(D::Error::custom(
                    "a rate_limit has `count` and `period`, or `per_second`",
                ));
            }
        };
        let limit = RateLimit {
            asked,
            burst: written.burst.unwrap_or(1),
            key: written.key,
        };
        // Here, where the key is known, and not only when it is submitted.
        limit.checked().map_err(D::Error::custom)?;
        Ok(limit)
    }
}
