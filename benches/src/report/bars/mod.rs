//! What the wheel is held to: ratios within one run, each with what was measured beside it. Pure.
//!
//! The table stands in `BARS.md` between two marks; what is written around it, such as why a bar
//! was missed and what was tried, is kept when it is measured again.

mod list;

use super::rows::{Row, Stand, find};
use super::table::number;
use super::{Findings, marks};
use crate::Workload;
use crate::contestants::OURS;

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

/// Where there is a stretch only.
const NO_BAR: f64 = f64::INFINITY;

struct Bar {
    place: Place,
    against: Against,
    better: Better,
    bar: f64,
    stretch: f64,
    unit: &'static str,
}

impl Place {
    fn stand(self) -> Stand {
        (self.workload, self.pending, self.threads)
    }

    fn row(self, rows: &[Row]) -> Option<&Row> {
        find(rows, self.stand(), self.engine)
    }

    fn value(self, rows: &[Row]) -> Option<f64> {
        Some(self.row(rows)?.figure(self.figure)?.p50)
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
            _ => self.other(rows)?.figure(self.place.figure)?.p50,
        };
        Some(own / other)
    }

    /// The row that it is set against, if it is one.
    fn other<'r>(&self, rows: &'r [Row]) -> Option<&'r Row> {
        match self.against {
            Against::Itself | Against::Cas => None,
            Against::Engine(engine) => Place {
                engine,
                ..self.place
            }
            .row(rows),
            Against::Pending(pending) => Place {
                pending,
                ..self.place
            }
            .row(rows),
            Against::Best(but) => self.best(rows, but),
        }
    }

    fn best<'r>(&self, rows: &'r [Row], but: &[&str]) -> Option<&'r Row> {
        let rivals = rows.iter().filter(|row| {
            let name = row.cell.engine.as_str();
            row.stand() == self.place.stand() && !OURS.contains(&name) && !but.contains(&name)
        });
        let figures = rivals.filter_map(|row| Some((row, row.figure(self.place.figure)?.p50)));
        let best = match self.better {
            Better::Less => figures.min_by(|(_, a), (_, b)| a.total_cmp(b)),
            Better::More => figures.max_by(|(_, a), (_, b)| a.total_cmp(b)),
        };
        best.map(|(row, _)| row)
    }

    /// What became of it, in a word or two: whether a cell has failed, or was disturbed.
    fn verdict(&self, findings: &Findings) -> String {
        let own = self.place.row(&findings.rows);
        let other = self.other(&findings.rows);
        let both = || own.into_iter().chain(other);
        let Some(value) = self.measured(findings) else {
            let failed = both().find_map(|row| Some((row.cell.name(), row.failure.as_ref()?)));
            return match failed {
                Some((name, failure)) => format!("`{name}` **failed**: {failure}"),
                None => "not in this run".to_owned(),
            };
        };
        let verdict = if self.holds(value, self.stretch) {
            "stretch"
        } else if self.bar == NO_BAR {
            "stretch missed"
        } else if self.holds(value, self.bar) {
            "reached"
        } else {
            "**missed**"
        };
        let failed = both().any(|row| row.failure.is_some());
        let noisy = both().any(|row| row.disturbed().0);
        format!(
            "{verdict}{}{}",
            if failed { ", some rounds failed" } else { "" },
            if noisy { ", noisy" } else { "" }
        )
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
        let unit = self.unit;
        let bar = match (self.bar, self.better) {
            (bar, _) if bar == NO_BAR => format!("none ({unit})"),
            (bar, Better::Less) => format!("at most {} {unit}", number(bar)),
            (bar, Better::More) => format!("at least {} {unit}", number(bar)),
        };
        format!(
            "| `{workload}`, {place}: `{engine}`, {figure}{against} | {} | {bar} | {} | {} |\n",
            measured.map_or("-".to_owned(), number),
            number(self.stretch),
            self.verdict(findings)
        )
    }
}

const BEGIN: &str = "<!-- measured: written by `cargo xtask bench --report` -->\n";
const FRAME: &str = "# Bars\n\nWhat the wheel is held to, as ratios within one run: each bar with \
what was measured.\n\n";

/// The document: `before` with the table in it measured again.
pub(super) fn document(findings: &Findings, before: Option<&str>) -> String {
    let (noisy, note) = &findings.noise;
    let mut table = format!(
        "{}. A lone CAS takes {} ns here.\n\n{}{note}.\n\n| what | measured | bar | stretch \
         | |\n|---|---|---|---|---|\n",
        findings.machine.line(),
        number(findings.machine.cas_ns),
        if *noisy {
            "These figures are hints only. "
        } else {
            ""
        }
    );
    for bar in list::bars() {
        table.push_str(&bar.line(findings));
    }
    marks::renew(before.unwrap_or(FRAME), BEGIN, &table)
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;
    use crate::measure::{Machine, figure};
    use crate::workloads::Effort;

    fn findings(wheel: f64, heap: f64) -> Findings {
        let rows = rows(&[taken("wheel", &[wheel]), taken("heap", &[heap])]);
        Findings::new(Effort::Full, Machine::this(), rows, Vec::new())
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
    fn a_cell_that_failed_or_was_disturbed_says_so_in_its_bar() {
        let mut disturbed = taken("wheel", &[40.0]);
        disturbed.noise[0].others = 0.5;
        let of = |wheel, heap| {
            let rows = rows(&[wheel, heap]);
            let findings = Findings::new(Effort::Full, Machine::this(), rows, Vec::new());
            verdict(&document(&findings, None)).to_owned()
        };
        assert_eq!(of(disturbed, taken("heap", &[100.0])), "stretch, noisy");
        let failed = of(taken("wheel", &[40.0]), taken("heap", &[0.0]));
        assert_eq!(failed, "`heap` **failed**: failed");
        let once = of(taken("wheel", &[40.0, 0.0]), taken("heap", &[100.0, 100.0]));
        assert_eq!(once, "stretch, some rounds failed");
    }

    #[test]
    fn where_there_is_a_stretch_only_nothing_is_missed() {
        let mut wheel = taken("wheel", &[40.0]);
        wheel.cell.workload = Workload::Lateness;
        wheel.cell.pending = 10_000;
        let sample = wheel.samples[0].take().unwrap();
        wheel.samples[0] = Some(sample.with(figure::OUT_OF_ORDER, 30.0));
        let rows = rows(&[wheel]);
        let text = document(
            &Findings::new(Effort::Full, Machine::this(), rows, Vec::new()),
            None,
        );
        let line = text.lines().find(|line| line.contains("out_of_order"));
        assert!(
            line.unwrap()
                .ends_with("| none (%) | 0.000 | stretch missed |"),
            "{line:?}"
        );
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
