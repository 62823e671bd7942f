//! One level of the wheel as the dial of a clock: a ray for each slot, as long as it is full, and the
//! hand of the driver.

use std::f64::consts::TAU;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::Block;
use ratatui::widgets::canvas::{Canvas, Circle, Line as Ray};
use wheel_runtime::LevelSnapshot;

/// Rays begin at the rim, which has the radius 1, and point inwards, to this radius at most.
const INNERMOST: f64 = 0.35;
const HAND: f64 = 0.25;
/// In front of the rim.
const MARGIN: f64 = 1.08;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, level: &LevelSnapshot) {
    let entries = level.entries();
    let title = Line::from(vec![
        format!(" {} ", level.name).bold(),
        format!("{entries} ").into(),
    ]);
    let block = Block::bordered().title(title).title_bottom(
        Line::from(format!(" at {} of {} ", level.hand, turn(level))).right_aligned(),
    );
    let inside = block.inner(area);
    // A cell is two dots wide and four high.
    let (wide, high) = (
        f64::from(inside.width) * 2.0,
        f64::from(inside.height) * 4.0,
    );
    let least = wide.min(high).max(1.0);
    let (x, y) = (MARGIN * wide / least, MARGIN * high / least);
    let fullest = fullness(level).map(|(_, len)| len).max().unwrap_or(0);
    let dial = Canvas::default()
        .block(block)
        .marker(Marker::Braille)
        .x_bounds([-x, x])
        .y_bounds([-y, y])
        .paint(|canvas| {
            canvas.draw(&Circle {
                x: 0.0,
                y: 0.0,
                radius: 1.0,
                color: Color::DarkGray,
            });
            for (nth, len) in fullness(level).filter(|(_, len)| *len > 0) {
                canvas.draw(&ray(
                    level,
                    nth,
                    1.0,
                    1.0 - reach(len, fullest),
                    Color::Cyan,
                ));
            }
            canvas.draw(&ray(level, level.hand, HAND, 0.0, Color::Yellow));
        });
    frame.render_widget(dial, area);
}

fn turn(level: &LevelSnapshot) -> usize {
    level.this_turn.len()
}

/// Each place of the dial with how many entries the slots there hold, in this turn and the next one.
fn fullness(level: &LevelSnapshot) -> impl Iterator<Item = (usize, u64)> {
    let both = level.this_turn.iter().zip(&level.next_turn);
    both.map(|(this, next)| u64::from(*this) + u64::from(*next))
        .enumerate()
}

/// How far a ray reaches from the rim: one entry can be seen, and the fullest slot of the dial goes to
/// the innermost radius. Between them as the logarithm, since slots hold one or a million.
fn reach(len: u64, fullest: u64) -> f64 {
    const LEAST: f64 = 0.15;
    const MOST: f64 = 1.0 - INNERMOST;
    let share = (len as f64).ln() / (fullest.max(2) as f64).ln();
    LEAST + (MOST - LEAST) * share
}

/// From one radius to another at the place of a slot, the first of which is at the top, and which go
/// round as on a clock.
fn ray(level: &LevelSnapshot, nth: usize, from: f64, to: f64, color: Color) -> Ray {
    let angle = TAU * nth as f64 / turn(level).max(1) as f64;
    let (x, y) = (angle.sin(), angle.cos());
    Ray {
        x1: from * x,
        y1: from * y,
        x2: to * x,
        y2: to * y,
        color,
    }
}

#[cfg(test)]
mod tests {
    use super::reach;

    #[test]
    fn one_entry_can_be_seen_and_a_million_do_not_hide_ten() {
        assert!(reach(1, 1) > 0.1 && reach(1, 1_000_000) > 0.1);
        assert!((reach(1_000_000, 1_000_000) - 0.65).abs() < 1e-9);
        assert!(reach(10, 1_000_000) > reach(1, 1_000_000) + 0.05);
    }
}
