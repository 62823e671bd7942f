//! A concurrency key as definitions write it: the key alone, or with how many may go at once.
//!
//! ```text
//!  "customer-7"      {"key": "disk", "at_most": 4}
//! ```

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

use super::Concurrency;

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename = "concurrency_key")]
struct Written {
    key: String,
    at_most: u32,
}

impl Serialize for Concurrency {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.checked().map_err(S::Error::custom)?;
        let Concurrency { key, at_most } = self;
        match at_most {
            1 => to.serialize_str(key),
            _ => Written {
                key: key.clone(),
                at_most: *at_most,
            }
            .serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Concurrency {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read: Concurrency = from.deserialize_any(Reader)?;
        // Here, where the key is known, and not only when it is submitted.
        read.checked().map_err(D::Error::custom)?;
        Ok(read)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Concurrency;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a concurrency_key: a text, or `key` and `at_most`")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<Concurrency, E> {
        Ok(Concurrency::key(key))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Concurrency, M::Error> {
        let Written { key, at_most } = Written::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Concurrency { key, at_most })
    }
}
