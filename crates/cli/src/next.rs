//! `wheel cron next`: the instants that an expression names, one a line.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::args::{EXIT_AS_ASKED, EXIT_NOTHING, EXIT_OUTPUT_LOST, NextArgs};

/// Prints them and returns the exit code.
pub(crate) fn next(args: &NextArgs) -> u8 {
    let from = args.from.unwrap_or_else(SystemTime::now);
    match print(args, from, &mut BufWriter::new(io::stdout().lock())) {
        Ok(0) => {
            let from = Timestamp::try_from(from)
                .map_or_else(|_| "then".to_owned(), |from| from.to_string());
            let (expression, zone) = (&args.expression, &args.tz);
            let _ = writeln!(
                io::stderr(),
                "error: `{expression}` names no instant after {from} in {zone}"
            );
            EXIT_NOTHING
        }
        Ok(_) => EXIT_AS_ASKED,
        // Whoever reads has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => EXIT_AS_ASKED,
        Err(error) => {
            let _ = writeln!(
                io::stderr(),
                "error: standard output is incomplete: {error}"
            );
            EXIT_OUTPUT_LOST
        }
    }
}

fn print(args: &NextArgs, from: SystemTime, out: &mut impl Write) -> io::Result<u64> {
    let mut printed = 0;
    let mut instants = args.expression.occurrences(from, &args.tz);
    while printed < args.count
        && let Some(Ok(instant)) = instants.next().map(Timestamp::try_from)
    {
        writeln!(out, "{instant}")?;
        printed += 1;
    }
    out.flush()?;
    Ok(printed)
}
