//! What has moved since an earlier run, beyond noise. Pure.
//!
//! A figure has moved when the rounds of the two runs do not overlap at all, from least to most, and
//! their medians differ by more than a limit: 5%, or by half where a run or a row was noisy. Less
//! is better in every figure that is compared. What only one of the runs has is said, and so is
//! what failed; and when the runs are not of the same machine, build or effort, that comes first.

use std::fmt::{self, Display, Write};

use super::json::{Document, Entry};
use super::number;
use crate::measure::{Machine, Spread, figure};

const QUIET_LIMIT: f64 = 1.05;
const NOISY_LIMIT: f64 = 1.5;
/// How much the same machine's lone CAS may differ.
const CAS_LIMIT: f64 = 1.2;

/// How two runs differ. Its `Display` is what people read.
#[derive(Debug, Default, PartialEq)]
pub struct Comparison {
    /// Why the figures may differ though the code does not.
    cautions: Vec<String>,
    moved: Vec<Move>,
    /// Figures that both have and that have not moved.
    same: usize,
    failed: Vec<String>,
    /// What one of them does not have.
    only_earlier: Vec<String>,
    only_now: Vec<String>,
}

#[derive(Debug, PartialEq)]
struct Move {
    /// The row, and its figure.
    what: String,
    then: Spread,
    now: Spread,
}

/// Compares `now` with `earlier`, of which only what has `only` in its `WORKLOAD/ENGINE` counts.
pub fn compare(earlier: &Document, now: &Document, only: Option<&str>) -> Comparison {
    let mut comparison = Comparison {
        cautions: cautions(earlier, now),
        ..Comparison::default()
    };
    let noisy = earlier.noise.noisy || now.noise.noisy;
    let asked = |entry: &&Entry| only.is_none_or(|only| entry.label().contains(only));
    for then in earlier.results.iter().filter(asked) {
        match now.results.iter().find(|entry| entry.is_same_cell(then)) {
            Some(now) => comparison.add(then, now, noisy || then.noisy || now.noisy),
            None => comparison.only_earlier.push(then.line()),
        }
    }
    for entry in &now.results {
        if !earlier.results.iter().any(|then| then.is_same_cell(entry)) {
            comparison.only_now.push(entry.line());
        }
    }
    comparison
}

impl Comparison {
    fn add(&mut self, then: &Entry, now: &Entry, noisy: bool) {
        for (entry, run) in [(then, "in the earlier run"), (now, "now")] {
            if let Some(failure) = &entry.failure {
                let line = format!("{} {run}: {failure}", entry.line());
                self.failed.push(line);
            }
        }
        let limit = if noisy { NOISY_LIMIT } else { QUIET_LIMIT };
        for &name in figure::COMPARED {
            let what = || format!("{}, {name}", then.line());
            match (then.spreads.get(name), now.spreads.get(name)) {
                (None, None) => {}
                // A row without any figure has failed, and that has been said.
                (Some(_), None) if now.spreads.is_empty() => {}
                (None, Some(_)) if then.spreads.is_empty() => {}
                (Some(_), None) => self.only_earlier.push(what()),
                (None, Some(_)) => self.only_now.push(what()),
                (Some(&then), Some(&now)) if has_moved(then, now, limit) => self.moved.push(Move {
                    what: what(),
                    then,
                    now,
                }),
                (Some(_), Some(_)) => self.same += 1,
            }
        }
    }
}

fn has_moved(then: Spread, now: Spread, limit: f64) -> bool {
    let apart = now.max < then.min || now.min > then.max;
    let (less, more) = if now.p50 < then.p50 {
        (now.p50, then.p50)
    } else {
        (then.p50, now.p50)
    };
    apart && more > less * limit
}

/// What was not the same in the two runs, besides the code.
fn cautions(earlier: &Document, now: &Document) -> Vec<String> {
    let mut all = Vec::new();
    let (then, here) = (&earlier.machine, &now.machine);
    let mut differ = |what: &str, then: &dyn Display, now: &dyn Display| {
        all.push(format!("{what}: {now} now, {then} in the earlier run"));
    };
    if !is_same_machine(then, here) {
        let cpu = |machine: &Machine| {
            let Machine {
                cpu, cores, cache, ..
            } = machine;
            format!("{cpu}, {cores} cores, cache {cache}, {}", machine.kernel)
        };
        differ("the machines differ", &cpu(then), &cpu(here));
    }
    let (slower, faster) = (then.cas_ns.max(here.cas_ns), then.cas_ns.min(here.cas_ns));
    if slower > faster * CAS_LIMIT {
        let ns = |machine: &Machine| format!("{} ns", number(machine.cas_ns));
        differ("a lone CAS is not as fast", &ns(then), &ns(here));
    }
    if then.rustc != here.rustc {
        differ("the compilers differ", &then.rustc, &here.rustc);
    }
    if then.build != here.build {
        differ("the builds differ", &then.build, &here.build);
    }
    if earlier.effort != now.effort {
        differ("the efforts differ", &earlier.effort, &now.effort);
    }
    for (document, which) in [(earlier, "the earlier run"), (now, "this run")] {
        if document.noise.noisy {
            all.push(format!("{which} was noisy"));
        }
    }
    all
}

