//! Signals that ask `wheel run` to end, handed to the main thread.
//!
//! The first one ends it gracefully, a second one kills at once. A `SIGHUP` that was ignored when
//! `wheel` was started (`nohup`) stays ignored. A `SIGCHLD` that was ignored does not: the system
//! would reap the programs itself, and nobody could tell how they ended.

use std::io;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use wheel_sync::thread;

/// Calls `notice` with the number of each signal that asks for the end, on a thread of its own.
///
/// # Errors
///
/// What the system says when a handler cannot be installed or the thread cannot be started.
pub(crate) fn listen(mut notice: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    let mut wanted = vec![SIGINT, SIGQUIT, SIGTERM];
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    if is_ignored(SIGCHLD) {
        // A handler is all it takes.
        wanted.push(SIGCHLD);
    }
    let mut signals = Signals::new(wanted)?;
    thread::Builder::new()
        .name("wheel-signals".to_owned())
        .spawn(move || {
            for signal in signals.forever().filter(|signal| *signal != SIGCHLD) {
                notice(signal);
            }
        })?;
    Ok(())
}

/// The name of a signal, for messages.
pub(crate) fn name(signal: i32) -> &'static str {
    signal_hook::low_level::signal_name(signal).unwrap_or("a signal")
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
