//! Which pictures there are, and what is drawn in them. Pure.

use super::rows::Row;
use super::svg::{Axis, Line, Stroke, bars, lines};
use crate::Workload;
use crate::measure::figure;

/// A picture, and the name of its file.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    pub(super) file: String,
    pub(super) about: String,
    pub(super) svg: String,
}

/// Every picture that the rows are enough for.
pub(super) fn plots(rows: &[Row]) -> Vec<Plot> {
    let mut all = Vec::new();
    for &workload in Workload::ALL {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.cell.workload == workload)
            .collect();
        let plot = match workload {
            Workload::Memory => memory(&own),
            Workload::Lateness => lateness(&own),
            threaded if threaded.is_threaded() => throughput(threaded, &own),
            Workload::PairFifo
            | Workload::PairRandom
            | Workload::Insert
            | Workload::FireAll
            | Workload::TickMax => cost(workload, &own),
            _ => None,
        };
        all.extend(plot);
    }
    all
}

/// Ours stand out; the same engine has the same colour in each picture.
fn stroke(engine: &str) -> Stroke {
    let (colour, width) = match engine {
        "wheel" => ("#c1121f", 4),
        "local_wheel" => ("#e07a1f", 3),
        "heap" => ("#1d4e89", 2),
        "std_binary_heap" => ("#5b8db8", 2),
        "btree" => ("#2a9d8f", 2),
        "mutex_wheel" => ("#8d6b94", 2),
        "mutex_wheel_per_thread" => ("#5a189a", 2),
        "tokio" => ("#222222", 2),
        "delay_queue" => ("#777777", 2),
        "hash_wheel_timer" => ("#6a994e", 2),
        "pingora_timeout" => ("#b5838d", 2),
        _ => ("#a68a00", 2),
    };
    Stroke { colour, width }
}

/// As its engine, and thin when it is not the usual setup.
fn stroke_of(row: &Row) -> Stroke {
    let usual = stroke(&row.cell.engine);
    if row.cell.variant.is_empty() {
        usual
    } else {
        Stroke { width: 2, ..usual }
    }
}

/// A line for each engine through what `point` gives of its rows.
fn by_engine(rows: &[&Row], point: impl Fn(&Row) -> Option<(f64, f64)>) -> Vec<Line> {
    let mut all: Vec<Line> = Vec::new();
    for row in rows {
        let Some(point) = point(row) else { continue };
        let name = row.cell.name();
        match all.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => all.push(Line {
                stroke: stroke_of(row),
                name,
                points: vec![point],
            }),
        }
    }
    for line in &mut all {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    all
}

/// The places along an axis; `None` when there are not even two, which is no line.
fn places(lines: &[Line]) -> Option<Vec<f64>> {
    let mut all: Vec<f64> = lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.0))
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    (all.len() > 1).then_some(all)
}

fn heights(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines
        .iter()
        .flat_map(|line| line.points.iter().map(|point| point.1))
}

fn cost(workload: Workload, rows: &[&Row]) -> Option<Plot> {
    let all = by_engine(rows, |row| {
        Some((row.cell.pending as f64, row.primary()?.p50))
    });
    let x = Axis::places("timers pending", &places(&all)?);
    let y = Axis::log(&workload.unit(), heights(&all));
    let title = format!(
        "{workload}: {} against the number of timers",
        workload.unit()
    );
    Some(Plot {
        file: format!("{workload}.svg"),
        about: workload.about().to_owned(),
        svg: lines(&title, &x, &y, &all),
    })
}

fn throughput(workload: Workload, rows: &[&Row]) -> Option<Plot> {
    let all = by_engine(rows, |row| {
        Some((row.cell.threads as f64, row.figure(figure::MOPS)?.p50))
    });
    let x = Axis::places("threads", &places(&all)?);
    let y = Axis::linear("million pairs a second, all threads", heights(&all));
    let title = format!("{workload}: throughput against threads");
    Some(Plot {
        file: format!("{workload}.svg"),
        about: workload.about().to_owned(),
        svg: lines(&title, &x, &y, &all),
    })
}

/// Below a tenth of a microsecond is as good as on time.
const ON_TIME_US: f64 = 0.1;