fn is_same_machine(a: &Machine, b: &Machine) -> bool {
    let hardware = (&a.cpu, a.cores, &a.cache) == (&b.cpu, b.cores, &b.cache);
    hardware && (&a.kernel, a.virtual_machine) == (&b.kernel, b.virtual_machine)
}

impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Against the earlier run:\n")?;
        for caution in &self.cautions {
            writeln!(f, "  caution: {caution}")?;
        }
        if self.cautions.iter().any(|line| line.contains("machines")) {
            f.write_str("  Times of two machines say nothing of the code.\n")?;
        }
        for moved in &self.moved {
            let Move { what, then, now } = moved;
            let better = now.p50 < then.p50;
            let word = if better { "better" } else { "WORSE " };
            writeln!(
                f,
                "  {word} {what}: {} from {}, {}",
                range(*now),
                range(*then),
                by_how_much(*then, *now)
            )?;
        }
        for line in &self.failed {
            writeln!(f, "  failed {line}")?;
        }
        list(f, "only in the earlier run", &self.only_earlier)?;
        list(f, "only now", &self.only_now)?;
        let worse = self.moved.iter().filter(|m| m.now.p50 > m.then.p50).count();
        let better = self.moved.len() - worse;
        writeln!(
            f,
            "  {better} better, {worse} worse, {} not moved beyond noise",
            self.same
        )
    }
}

fn list(f: &mut fmt::Formatter<'_>, what: &str, lines: &[String]) -> fmt::Result {
    for line in lines {
        writeln!(f, "  {what}: {line}")?;
    }
    Ok(())
}

/// The median, and what the rounds lay between.
fn range(spread: Spread) -> String {
    let mut text = number(spread.p50);
    if spread.min < spread.max {
        let (min, max) = (number(spread.min), number(spread.max));
        write!(text, " ({min} to {max})").expect("a string takes all");
    }
    text
}

fn by_how_much(then: Spread, now: Spread) -> String {
    if then.p50 == 0.0 {
        return "which was none".to_owned();
    }
    let ratio = now.p50 / then.p50;
    if ratio < 2.0 {
        return format!("{:+.0}%", (ratio - 1.0) * 100.0);
    }
    format!("{ratio:.1}x")
}

#[cfg(test)]
mod tests {
    use super::super::json::document;
    use super::super::rows::{rows, tests::taken};
    use super::super::{Findings, Row};
    use super::*;
    use crate::workloads::Effort;

    fn run(rows: Vec<Row>) -> Document {
        let machine = Machine {
            cas_ns: 5.0,
            ..Machine::this()
        };
        document(&Findings::new(Effort::Full, machine, rows, Vec::new()))
    }

    fn of(rounds: &[f64]) -> Document {
        run(rows(&[taken("wheel", rounds)]))
    }

    fn told(earlier: &Document, now: &Document) -> String {
        compare(earlier, now, None).to_string()
    }

    #[test]
    fn what_is_better_or_worse_is_told_with_both_ranges() {
        let (then, now) = (of(&[20.0, 22.0, 21.0]), of(&[14.0, 15.0, 16.0]));
        let better = told(&then, &now);
        let line = "  better pair_fifo/wheel, 100k pending, ns_per_op: 15.0 (14.0 to 16.0) from \
                    21.0 (20.0 to 22.0), -29%\n";
        assert!(better.contains(line), "{better}");
        assert!(better.ends_with("1 better, 0 worse, 0 not moved beyond noise\n"));
        let worse = told(&now, &then);
        assert!(
            worse.contains("  WORSE  pair_fifo/wheel") && worse.contains("+40%"),
            "{worse}"
        );
        assert!(
            worse.ends_with("0 better, 1 worse, 0 not moved beyond noise\n"),
            "{worse}"
        );
    }

    #[test]
    fn rounds_that_overlap_have_not_moved_nor_has_what_is_within_the_limit() {
        let then = of(&[20.0, 21.0, 30.0]);
        let overlap = told(&then, &of(&[29.0, 40.0, 41.0]));
        assert!(
            overlap.ends_with("0 better, 0 worse, 1 not moved beyond noise\n"),
            "{overlap}"
        );
        let near = told(&of(&[20.0, 20.1]), &of(&[20.5, 20.6]));
        assert!(
            near.ends_with("0 better, 0 worse, 1 not moved beyond noise\n"),
            "{near}"
        );
        let none = told(&of(&[20.0]), &of(&[20.0]));
        assert!(
            none.contains("1 not moved") && !none.contains("caution"),
            "{none}"
        );
    }

