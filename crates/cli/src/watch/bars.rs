//! How late programs were started, as bars.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Bar, BarChart, BarGroup, Block};

use super::{BAD, GOOD, LATE};
use crate::record::{LatenessBar, LatenessUs};
use crate::summary::micros;

/// From here on somebody may notice, and from there on somebody will.
const LATE_US: u64 = 10_000;
const BAD_US: u64 = 1_000_000;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, bars: &[LatenessBar], sums: LatenessUs) {
    let title = Line::from(vec![
        " lateness ".bold(),
        format!(
            "p50 {}, p99 {}, max {} ",
            micros(sums.p50),
            micros(sums.p99),
            micros(sums.max)
        )
        .into(),
    ]);
    let block = Block::bordered().title(title);
    let rows = usize::from(block.inner(area).height);
    let shown = window(bars, rows);
    let bars: Vec<Bar<'_>> = shown.iter().map(bar).collect();
    let chart = BarChart::default()
        .block(block)
        .direction(ratatui::layout::Direction::Horizontal)
        .bar_width(1)
        .bar_gap(0)
        .data(BarGroup::default().bars(&bars));
    frame.render_widget(chart, area);
}

/// As many as there is room for, from the first that is not empty, unless that would leave room over.
fn window(bars: &[LatenessBar], rows: usize) -> &[LatenessBar] {
    let first = bars.iter().position(|bar| bar.count > 0).unwrap_or(0);
    let shown = rows.min(bars.len());
    let start = first.min(bars.len() - shown);
    &bars[start..start + shown]
}

fn bar(bar: &LatenessBar) -> Bar<'static> {
    let label = match bar.up_to_us {
        Some(bound) => format!("to {:>8}", micros(bound)),
        None => "     beyond".to_owned(),
    };
    Bar::default()
        .label(Line::from(label))
        .value(bar.count)
        .style(color(bar.up_to_us))
}

fn color(up_to_us: Option<u64>) -> Color {
    match up_to_us {
        Some(bound) if bound <= LATE_US => GOOD,
        Some(bound) if bound <= BAD_US => LATE,
        _ => BAD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(counts: &[u64]) -> Vec<LatenessBar> {
        let bars = counts.iter().zip(1..);
        bars.map(|(&count, bound)| LatenessBar {
            up_to_us: Some(bound),
            count,
        })
        .collect()
    }

    #[test]
    fn what_is_not_empty_is_shown_first() {
        let all = bars(&[0, 0, 3, 0, 1, 0, 0]);
        let bounds = |rows| {
            let shown = window(&all, rows).iter();
            shown.map(|bar| bar.up_to_us.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(bounds(3), [3, 4, 5]);
        assert_eq!(bounds(2), [3, 4]);
        assert_eq!(bounds(5), [3, 4, 5, 6, 7]);
        assert_eq!(bounds(100).len(), 7);
        assert!(bounds(0).is_empty() && window(&[], 4).is_empty());
    }
}
