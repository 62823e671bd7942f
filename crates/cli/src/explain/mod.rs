//! `wheel cron explain`: what an expression means, the instants that come next, and what becomes of it
//! when the clocks are changed the next time.
//!
//! ```text
//! 30 2 * * *
//!   at 02:30, in America/New_York
//!
//! next after Fri 2026-03-06 19:00:00 -05:00
//!   Sat 2026-03-07 02:30:00 -05:00   in 7h30m
//!   Sun 2026-03-08 03:00:00 -04:00   in 1d7h
//!
//! the clocks change on Sun 2026-03-08, from 02:00:00 -05:00 to 03:00:00 -04:00: 1h is skipped
//!   02:30 is not on the clock that day: due once, right after, at 03:00:00 -04:00
//! ```
//!
//! A pure function of what is asked for and the data of the zone; nothing here reads a clock.

mod change;

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use wheel_runtime::Zone;

use crate::args::Instants;
use crate::output::print_all;
use crate::{duration, next};
use change::Change;

/// How an instant is shown.
const SHOWN: &str = "%a %Y-%m-%d %H:%M:%S %:z";

/// Prints it and returns the exit code.
pub(crate) fn explain(asked: &Instants) -> u8 {
    let from = asked.from.unwrap_or_else(SystemTime::now);
    if asked.expression.next_after(from, &asked.tz).is_none() {
        return next::nothing(asked, from);
    }
    print_all(|out| write(asked, from, out))
}

fn write(asked: &Instants, from: SystemTime, out: &mut impl Write) -> io::Result<()> {
    let Instants {
        expression, count, ..
    } = asked;
    let clocks = clocks(&asked.tz);
    let is_of_calendar = expression.period().is_none();
    writeln!(out, "{expression}")?;
    let meant = if is_of_calendar {
        format!(", in {}", asked.tz)
    } else {
        ", whatever the clock on the wall shows; counted from when it begins".to_owned()
    };
    writeln!(out, "  {}{meant}", expression.describe())?;

    let begin = shown(from, &clocks).unwrap_or_else(|| "then".to_owned());
    writeln!(out, "\nnext after {begin}")?;
    let mut left = *count;
    for at in expression.occurrences(from, &asked.tz) {
        let Some(shown) = shown(at, &clocks).filter(|_| left > 0) else {
            break;
        };
        left -= 1;
        let rest = at.duration_since(from).unwrap_or_default();
        // What is less than a second has begun.
        let rest = Duration::from_secs(rest.as_secs() + u64::from(rest.subsec_nanos() > 0));
        writeln!(out, "  {shown}   in {}", duration::format(rest))?;
    }
    if !is_of_calendar {
        return Ok(());
    }
    writeln!(out)?;
    match Timestamp::try_from(from)
        .ok()
        .and_then(|from| Change::after(from, &clocks))
    {
        Some(change) => {
            writeln!(out, "{}", change.describe(&clocks))?;
            writeln!(out, "  {}", change.effect(expression, &asked.tz, &clocks))
        }
        None => writeln!(out, "the clocks of {} do not change any more", asked.tz),
    }
}

fn shown(at: SystemTime, clocks: &TimeZone) -> Option<String> {
    let at = Timestamp::try_from(at).ok()?;
    Some(
        at.to_zoned_datetime(clocks.clone())
            .strftime(SHOWN)
            .to_string(),
    )
}

/// The data of a zone, from where the runtime has it.
pub(crate) fn clocks(zone: &Zone) -> TimeZone {
    let name = zone.name();
    let found = TimeZone::get(name).or_else(|_| TimeZoneDatabase::bundled().get(name));
    found.unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests;