fn lateness(rows: &[&Row]) -> Option<Plot> {
    let curves = rows.iter().filter(|row| !row.curve.is_empty());
    let all: Vec<Line> = curves
        .map(|row| Line {
            name: row.cell.name(),
            points: row
                .curve
                .iter()
                .filter(|(percent, _)| *percent <= 99.99)
                .map(|&(percent, us)| (percent, us.max(ON_TIME_US)))
                .collect(),
            stroke: stroke_of(row),
        })
        .collect();
    if all.is_empty() {
        return None;
    }
    let x = Axis::nines("part of the timers");
    let y = Axis::log("us after the asked instant, or less", heights(&all));
    Some(Plot {
        file: "lateness.svg".to_owned(),
        about: format!(
            "{} What fired early stands at the bottom; the table says by how much.",
            Workload::Lateness.about()
        ),
        svg: lines("lateness: distribution", &x, &y, &all),
    })
}

/// At the most timers that everyone has.
fn memory(rows: &[&Row]) -> Option<Plot> {
    let everyone = |pending: u64| {
        rows.iter()
            .filter(|row| row.cell.pending == pending)
            .count()
    };
    let most = rows.iter().map(|row| everyone(row.cell.pending)).max()?;
    let sizes = rows.iter().map(|row| row.cell.pending);
    let pending = sizes.filter(|&pending| everyone(pending) == most).max()?;
    let mut all: Vec<(String, f64, Stroke)> = rows
        .iter()
        .filter(|row| row.cell.pending == pending)
        .filter_map(|row| {
            let bytes = row.figure(figure::BYTES_PER_TIMER)?.p50;
            Some((row.cell.name(), bytes, stroke(&row.cell.engine)))
        })
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let title = format!("memory: {} timers pending", super::rows::short(pending));
    (!all.is_empty()).then(|| Plot {
        file: "memory.svg".to_owned(),
        about: Workload::Memory.about().to_owned(),
        svg: bars(&title, "resident bytes a timer", &all),
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;

    #[test]
    fn one_size_is_no_line_and_two_are() {
        let of = |pending: u64| {
            let mut wheel = taken("wheel", &[10.0]);
            wheel.cell.pending = pending;
            rows(&[wheel])
        };
        assert!(plots(&of(1_000)).is_empty());
        let both = [of(1_000), of(100_000)].concat();
        let drawn = plots(&both);
        assert_eq!(drawn.len(), 1);
        assert_eq!(drawn[0].file, "pair_fifo.svg");
        assert!(drawn[0].svg.contains(">100k<"), "{}", drawn[0].svg);
    }

    #[test]
    fn another_setup_of_an_engine_is_a_line_of_its_own_and_thin() {
        let on = |threads: usize, variant: &str| {
            let mut wheel = taken("wheel", &[10.0]);
            wheel.cell.workload = Workload::TwoWheels;
            wheel.cell.threads = threads;
            wheel.cell.variant = variant.to_owned();
            let sample = wheel.samples[0].take().unwrap();
            wheel.samples[0] = Some(sample.with(figure::MOPS, 100.0));
            rows(&[wheel])
        };
        let all = [on(2, ""), on(2, "two"), on(4, ""), on(4, "two")].concat();
        let all: Vec<&Row> = all.iter().collect();
        let lines = by_engine(&all, |row| {
            Some((row.cell.threads as f64, row.primary()?.p50))
        });
        let widths: Vec<u8> = lines.iter().map(|line| line.stroke.width).collect();
        assert_eq!(widths, [4, 2]);
        assert_eq!(lines[1].points, [(2.0, 10.0), (4.0, 10.0)]);
    }

    #[test]
    fn a_line_goes_from_few_to_many() {
        let mut many = taken("wheel", &[10.0]);
        many.cell.pending = 5_000_000;
        let rows = [rows(&[many]), rows(&[taken("wheel", &[3.0])])].concat();
        let all: Vec<&Row> = rows.iter().collect();
        let line = &by_engine(&all, |row| Some((row.cell.pending as f64, 1.0)))[0];
        assert_eq!(line.points, [(100_000.0, 1.0), (5_000_000.0, 1.0)]);
    }
}
