//! What the wheel is held to: ratios within one run, each with what was measured beside it. Pure.
//!
//! The table stands in `BARS.md` between two marks; what is written around it, such as why a bar
//! was missed and what was tried, is kept when it is measured again.

use super::Findings;
use super::rows::Row;
use super::table::number;
use crate::Workload;
use crate::contestants::OURS;
use crate::measure::figure;

/// Which figure of which cell.
#[derive(Clone, Copy)]
struct Place {
    workload: Workload,
    pending: u64,
    threads: usize,
    /// With its variant, if it has one.
    engine: &'static str,
    figure: &'static str,
}

/// What a figure is set against.
#[derive(Clone, Copy)]
enum Against {
    /// Nothing: the figure itself.
    Itself,
    /// The same figure of another engine.
    Engine(&'static str),
    /// Of the best rival but these.
    Best(&'static [&'static str]),
    /// Of the same engine at another size.
    Pending(u64),
    /// What a lone CAS takes here, taken as 5: so a bar of 8 is 8 ns where a CAS takes 5.
    Cas,
}

/// Whether more is better.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Better {
    Less,
    More,
}

struct Bar {
    place: Place,
    against: Against,
    better: Better,
    bar: f64,
    stretch: f64,
    unit: &'static str,
}

const fn of(workload: Workload, pending: u64, engine: &'static str, figure: &'static str) -> Place {
    Place {
        workload,
        pending,
        threads: 1,
        engine,
        figure,
    }
}

const fn on(workload: Workload, threads: usize) -> Place {
    Place {
        workload,
        pending: threads as u64 * 1024,
        threads,
        engine: "wheel",
        figure: figure::MOPS,
    }
}

const fn less(place: Place, against: Against, bar: f64, stretch: f64, unit: &'static str) -> Bar {
    Bar {
        place,
        against,
        better: Better::Less,
        bar,
        stretch,
        unit,
    }
}

const fn more(place: Place, against: Against, bar: f64, stretch: f64, unit: &'static str) -> Bar {
    Bar {
        place,
        against,
        better: Better::More,
        bar,
        stretch,
        unit,
    }
}

const K100: u64 = 100_000;
const M1: u64 = 1_000_000;
const M10: u64 = 10_000_000;
const NS: &str = figure::NS_PER_OP;
const PER_THREAD: &str = "mutex_wheel_per_thread";

