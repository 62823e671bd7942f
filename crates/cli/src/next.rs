//! `wheel cron next`: the instants that an expression names, one a line.

use std::io::{self, Write};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::args::{EXIT_AS_ASKED, EXIT_NOTHING, Instants};
use crate::output::print;

/// Prints them and returns the exit code.
pub(crate) fn next(asked: &Instants) -> u8 {
    let from = asked.from.unwrap_or_else(SystemTime::now);
    match print(|out| write(asked, from, out)) {
        Ok(0) => nothing(asked, from),
        Ok(_) => EXIT_AS_ASKED,
        Err(code) => code,
    }
}

/// Says that there is none.
pub(crate) fn nothing(asked: &Instants, from: SystemTime) -> u8 {
    let from =
        Timestamp::try_from(from).map_or_else(|_| "then".to_owned(), |from| from.to_string());
    let (expression, zone) = (&asked.expression, &asked.tz);
    let _ = writeln!(
        io::stderr(),
        "error: `{expression}` names no instant after {from} in {zone}"
    );
    EXIT_NOTHING
}

fn write(asked: &Instants, from: SystemTime, out: &mut impl Write) -> io::Result<u64> {
    let mut printed = 0;
    let mut instants = asked.expression.occurrences(from, &asked.tz);
    while printed < asked.count
        && let Some(Ok(instant)) = instants.next().map(Timestamp::try_from)
    {
        writeln!(out, "{instant}")?;
        printed += 1;
    }
    Ok(printed)
}
