//! The terminal as a whole: taken over, drawn on, and given back as it was.
//!
//! It is not put into raw mode: nothing is read from it, and Ctrl-C stays a signal.

use std::io::{self, Stderr};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};

use super::Picture;

/// Gives the terminal back when it is dropped.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
}

impl Screen {
    /// Whether standard error is a terminal that can be drawn on.
    pub(crate) fn is_possible() -> bool {
        crate::live::is_possible()
    }

    /// # Errors
    ///
    /// What the terminal says.
    pub(crate) fn enter() -> io::Result<Screen> {
        execute!(io::stderr(), EnterAlternateScreen, Hide)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stderr()));
        terminal
            .map(|terminal| Screen { terminal })
            .inspect_err(|_| leave())
    }

    /// # Errors
    ///
    /// What the terminal says.
    pub(crate) fn draw(&mut self, picture: &Picture) -> io::Result<()> {
        self.terminal.draw(|frame| picture.draw(frame)).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    // A terminal that has gone needs nothing.
    let _ = execute!(io::stderr(), Show, LeaveAlternateScreen);
}
