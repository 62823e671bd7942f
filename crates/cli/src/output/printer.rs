//! The only writer to standard output and standard error.
//!
//! A reader that goes away (`wheel run ... | head -1`) is no fault of the tasks: what would go to
//! it is dropped from then on, and the programs run on. The live line stands at the bottom of the
//! terminal: it is wiped before a line is printed and drawn again behind it. Any thread may print;
//! lines of different threads do not mix.

use std::io::{self, Write};

use wheel_sync::{Arc, Mutex};

use super::Stream;

/// Back to the start of the line, and wipe it.
const WIPE: &[u8] = b"\r\x1b[K";

/// A cheap handle; all clones print to the same place.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    out_open: bool,
    err_open: bool,
    /// Why standard output has been given up, unless its reader just went away.
    out_lost: Option<io::Error>,
    /// The live line as it stands on the terminal; empty: there is none.
    live: String,
    /// What would go to standard error, while the whole terminal is drawn on.
    held: Option<Vec<u8>>,
}

/// As much as is held back; what comes after that is dropped.
const HELD_MAX: usize = 1 << 16;

impl Printer {
    pub(crate) fn new() -> Printer {
        Printer {
            state: Arc::new(Mutex::new(State {
                out_open: true,
                err_open: true,
                out_lost: None,
                live: String::new(),
                held: None,
            })),
        }
    }

    /// Prints whole lines, which end with a line break.
    pub(crate) fn print(&self, stream: Stream, lines: &[u8]) {
        let mut state = self.state.lock();
        if !state.live.is_empty() {
            state.write(Stream::Err, WIPE);
        }
        state.write(stream, lines);
        state.draw();
    }

    /// Prints a message of `wheel` itself on standard error.
    pub(crate) fn say(&self, message: &str) {
        self.print(Stream::Err, format!("wheel: {message}\n").as_bytes());
    }

    /// Why something is missing on standard output although somebody may be reading, told once.
    pub(crate) fn take_loss(&self) -> Option<io::Error> {
        self.state.lock().out_lost.take()
    }

    /// From now on what would go to standard error is held back, as the whole terminal is drawn on.
    pub(crate) fn hold(&self) {
        self.state.lock().held.get_or_insert_default();
    }

    /// Prints what was held back.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        if let Some(held) = state.held.take() {
            state.write(Stream::Err, &held);
        }
    }

    /// Puts this in place of the live line. Empty: takes it away.
    pub(crate) fn set_live(&self, line: &str) {
        let mut state = self.state.lock();
        if state.live == line {
            return;
        }
        state.write(Stream::Err, WIPE);
        line.clone_into(&mut state.live);
        state.draw();
    }
}

impl State {
    fn draw(&mut self) {
        if !self.live.is_empty() {
            let live = std::mem::take(&mut self.live);
            self.write(Stream::Err, live.as_bytes());
            self.live = live;
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out if self.out_open => {
                let mut out = io::stdout().lock();
                if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
                    self.out_open = false;
                    self.out_lost = Some(error).filter(|e| e.kind() != io::ErrorKind::BrokenPipe);
                }
            }
            Stream::Err => match &mut self.held {
                Some(held) => {
                    let room = HELD_MAX.saturating_sub(held.len());
                    held.extend_from_slice(&bytes[..bytes.len().min(room)]);
                }
                None if self.err_open => {
                    self.err_open = io::stderr().lock().write_all(bytes).is_ok();
                }
                None => {}
            },
            Stream::Out => {}
        }
    }
}
