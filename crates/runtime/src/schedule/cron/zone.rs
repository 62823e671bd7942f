//! Time zones by name.
//!
//! The system's own data comes first, since it is kept up to date without a new build of this
//! crate; where the system has none, or lacks a name, the copy that is built in is asked.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// A time zone of the IANA database, such as `Asia/Shanghai`, with its daylight saving time.
///
/// The data is that of the system (`/usr/share/zoneinfo`, or where `TZDIR` leads). A system that
/// has none, or not this name, gets it from a copy in this crate. Names are found in any case. The
/// first use of a name reads a file; a `Zone` keeps what it read, and so do its clones, which are
/// cheap.
///
/// # Examples
///
/// ```
/// use wheel_runtime::Zone;
///
/// let zone: Zone = "asia/shanghai".parse()?;
/// assert_eq!(zone.name(), "Asia/Shanghai");
/// let error = "Asia/Shangai".parse::<Zone>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "there is no time zone `Asia/Shangai` (did you mean Asia/Shanghai?)"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(pub(super) TimeZone);

/// A text is not the name of a time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneError {
    name: String,
    meant: Option<String>,
}

/// Longer than any name of the database.
const CHARS_MAX: usize = 64;

impl Zone {
    /// Coordinated universal time, without daylight saving.
    pub const UTC: Zone = Zone(TimeZone::UTC);

    /// Its name in the database.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// How many nanoseconds local time is ahead of UTC, so many after the Unix epoch.
    pub(crate) fn offset_at(&self, nanos: i128) -> i128 {
        let offset = self.0.to_offset(timestamp_at(nanos));
        i128::from(offset.seconds()) * 1_000_000_000
    }

    /// The first change of its clocks after that instant.
    pub(crate) fn change_after(&self, nanos: i128) -> Option<i128> {
        let mut changes = self.0.following(timestamp_at(nanos));
        changes
            .next()
            .map(|change| change.timestamp().as_nanosecond())
    }

    /// The last change of its clocks at or before that instant.
    pub(crate) fn change_by(&self, nanos: i128) -> Option<i128> {
        let mut changes = self.0.preceding(timestamp_at(nanos + 1));
        changes
            .next()
            .map(|change| change.timestamp().as_nanosecond())
    }

    pub(super) fn named(name: &str) -> Result<Zone, ZoneError> {
        Zone::among(name, [jiff::tz::db(), bundled()])
    }

    /// The zone of this name in the first database that has it.
    fn among(name: &str, databases: [&TimeZoneDatabase; 2]) -> Result<Zone, ZoneError> {
        let name = name.trim();
        // Of other names no database knows anything; none need be asked.
        let is_possible = name.len() <= CHARS_MAX
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-+/".contains(&b));
        let get = |database: &TimeZoneDatabase| database.get(name).ok();
        let found = is_possible.then(|| databases.into_iter().find_map(get));
        let found = found.flatten().filter(|zone| zone.iana_name().is_some());
        found.map(Zone).ok_or_else(|| ZoneError {
            name: name.chars().take(CHARS_MAX).collect(),
            meant: meant_by(name),
        })
    }
}

/// Outside of the years of the calendar it is their first or last instant.
fn timestamp_at(nanos: i128) -> Timestamp {
    Timestamp::from_nanosecond(nanos).unwrap_or(if nanos < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

fn bundled() -> &'static TimeZoneDatabase {
    static BUNDLED: OnceLock<TimeZoneDatabase> = OnceLock::new();
    BUNDLED.get_or_init(TimeZoneDatabase::bundled)
}

/// The name that was probably meant: of the same city, or with few other letters.
fn meant_by(wrong: &str) -> Option<String> {
    let wrong = wrong.to_lowercase().replace(' ', "_");
    if wrong.is_empty() || wrong.len() > CHARS_MAX {
        return None;
    }
    let city = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let names = || bundled().available().map(|name| name.as_str().to_owned());
    let same_city = names().find(|name| city(&name.to_lowercase()) == city(&wrong));
    same_city.or_else(|| {
        let scored = names().map(|name| (distance(&wrong, &name.to_lowercase()), name));
        let (steps, name) = scored.min()?;
        (steps <= 2).then_some(name)
    })
}

/// Letters to insert, drop or replace to get from one text to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

impl FromStr for Zone {
    type Err = ZoneError;

    fn from_str(name: &str) -> Result<Zone, ZoneError> {
        Zone::named(name)
    }
}

impl TryFrom<&str> for Zone {
    type Error = ZoneError;

    fn try_from(name: &str) -> Result<Zone, ZoneError> {
        Zone::named(name)
    }
}

impl TryFrom<String> for Zone {
    type Error = ZoneError;

    fn try_from(name: String) -> Result<Zone, ZoneError> {
        Zone::named(&name)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.name())
    }
}

impl fmt::Display for ZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no time zone `{}`", self.name.escape_debug())?;
        match &self.meant {
            Some(meant) => write!(f, " (did you mean {meant}?)"),
            None => f.write_str(" (write a name such as Europe/Paris, Asia/Shanghai or UTC)"),
        }
    }
}

impl std::error::Error for ZoneError {}

/// For callers that take a zone or its name: a zone is right already.
impl From<Infallible> for ZoneError {
    fn from(never: Infallible) -> ZoneError {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_zones_has_those_that_are_built_in() {
        let nothing = TimeZoneDatabase::none();
        let tokyo = Zone::among("Asia/Tokyo", [&nothing, bundled()]).unwrap();
        let offset = tokyo.0.to_offset(jiff::Timestamp::UNIX_EPOCH);
        assert_eq!(offset.seconds(), 9 * 3600);
        assert!(Zone::among("Asia/Tokyo", [&nothing, &nothing]).is_err());
        assert!(Zone::among("Mars/Phobos", [&nothing, bundled()]).is_err());
    }
}
