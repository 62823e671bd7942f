//! How some fields of a definition are written, and what is refused when they are read: here, where
//! the key is known, and not only when the definition is submitted.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use crate::policy::{Labels, Misfire, Overlap, PolicyError, When};
use crate::scheduler::time_limits::check_limit;
use crate::written::WrittenDuration;

/// Another task that this one comes after.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, rename = "depends_on")]
struct Dependency {
    id: String,
    #[serde(rename = "when")]
    wanted: When,
}

fn checked<T, E: Error>(
    read: T,
    check: impl FnOnce(&T) -> Result<(), PolicyError>,
) -> Result<T, E> {
    match check(&read) {
        Ok(()) => Ok(read),
        Err(error) => Err(E::custom(error)),
    }
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(super) fn misfire<'de, D: Deserializer<'de>>(from: D) -> Result<Misfire, D::Error> {
    checked(Misfire::deserialize(from)?, |misfire| misfire.check())
}

pub(super) fn overlap<'de, D: Deserializer<'de>>(from: D) -> Result<Overlap, D::Error> {
    checked(Overlap::deserialize(from)?, |overlap| overlap.check())
}

pub(super) fn labels<'de, D>(from: D) -> Result<BTreeMap<String, String>, D::Error>
where
    D: Deserializer<'de>,
{
    checked(BTreeMap::deserialize(from)?, |labels| {
        Labels::from_map(labels).check()
    })
}

pub(super) fn pool<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    checked(Option::<String>::deserialize(from)?, |pool| {
        let mut pool = pool.iter();
        pool.try_for_each(|pool| PolicyError::check_text("pool", pool))
    })
}

pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    checked(Option::<u64>::deserialize(from)?, |count| match count {
        Some(0) => Err(PolicyError::new("count", "0", "at least 1")),
        _ => Ok(()),
    })
}

pub(super) fn write_limit<S>(limit: &Option<Duration>, to: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
{
    limit.map(WrittenDuration).serialize(to)
}

pub(super) fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    limit("timeout", from)
}

pub(super) fn deadline<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    limit("deadline", from)
}

fn limit<'de, D>(field: &'static str, from: D) -> Result<Option<Duration>, D::Error>
where
    D: Deserializer<'de>,
{
    let written = Option::<WrittenDuration>::deserialize(from)?;
    let limit = written.map(|written| written.0);
    checked(limit, |limit| check_limit(field, *limit))
}

pub(super) fn write_dependencies<S>(after: &[(String, When)], to: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
{
    let written = after.iter().map(|(id, wanted)| Dependency {
        id: id.clone(),
        wanted: *wanted,
    });
    to.collect_seq(written)
}

pub(super) fn dependencies<'de, D>(from: D) -> Result<Vec<(String, When)>, D::Error>
where
    D: Deserializer<'de>,
{
    let written = Vec::<Dependency>::deserialize(from)?;
    Ok(written
        .into_iter()
        .map(|one| (one.id, one.wanted))
        .collect())
}
