//! Line and bar charts as SVG, written by hand: axes, lines, labels at their ends. Pure.
//!
//! The pictures stand in documents, so they bring their own white ground and need no script and no
//! font that a system might not have. A line is labelled where it ends, not in a legend that has to
//! be matched by colour.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 54.0;
const LABEL_APART: f64 = 15.0;

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// By the value itself, from 0.
    Linear,
    /// By its logarithm.
    Log,
    /// Percents by how many nines they have: 90, 99, 99.9 are as far apart.
    Nines,
}

impl Scale {
    fn of(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.max(1e-9).log10(),
            Scale::Nines => -(1.0 - value.min(99.999) / 100.0).log10(),
        }
    }
}

/// An axis: what it says, and what lies at its ends.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    label: String,
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From 0 to a round number above all values.
    pub(super) fn linear(label: &str, values: impl Iterator<Item = f64>) -> Axis {
        let most = values.fold(0.0_f64, f64::max).max(1e-9);
        let power = 10_f64.powf(most.log10().floor());
        let steps = [0.1, 0.2, 0.5, 1.0, 2.0];
        let step = steps.into_iter().find(|step| most / (step * power) <= 8.0);
        let step = step.unwrap_or(2.0) * power;
        let count = (most / step).ceil();
        let ticks = (0..=count as u32).map(|index| f64::from(index) * step);
        Axis {
            label: label.to_owned(),
            scale: Scale::Linear,
            low: 0.0,
            high: count * step,
            ticks: ticks.map(|at| (at, amount(at))).collect(),
        }
    }

    /// From the power of ten below all values to the one above; less than two of them are divided
    /// once more.
    pub(super) fn log(label: &str, values: impl Iterator<Item = f64>) -> Axis {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| *value > 0.0) {
            least = least.min(value);
            most = most.max(value);
        }
        if least > most {
            (least, most) = (1.0, 10.0);
        }
        let low = least.log10().floor();
        let high = most.log10().ceil().max(low + 1.0);
        let within: &[f64] = if high - low < 2.5 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let mut ticks = Vec::new();
        let mut power = low;
        while power <= high {
            for factor in within {
                let at = factor * 10_f64.powf(power);
                if at.log10() <= high + 1e-9 {
                    ticks.push((at, amount(at)));
                }
            }
            power += 1.0;
        }
        Axis {
            label: label.to_owned(),
            scale: Scale::Log,
            low: 10_f64.powf(low),
            high: 10_f64.powf(high),
            ticks,
        }
    }

    /// With these places and no others, as far apart as their logarithms.
    pub(super) fn places(label: &str, places: &[f64]) -> Axis {
        let first = places.first().copied().unwrap_or(1.0);
        let last = places.last().copied().unwrap_or(1.0);
        Axis {
            label: label.to_owned(),
            scale: Scale::Log,
            low: first,
            high: if last > first { last } else { first * 2.0 },
            ticks: places.iter().map(|&at| (at, amount(at))).collect(),
        }
    }

    /// Percentiles from 0 to 99.99.
    pub(super) fn nines(label: &str) -> Axis {
        let ticks = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99];
        Axis {
            label: label.to_owned(),
            scale: Scale::Nines,
            low: 0.0,
            high: 99.99,
            ticks: ticks.iter().map(|&at| (at, format!("{at}%"))).collect(),
        }
    }

    /// Where a value lies, from 0 at the low end to 1 at the high one; what is beyond is at the
    /// end.
    fn place(&self, value: f64) -> f64 {
        let (low, high) = (self.scale.of(self.low), self.scale.of(self.high));
        ((self.scale.of(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// A value in few letters: `0.05`, `20`, `5k`, `10M`.
fn amount(value: f64) -> String {
    let text = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match value {
        million if million >= 999_999.5 => format!("{}M", text(million / 1e6)),
        thousand if thousand >= 999.95 => format!("{}k", text(thousand / 1e3)),
        other => text(other),
    }
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) stroke: Stroke,
}

/// How a line or bar is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stroke {
    pub(super) colour: &'static str,
    pub(super) width: u8,
}

/// A chart of lines.
pub(super) fn lines(title: &str, x: &Axis, y: &Axis, lines: &[Line]) -> String {
    let across = |value: f64| LEFT + x.place(value) * (WIDTH - LEFT - RIGHT);
    let up = |value: f64| HEIGHT - BOTTOM - y.place(value) * (HEIGHT - TOP - BOTTOM);
    let mut svg = opening(title, HEIGHT);
    for (at, text) in &y.ticks {
        let at = up(*at);
        let end = WIDTH - RIGHT;
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{end}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 8.0,
            at + 4.0
        );
    }
    for (at, text) in &x.ticks {
        let at = across(*at);
        let low = HEIGHT - BOTTOM;
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {TOP}V{low}\" stroke=\"#eee\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            low + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(18 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        LEFT + (WIDTH - LEFT - RIGHT) / 2.0,
        HEIGHT - 14.0,
        escape(&x.label),
        TOP + (HEIGHT - TOP - BOTTOM) / 2.0,
        escape(&y.label)
    );
    for line in lines {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|&(x, y)| format!("{:.1} {:.1}", across(x), up(y)))
            .collect();
        let Stroke { colour, width } = line.stroke;
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"/>",
            path.join("L")
        );
        for &(x, y) in &line.points {
            let _ = write!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\" fill=\"{colour}\"/>",
                across(x),
                up(y),
                width + 1
            );
        }
    }
    let ends: Vec<(f64, f64)> = lines
        .iter()
        .map(|line| {
            line.points
                .last()
                .map_or((0.0, 0.0), |&(x, y)| (across(x), up(y)))
        })
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|&(_, y)| y).collect();
    let labels = spread_out(&wanted, TOP, HEIGHT - BOTTOM + 10.0);
    for ((line, (end_x, end_y)), label_y) in lines.iter().zip(ends).zip(labels) {
        let text_x = WIDTH - RIGHT + 22.0;
        let Stroke { colour, width } = line.stroke;
        let weight = if width > 2 {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let _ = writeln!(
            svg,
            "<path d=\"M{:.1} {end_y:.1}L{:.1} {label_y:.1}\" fill=\"none\" stroke=\"{colour}\" \
             stroke-width=\"1\" stroke-dasharray=\"2 2\"/>\
             <text x=\"{text_x:.1}\" y=\"{:.1}\" fill=\"{colour}\"{weight}>{}</text>",
            end_x + 5.0,
            text_x - 3.0,
            label_y + 4.0,
            escape(&line.name)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Moves places apart that are nearer than a label is high, and keeps them in order and within
/// bounds as far as they fit.
fn spread_out(wanted: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut free_from = low;
    for &index in &order {
        placed[index] = wanted[index].max(free_from);
        free_from = placed[index] + LABEL_APART;
    }
    let mut free_to = high;
    for &index in order.iter().rev() {
        placed[index] = placed[index].min(free_to);
        free_to = placed[index] - LABEL_APART;
    }
    placed
}

/// A chart of bars that lie one under the other, each with its value at its end.
pub(super) fn bars(title: &str, label: &str, bars: &[(String, f64, Stroke)]) -> String {
    const ROW: f64 = 26.0;
    const NAMES: f64 = 190.0;
    let axis = Axis::linear(label, bars.iter().map(|bar| bar.1));
    let height = TOP + ROW * bars.len() as f64 + BOTTOM;
    let across = |value: f64| NAMES + axis.place(value) * (WIDTH - NAMES - 80.0);
    let mut svg = opening(title, height);
    for (at, text) in &axis.ticks {
        let at = across(*at);
        let low = height - BOTTOM;
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {TOP}V{low:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
            low + 18.0
        );
    }
    for (index, (name, value, stroke)) in bars.iter().enumerate() {
        let top = TOP + ROW * index as f64;
        let end = across(*value);
        let weight = if stroke.width > 2 {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\"{weight}>{}</text>\
             <rect x=\"{NAMES}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NAMES - 8.0,
            top + 17.0,
            escape(name),
            top + 4.0,
            end - NAMES,
            ROW - 8.0,
            stroke.colour,
            end + 6.0,
            top + 17.0,
            super::number(*value)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n</svg>",
        f64::midpoint(NAMES, WIDTH),
        height - 14.0,
        escape(label)
    );
    svg
}

fn opening(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#333\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    )
}

/// For text between tags.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(axis: &Axis) -> Vec<f64> {
        axis.ticks.iter().map(|(at, _)| *at).collect()
    }

    #[test]
    fn a_log_axis_puts_each_power_of_ten_as_far_from_the_next() {
        let axis = Axis::log("ns", [3.0, 40_000.0].into_iter());
        assert_eq!((axis.low.round(), axis.high.round()), (1.0, 100_000.0));
        assert_eq!(axis.ticks.len(), 6);
        let step = axis.place(100.0) - axis.place(10.0);
        assert!((axis.place(1e4) - axis.place(1e3) - step).abs() < 1e-9);
        assert!((axis.place(1.0)).abs() < 1e-9 && (axis.place(1e5) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_short_log_axis_has_marks_between_the_powers() {
        let axis = Axis::log("ns", [15.0, 90.0].into_iter());
        let rounded: Vec<f64> = at(&axis).iter().map(|at| at.round()).collect();
        assert_eq!(rounded, [10.0, 20.0, 50.0, 100.0]);
    }

    #[test]
    fn a_linear_axis_starts_at_0_and_ends_above_the_most() {
        let axis = Axis::linear("bytes", [48.0, 131.0].into_iter());
        assert_eq!((axis.low, axis.high), (0.0, 140.0));
        assert_eq!(at(&axis)[1], 20.0);
        assert_eq!(axis.place(70.0), 0.5);
    }

    #[test]
    fn nines_are_as_far_apart_as_each_other() {
        let axis = Axis::nines("percentile");
        let step = axis.place(99.0) - axis.place(90.0);
        assert!((axis.place(99.9) - axis.place(99.0) - step).abs() < 1e-9);
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let placed = spread_out(&[100.0, 101.0, 102.0, 399.0], 0.0, 400.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(
            sorted
                .windows(2)
                .all(|two| two[1] - two[0] >= LABEL_APART - 1e-9),
            "{placed:?}"
        );
        assert_eq!(placed[0], 100.0);
    }

    #[test]
    fn a_chart_has_a_path_and_a_name_for_each_line() {
        let line = Line {
            name: "a<b".to_owned(),
            points: vec![(1.0, 10.0), (10.0, 20.0)],
            stroke: Stroke {
                colour: "#123456",
                width: 2,
            },
        };
        let x = Axis::places("N", &[1.0, 10.0]);
        let y = Axis::log("ns", [10.0, 20.0].into_iter());
        let svg = lines("title", &x, &y, &[line]);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(
            svg.contains("a&lt;b") && svg.contains("stroke=\"#123456\""),
            "{svg}"
        );
    }
}