    #[test]
    fn a_noisy_row_has_to_move_by_half() {
        let mut disturbed = taken("wheel", &[28.0, 29.0]);
        for noise in &mut disturbed.noise {
            noise.others = 0.5;
        }
        let noisy = run(rows(&[disturbed]));
        let told = told(&of(&[20.0, 20.1]), &noisy);
        assert!(told.contains("caution: this run was noisy"), "{told}");
        assert!(told.contains("1 not moved beyond noise"), "{told}");
        let much = compare(&of(&[10.0, 10.1]), &noisy, None).to_string();
        assert!(much.contains("0 better, 1 worse"), "{much}");
    }

    #[test]
    fn one_noisy_row_is_no_noisy_run_and_a_noisy_run_makes_all_rows_hints() {
        let with = |engine: &str, rounds: &[f64], others: f64| {
            let mut taken = taken(engine, rounds);
            for noise in &mut taken.noise {
                noise.others = others;
            }
            taken
        };
        let of = |wheel: f64, noise: [f64; 3]| {
            run(rows(&[
                with("wheel", &[wheel], noise[0]),
                with("heap", &[20.0], noise[1]),
                with("btree", &[20.0], noise[2]),
            ]))
        };
        let quiet = of(10.0, [0.0; 3]);
        let row = told(&quiet, &of(12.0, [0.5, 0.0, 0.0]));
        assert!(
            row.contains("3 not moved") && !row.contains("was noisy"),
            "{row}"
        );
        let noisy = of(12.0, [0.0, 0.5, 0.5]);
        for (then, now) in [(&quiet, &noisy), (&noisy, &quiet)] {
            let run = told(then, now);
            assert!(
                run.contains("3 not moved") && run.contains("was noisy"),
                "{run}"
            );
        }
        assert!(told(&quiet, &of(12.0, [0.0; 3])).contains("1 worse, 2 not moved"));
    }

    #[test]
    fn what_one_of_them_does_not_have_is_said_unless_it_was_not_asked_for() {
        let both = run(rows(&[taken("wheel", &[10.0]), taken("heap", &[20.0])]));
        let one = of(&[10.0]);
        let missing = told(&both, &one);
        assert!(missing.contains("only in the earlier run: pair_fifo/heap, 100k pending\n"));
        let new = told(&one, &both);
        assert!(
            new.contains("only now: pair_fifo/heap, 100k pending\n"),
            "{new}"
        );
        let asked = compare(&both, &one, Some("/wheel")).to_string();
        assert!(!asked.contains("only in"), "{asked}");
    }

    #[test]
    fn what_failed_is_said_and_is_no_figure() {
        let failed = of(&[0.0]);
        let told = told(&of(&[10.0]), &failed);
        assert!(
            told.contains("failed pair_fifo/wheel, 100k pending now: failed"),
            "{told}"
        );
        assert!(
            told.ends_with("0 better, 0 worse, 0 not moved beyond noise\n"),
            "{told}"
        );
    }

    #[test]
    fn another_machine_compiler_build_or_effort_is_a_caution() {
        let then = of(&[10.0]);
        let mut now = then.clone();
        now.machine.cores += 2;
        now.machine.cas_ns = 8.0;
        now.machine.rustc = "rustc 2.0".to_owned();
        now.machine.build = "other".to_owned();
        now.effort = "quick".to_owned();
        let told = told(&then, &now);
        for caution in [
            "the machines differ: ",
            "a lone CAS is not as fast: 8.0 ns now, 5.0 ns in the earlier run",
            "the compilers differ: rustc 2.0 now",
            "the builds differ: other now",
            "the efforts differ: quick now, full in",
            "Times of two machines say nothing of the code",
        ] {
            assert!(told.contains(caution), "{caution}: {told}");
        }
    }

    #[test]
    fn from_nothing_to_something_is_told_without_a_ratio() {
        let none = Spread {
            min: 0.0,
            p50: 0.0,
            max: 0.0,
        };
        let some = Spread {
            min: 3.0,
            p50: 3.0,
            max: 3.0,
        };
        assert!(has_moved(none, some, QUIET_LIMIT) && has_moved(some, none, QUIET_LIMIT));
        assert!(!has_moved(none, none, QUIET_LIMIT));
        assert_eq!(by_how_much(none, some), "which was none");
        assert_eq!(by_how_much(some, none), "-100%");
    }
}
