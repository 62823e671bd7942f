//! `wheel run --watch`: a picture of the engine at work, on the whole of a terminal.
//!
//! ```text
//!  +- ms --+ +- s ---+ +- min -+ +- hour +     dial.rs    a level: how full each slot is, the hand
//!  +-------+ +-------+ +-------+ +-------+
//!  +- lateness ------+ +- tasks ---------+     bars.rs    how late programs were started
//!  |                 | |                 |     rows.rs    who runs, who is next
//!  +-----------------+ +-----------------+     screen.rs  the terminal, and back as it was
//! ```
//!
//! Everything here draws a [`Picture`], which is plain data; nothing here asks the engine.

mod bars;
mod dial;
mod rows;
mod screen;

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use wheel_runtime::EngineSnapshot;

use crate::live::{self, Standing};
use crate::record::LatenessBar;
pub(crate) use rows::Row;
pub(crate) use screen::Screen;

/// How things stand, and where everything is.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) standing: Standing,
    /// `None` while the driver does not answer.
    pub(crate) engine: Option<EngineSnapshot>,
    pub(crate) lateness: Vec<LatenessBar>,
    pub(crate) rows: Vec<Row>,
}

/// How often it is drawn anew.
pub(crate) const DRAW_EVERY: Duration = Duration::from_millis(100);

/// What is good, what is late and what has failed.
const GOOD: Color = Color::Green;
const LATE: Color = Color::Yellow;
const BAD: Color = Color::Red;

impl Picture {
    fn draw(&self, frame: &mut Frame<'_>) {
        let [top, dials, below] = Layout::vertical([
            Constraint::Length(2),
            Constraint::Percentage(50),
            Constraint::Fill(1),
        ])
        .areas(frame.area());
        self.draw_top(frame, top);
        match &self.engine {
            Some(engine) => draw_dials(frame, dials, engine),
            None => frame.render_widget("The driver does not answer.".fg(BAD), dials),
        }
        let [lateness, tasks] =
            Layout::horizontal([Constraint::Percentage(42), Constraint::Fill(1)]).areas(below);
        bars::draw(frame, lateness, &self.lateness, self.standing.lateness);
        rows::draw(frame, tasks, &self.rows);
    }

    fn draw_top(&self, frame: &mut Frame<'_>, area: Rect) {
        let line = live::fitted(&self.standing, area.width.into());
        let places = self.engine.as_ref().map(|engine| {
            let wheel = &engine.wheel;
            format!(
                "live {} | vacant {} | intake {} | overflow {} | by the wall clock {}",
                wheel.live, wheel.vacant, wheel.intake, wheel.overflow, engine.wall
            )
        });
        let places = Span::styled(places.unwrap_or_default(), Style::new().dim());
        frame.render_widget(
            ratatui::text::Text::from(vec![Line::from(line.bold()), Line::from(places)]),
            area,
        );
    }
}

fn draw_dials(frame: &mut Frame<'_>, area: Rect, engine: &EngineSnapshot) {
    let levels = &engine.wheel.levels;
    let parts = Layout::horizontal(levels.iter().map(|_| Constraint::Fill(1))).split(area);
    for (level, part) in levels.iter().zip(parts.iter()) {
        dial::draw(frame, *part, level);
    }
}

#[cfg(test)]
mod tests;
