//! The answer of a command that prints once and ends, on standard output.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use crate::args::{EXIT_AS_ASKED, EXIT_OUTPUT_LOST};

/// Prints what `write` writes. Returns what it does, or else the exit code: that of success if whoever
/// reads has seen enough.
pub(crate) fn print<T>(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<T>,
) -> Result<T, u8> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out).and_then(|value| out.flush().map(|()| value));
    written.map_err(|error| {
        if error.kind() == ErrorKind::BrokenPipe {
            return EXIT_AS_ASKED;
        }
        let _ = writeln!(
            io::stderr(),
            "error: standard output is incomplete: {error}"
        );
        EXIT_OUTPUT_LOST
    })
}

/// The same of an answer that leaves nothing to be said: the exit code.
pub(crate) fn print_all(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> u8 {
    print(write).map_or_else(|code| code, |()| EXIT_AS_ASKED)
}