fn bars() -> Vec<Bar> {
    use Against::{Best, Cas, Engine, Itself, Pending};
    use Workload as W;
    let fifo = of(W::PairFifo, K100, "wheel", NS);
    let local = of(W::PairFifo, K100, "local_wheel", NS);
    let random = of(W::PairRandom, M1, "wheel", NS);
    let with_driver = of(W::Insert, M1, "wheel", figure::WITH_DRIVER_NS_PER_OP);
    let late = |engine, figure| of(W::Lateness, 10_000, engine, figure);
    let tasks = |figure| of(W::Tasks, M1, "wheel", figure);
    let slow = |figure| of(W::SlowTasks, 500, "wheel", figure);
    let mut all = vec![
        less(fifo, Engine(PER_THREAD), 0.6, 0.45, "x"),
        less(fifo, Engine("heap"), 0.6, 0.45, "x"),
        less(fifo, Engine("tokio"), 0.2, 0.14, "x"),
        less(fifo, Cas, 13.0, 13.0, "ns where a CAS takes 5"),
        less(local, Cas, 8.0, 5.0, "ns where a CAS takes 5"),
    ];
    for threads in [2, 4] {
        all.push(more(on(W::MtLocal, threads), Best(&[]), 1.5, 2.0, "x"));
        all.push(more(
            on(W::MtLocal, threads),
            Best(&[PER_THREAD]),
            6.0,
            10.0,
            "x",
        ));
        all.push(more(on(W::MtRemote, threads), Best(&[]), 1.3, 2.0, "x"));
    }
    all.extend([
        more(on(W::MtJitter, 2), Engine(PER_THREAD), 1.0, 1.5, "x"),
        less(random, Engine("heap"), 1.0, 0.6, "x"),
        less(random, Engine("tokio"), 0.3, 0.3, "x"),
        less(
            of(W::Insert, M1, "wheel", NS),
            Engine("heap"),
            1.3,
            0.8,
            "x",
        ),
        less(with_driver, Engine("heap"), 2.0, 1.3, "x"),
        less(
            of(W::FireAll, M1, "wheel", NS),
            Engine("heap"),
            0.5,
            0.3,
            "x",
        ),
        less(
            of(W::FireAll, M10, "wheel", NS),
            Engine("heap"),
            0.22,
            0.12,
            "x",
        ),
    ]);
    for pending in [M1, M10] {
        let longest = of(W::TickMax, pending, "wheel", figure::TICK_MAX);
        all.push(less(longest, Engine("heap"), 2.0, 1.0, "x"));
        all.push(less(longest, Engine("tokio"), 0.02, 0.02, "x"));
    }
    all.extend([
        less(
            of(W::PairFifo, M10, "wheel", NS),
            Pending(1_000),
            2.0,
            1.3,
            "x",
        ),
        less(
            of(W::Memory, M1, "wheel", figure::BYTES_PER_TIMER),
            Itself,
            56.0,
            44.0,
            "bytes",
        ),
        less(
            of(W::Sparse, K100, "wheel", NS),
            Itself,
            10_000.0,
            1_000.0,
            "ns",
        ),
        less(
            late("wheel", figure::LATE_P99),
            Engine("tokio"),
            0.6,
            0.6,
            "x",
        ),
        less(
            late("wheel:fine_tick", figure::LATE_P50),
            Itself,
            60.0,
            60.0,
            "us",
        ),
        less(
            late("wheel:fine_tick", figure::LATE_P99),
            Itself,
            120.0,
            120.0,
            "us",
        ),
        less(
            late("wheel:precise_wait", figure::LATE_P50),
            Itself,
            1.0,
            1.0,
            "us",
        ),
        more(tasks("per_s"), Itself, 500_000.0, 1_000_000.0, "a second"),
        less(tasks("start_ms.p99"), Itself, 50.0, 50.0, "ms"),
        less(tasks("insert_s"), Itself, 1.5, 0.7, "s"),
        less(tasks("insert_mb"), Itself, 250.0, 160.0, "MB"),
        less(
            of(W::Storm, M1, "wheel", "next_tick_late_us"),
            Itself,
            1_000.0,
            1_000.0,
            "us",
        ),
        less(
            of(W::Storm, M1, "wheel", "over_pool"),
            Itself,
            1.5,
            1.1,
            "x",
        ),
        more(slow("rate_of_best"), Itself, 0.97, 0.97, "x"),
        less(slow("p99_of_best"), Itself, 1.1, 1.1, "x"),
        less(
            slow("threads_used"),
            Itself,
            17.0,
            17.0,
            "threads, the driver with them",
        ),
    ]);
    all
}

impl Place {
    fn is_of(self, row: &Row) -> bool {
        (row.cell.workload, row.cell.pending, row.cell.threads)
            == (self.workload, self.pending, self.threads)
    }

    fn value(self, rows: &[Row]) -> Option<f64> {
        let mut rows = rows.iter();
        let row = rows.find(|row| self.is_of(row) && row.cell.name() == self.engine)?;
        Some(row.figure(self.figure)?.p50)
    }
}

impl Bar {
    /// What is held against the bar; `None` when the run does not have it.
    fn measured(&self, findings: &Findings) -> Option<f64> {
        let rows = &findings.rows;
        let own = self.place.value(rows)?;
        let other = match self.against {
            Against::Itself => return Some(own),
            Against::Cas => findings.machine.cas_ns / 5.0,
            Against::Engine(engine) => Place {
                engine,
                ..self.place
            }
            .value(rows)?,
            Against::Pending(pending) => Place {
                pending,
                ..self.place
            }
            .value(rows)?,
            Against::Best(but) => self.best(rows, but)?,
        };
        Some(own / other)
    }

    fn best(&self, rows: &[Row], but: &[&str]) -> Option<f64> {
        let rivals = rows.iter().filter(|row| {
            let name = row.cell.engine.as_str();
            self.place.is_of(row) && !OURS.contains(&name) && !but.contains(&name)
        });
        let figures = rivals.filter_map(|row| Some(row.figure(self.place.figure)?.p50));
        match self.better {
            Better::Less => figures.min_by(f64::total_cmp),
            Better::More => figures.max_by(f64::total_cmp),
        }
    }

