//! Signals that ask `wheel run` to end, or to read its file again, handed to the main thread.
//!
//! The first one that asks for the end ends it gracefully, a second one kills at once. A `SIGHUP` asks
//! for the file to be read again, unless it says that the terminal has hung up: then it asks for the
//! end. One that was ignored when `wheel` was started (`nohup`) stays ignored. A `SIGCHLD` that was ignored does not: the system
//! would reap the programs itself, and nobody could tell how they ended.

use std::io;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use wheel_sync::thread;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The end, by this signal.
    End(i32),
    /// That the file is read again.
    Reload,
}

/// Calls `notice` with what each signal asks for, on a thread of its own.
///
/// # Errors
///
/// What the system says when a handler cannot be installed or the thread cannot be started.
pub(crate) fn listen(mut notice: impl FnMut(Asked) + Send + 'static) -> io::Result<()> {
    let mut wanted = vec![SIGINT, SIGQUIT, SIGTERM];
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    if is_ignored(SIGCHLD) {
        // A handler is all it takes.
        wanted.push(SIGCHLD);
    }
    let had_terminal = has_terminal();
    let mut signals = Signals::new(wanted)?;
    thread::Builder::new()
        .name("wheel-signals".to_owned())
        .spawn(move || {
            for signal in signals.forever().filter(|signal| *signal != SIGCHLD) {
                let has_hung_up = || had_terminal && !has_terminal();
                notice(match signal {
                    SIGHUP if !has_hung_up() => Asked::Reload,
                    signal => Asked::End(signal),
                });
            }
        })?;
    Ok(())
}

/// The name of a signal, for messages.
pub(crate) fn name(signal: i32) -> &'static str {
    signal_hook::low_level::signal_name(signal).unwrap_or("a signal")
}

/// Whether there is a terminal that can hang up. One that has is none any more when the signal comes.
fn has_terminal() -> bool {
    // Another error, such as of too many open files, says nothing of the terminal.
    let none = rustix::io::Errno::NXIO.raw_os_error();
    let opened = std::fs::File::open("/dev/tty");
    opened.map_or_else(|error| error.raw_os_error() != Some(none), |_| true)
}

/// Whether a signal was ignored from the start. Known on Linux only.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
