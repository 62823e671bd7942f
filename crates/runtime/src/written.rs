//! Durations and instants as definitions write them: text that people read, and that is read back
//! to the nanosecond.

use std::fmt::Display;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::duration;

/// A duration such as `1h30m`: see [`duration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenDuration(pub(crate) Duration);

/// An instant such as `2026-01-31T02:00:00Z`: RFC 3339. Read with any offset, written as UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenInstant(pub(crate) SystemTime);

impl Serialize for WrittenDuration {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&duration::format(self.0))
    }
}

impl<'de> Deserialize<'de> for WrittenDuration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let read = duration::parse(&text).map_err(|error| {
            let text: String = text.chars().take(40).collect();
            let examples = duration::EXAMPLES;
            D::Error::custom(format!("{text:?} is not a duration: {error}; {examples}"))
        })?;
        Ok(WrittenDuration(read))
    }
}

impl Serialize for WrittenInstant {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let at = Timestamp::try_from(self.0).ok().filter(is_rfc3339);
        let at = at.ok_or_else(|| S::Error::custom("an instant beyond the years 0 to 9999"))?;
        to.collect_str(&at)
    }
}

impl<'de> Deserialize<'de> for WrittenInstant {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = |why: &dyn Display| {
            let text: String = text.chars().take(40).collect();
            D::Error::custom(format!(
                "{text:?} is not an instant: {why}; write RFC 3339, such as \"2026-01-31T02:00:00Z\""
            ))
        };
        let at: Timestamp = text.parse().map_err(|error| wrong(&error))?;
        if !is_rfc3339(&at) {
            return Err(wrong(&"it is beyond the years 0 to 9999"));
        }
        let at = SystemTime::try_from(at).map_err(|error| wrong(&error))?;
        Ok(WrittenInstant(at))
    }
}

/// The years of RFC 3339 have four digits and no sign.
fn is_rfc3339(at: &Timestamp) -> bool {
    const YEAR_0: i64 = -62_167_219_200;
    at.as_second() >= YEAR_0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again<T>(value: &T) -> T
    where
        T: Serialize + for<'de> Deserialize<'de>,
    {
        let text = serde_json::to_string(value).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn durations_are_read_back_to_the_nanosecond() {
        let nanos = [0, 1, 999, 1_000_000_001, u64::MAX];
        for duration in nanos.map(Duration::from_nanos) {
            assert_eq!(again(&WrittenDuration(duration)).0, duration);
        }
        assert_eq!(again(&WrittenDuration(Duration::MAX)).0, Duration::MAX);
    }

    #[test]
    fn instants_are_read_back_to_the_nanosecond_on_both_sides_of_the_epoch() {
        let year = Duration::from_secs(365 * 24 * 3600);
        let odd = year * 30 + Duration::from_nanos(1);
        let epoch = SystemTime::UNIX_EPOCH;
        for at in [epoch, epoch + odd, epoch - odd] {
            assert_eq!(again(&WrittenInstant(at)).0, at);
        }
        let far = WrittenInstant(epoch + year * 9000);
        assert!(serde_json::to_string(&far).is_err());
        let early = WrittenInstant(epoch - year * 3000);
        assert!(serde_json::to_string(&early).is_err());
    }

    #[test]
    fn what_is_wrong_is_told_with_what_would_be_right() {
        let error = serde_json::from_str::<WrittenDuration>("\"5\"").unwrap_err();
        assert!(error.to_string().contains("did you mean `5s`?"), "{error}");
        let error = serde_json::from_str::<WrittenInstant>("\"soon\"").unwrap_err();
        assert!(error.to_string().contains("RFC 3339"), "{error}");
    }
}