    fn holds(&self, measured: f64, bar: f64) -> bool {
        match self.better {
            Better::Less => measured <= bar,
            Better::More => measured >= bar,
        }
    }

    fn line(&self, findings: &Findings) -> String {
        let Place {
            workload,
            pending,
            threads,
            engine,
            figure,
        } = self.place;
        let place = super::rows::place(workload, pending, threads);
        let against = match self.against {
            Against::Itself | Against::Cas => String::new(),
            Against::Engine(engine) => format!(" against `{engine}`"),
            Against::Pending(pending) => format!(" against {}", super::rows::short(pending)),
            Against::Best([]) => " against the best rival".to_owned(),
            Against::Best(but) => format!(" against the best but `{}`", but.join("`, `")),
        };
        let measured = self.measured(findings);
        let verdict = match measured {
            None => "not in this run",
            Some(value) if self.holds(value, self.stretch) => "stretch",
            Some(value) if self.holds(value, self.bar) => "reached",
            Some(_) => "**missed**",
        };
        let sign = if self.better == Better::Less {
            "at most"
        } else {
            "at least"
        };
        format!(
            "| `{workload}`, {place}: `{engine}`, {figure}{against} | {} | {sign} {} {} | {} | \
             {verdict} |\n",
            measured.map_or("-".to_owned(), number),
            number(self.bar),
            self.unit,
            number(self.stretch)
        )
    }
}

const BEGIN: &str = "<!-- measured: written by `cargo xtask bench --report` -->\n";
const END: &str = "<!-- end of measured -->\n";
const FRAME: &str = "# Bars\n\nWhat the wheel is held to, as ratios within one run: each bar with \
what was measured.\n\n";

/// The document: `before` with the table in it measured again.
pub(super) fn document(findings: &Findings, before: Option<&str>) -> String {
    let (noisy, note) = &findings.noise;
    let mut table = format!(
        "{BEGIN}{}. A lone CAS takes {} ns here.\n\n{}{note}.\n\n| what | measured | bar | stretch \
         | |\n|---|---|---|---|---|\n",
        findings.machine.line(),
        number(findings.machine.cas_ns),
        if *noisy {
            "These figures are hints only. "
        } else {
            ""
        }
    );
    for bar in bars() {
        table.push_str(&bar.line(findings));
    }
    table.push_str(END);
    let before = before.unwrap_or(FRAME);
    match (before.find(BEGIN), before.find(END)) {
        (Some(begin), Some(end)) if begin < end => {
            format!("{}{table}{}", &before[..begin], &before[end + END.len()..])
        }
        _ => format!("{before}{table}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;
    use crate::measure::Machine;

    fn findings(wheel: f64, heap: f64) -> Findings {
        let rows = rows(&[taken("wheel", &[wheel]), taken("heap", &[heap])]);
        Findings::new(Machine::this(), rows, Vec::new())
    }

    fn verdict(text: &str) -> &str {
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains("against `heap`")).unwrap();
        line.rsplit('|').nth(1).unwrap().trim()
    }

    #[test]
    fn a_bar_is_missed_reached_or_stretched() {
        assert_eq!(
            verdict(&document(&findings(70.0, 100.0), None)),
            "**missed**"
        );
        assert_eq!(verdict(&document(&findings(60.0, 100.0), None)), "reached");
        assert_eq!(verdict(&document(&findings(40.0, 100.0), None)), "stretch");
    }

    #[test]
    fn what_a_run_does_not_have_is_not_judged() {
        let text = document(&findings(60.0, 100.0), None);
        let line = text
            .lines()
            .find(|line| line.contains("`slow_tasks`"))
            .unwrap();
        assert!(line.contains("not in this run"), "{line}");
    }

    #[test]
    fn what_is_written_around_the_table_is_kept() {
        let first = document(&findings(70.0, 100.0), None);
        let by_hand = format!("{first}\n## Missed\n\nBecause.\n");
        let second = document(&findings(40.0, 100.0), Some(&by_hand));
        assert!(second.ends_with("\n## Missed\n\nBecause.\n") && second.starts_with("# Bars"));
        assert_eq!(verdict(&second), "stretch");
        assert_eq!(second.matches(BEGIN).count(), 1);
    }
}
