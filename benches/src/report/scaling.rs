//! The table of `docs/SCALING.md`: what was measured here, and what follows for a large host. Pure.
//!
//! What follows is arithmetic on what was measured, and each line says which. It takes for granted
//! what two cores cannot show: that threads which share no timer do not slow each other down.

use super::rows::{Row, find};
use super::{Findings, marks, number};
use crate::Workload;
use crate::measure::figure;

const BEGIN: &str = "<!-- measured: written by `cargo xtask bench --scaling docs/SCALING.md` -->\n";

const M1: u64 = 1_000_000;
const M10: u64 = 10_000_000;
/// The host of the page.
const HOST_CORES: f64 = 64.0;
const HOST_TIMERS: f64 = 100e6;
/// Moves between levels of a timer that is due at random within an hour: the hour's minutes, the
/// minute's seconds, the second's milliseconds.
const MOVES_OF_AN_HOUR: f64 = 2.0;
/// Of a timeout of 30 s: it waits in its second.
const MOVES_OF_30_S: f64 = 1.0;

/// One line: what, the figure, its unit, where it comes from.
struct Line {
    what: String,
    value: Option<f64>,
    unit: &'static str,
    from: String,
}

/// `document` with the table in it measured again.
pub fn document(findings: &Findings, document: &str) -> String {
    let (_, note) = &findings.noise;
    let mut table = format!(
        "{}.\n\n{note}.\n\n| what | | from |\n|---|---|---|\n",
        findings.machine.line()
    );
    let (measured, costs) = measured(&findings.rows);
    for line in measured.into_iter().chain(derived(&costs)) {
        let value = match line.value {
            Some(value) => format!("{} {}", number(value), line.unit)
                .trim_end()
                .to_owned(),
            None => "not in this run".to_owned(),
        };
        table.push_str(&format!("| {} | {value} | {} |\n", line.what, line.from));
    }
    marks::renew(document, BEGIN, &table)
}

/// What the derived lines are made of; `None` where the run does not have it.
struct Costs {
    placed_ns: Option<f64>,
    cascaded_ns: Option<f64>,
    fired_ns: Option<f64>,
    freed_ns: Option<f64>,
    bytes: Option<f64>,
    /// Of one thread and of two.
    local_mops: [Option<f64>; 2],
    jitter_mops: [Option<f64>; 2],
    /// Of two threads and of four.
    one_wheel_mops: [Option<f64>; 2],
    two_wheels_mops: [Option<f64>; 2],
}

/// Workload, pending, threads, engine with its variant.
type Place<'a> = (Workload, u64, usize, &'a str);

fn measured(rows: &[Row]) -> (Vec<Line>, Costs) {
    let mut lines = Vec::new();
    let mut take = |what: &str, unit: &'static str, cell: Place, name: &str| {
        let (workload, pending, threads, engine) = cell;
        let row = find(rows, (workload, pending, threads), engine);
        let value = row.and_then(|row| Some(row.figure(name)?.p50));
        let place = super::rows::place(workload, pending, threads);
        let noisy = if row.is_some_and(|row| row.disturbed().0) {
            ", noisy"
        } else {
            ""
        };
        lines.push(Line {
            what: what.to_owned(),
            value,
            unit,
            from: format!("`{workload}/{engine}`, {place}: {name}{noisy}"),
        });
        value
    };
    let mut driver = |what: &str, name| {
        take(what, "ns", (Workload::Driver, M1, 1, "wheel"), name);
        let what = format!("{what}, among 10 million");
        take(&what, "ns", (Workload::Driver, M10, 1, "wheel"), name)
    };
    let placed_ns = driver("driver: an entry placed", figure::PLACED_NS);
    let cascaded_ns = driver(
        "driver: an entry moved to a finer level",
        figure::CASCADED_NS,
    );
    let fired_ns = driver("driver: an entry fired", figure::FIRED_NS);
    let freed_ns = driver("driver: a cancelled entry freed", figure::FREED_NS);
    let ns = figure::NS_PER_OP;
    let fifo = |pending| (Workload::PairFifo, pending, 1, "wheel");
    take(
        "a timeout set and cancelled, driver included",
        "ns",
        fifo(1_000),
        ns,
    );
    take("the same, among 10 million", "ns", fifo(M10), ns);
    let bytes = take(
        "memory a timer, value of 16 bytes",
        "bytes",
        (Workload::Memory, M10, 1, "wheel"),
        figure::BYTES_PER_TIMER,
    );
    let mops = figure::MOPS;
    let mut threads = |what: &str, workload, engine, all: [usize; 2]| {
        all.map(|threads| {
            let many = if threads == 1 { "" } else { "s" };
            let what = format!("{what}, {threads} thread{many}");
            let cell = (workload, threads as u64 * 1024, threads, engine);
            take(&what, "M pairs a second", cell, mops)
        })
    };
    let local_mops = threads("timeouts of one length", Workload::MtLocal, "wheel", [1, 2]);
    let jitter_mops = threads(
        "timeouts a second apart",
        Workload::MtJitter,
        "wheel",
        [1, 2],
    );
    let one_wheel_mops = threads("one wheel", Workload::TwoWheels, "wheel", [2, 4]);
    let two_wheels_mops = threads("two wheels", Workload::TwoWheels, "wheel:two", [2, 4]);
    let costs = Costs {
        placed_ns,
        cascaded_ns,
        fired_ns,
        freed_ns,
        bytes,
        local_mops,
        jitter_mops,
        one_wheel_mops,
        two_wheels_mops,
    };
    (lines, costs)
}

impl Costs {
    /// The driver's part of a timer that is placed, moved so often, and fired.
    fn life_ns(&self, moves: f64) -> Option<f64> {
        Some(self.placed_ns? + moves * self.cascaded_ns? + self.fired_ns?)
    }
}

fn derived(costs: &Costs) -> Vec<Line> {
    let line = |what: &str, value: Option<f64>, unit, from: &str| Line {
        what: what.to_owned(),
        value,
        unit,
        from: format!("derived: {from}"),
    };
    let rate = |what: &str, ns: Option<f64>, from| {
        let what = format!("one driver: {what}");
        line(&what, ns.map(|ns| 1e3 / ns), "M a second", from)
    };
    let ratio = |what: &str, a: Option<f64>, b: Option<f64>, from| {
        line(what, a.and_then(|a| Some(a / b?)), "x", from)
    };
    const ONE: &str = "1 by the time of one";
    let hour_ns = costs.life_ns(MOVES_OF_AN_HOUR);
    let short_ns = costs.life_ns(MOVES_OF_30_S);
    // Pending timers are set again as they fire, so the rate is their number by their mean delay.
    let busy = |ns: Option<f64>, mean_s: f64| Some(HOST_TIMERS / mean_s * ns? / 1e9 * 100.0);
    let free_for = costs.freed_ns.and_then(|freed| {
        let freed_mops = 1e3 / freed;
        Some(freed_mops / costs.jitter_mops[0]?)
    });
    vec![
        rate("entries placed", costs.placed_ns, ONE),
        rate("entries moved", costs.cascaded_ns, ONE),
        rate("entries fired", costs.fired_ns, ONE),
        rate("cancelled entries freed", costs.freed_ns, ONE),
        rate(
            "timers within an hour that all fire",
            hour_ns,
            "placed, moved twice, fired",
        ),
        rate(
            "timers of 30 s that all fire",
            short_ns,
            "placed, moved once, fired",
        ),
        line(
            "a million due in one tick: the driver fires for",
            costs.fired_ns,
            "ms",
            "a million times one",
        ),
        line(
            "100 million timers: memory",
            costs.bytes.map(|bytes| bytes * HOST_TIMERS / 1e9),
            "GB",
            "memory a timer",
        ),
        line(
            "100 million within an hour, each set again as it fires: the driver's core is busy",
            busy(hour_ns, 1_800.0),
            "%",
            "55,556 a second, as they take half an hour on average",
        ),
        line(
            "100 million of 30 s, each set again as it fires: the driver's core is busy",
            busy(short_ns, 30.0),
            "%",
            "3.33 million a second",
        ),
        line(
            "threads that set and cancel timeouts a second apart, and that one driver can free for",
            free_for,
            "at full speed",
            "entries freed a second, by pairs a second of one thread",
        ),
        line(
            "64 cores of such threads: wheels",
            free_for.map(|threads| (HOST_CORES / (threads.floor().max(1.0) + 1.0)).ceil()),
            "",
            "64 by those threads and their driver",
        ),
        ratio(
            "one length: two threads against one",
            costs.local_mops[1],
            costs.local_mops[0],
            "`mt_local`",
        ),
        ratio(
            "a second apart: two threads against one",
            costs.jitter_mops[1],
            costs.jitter_mops[0],
            "`mt_jitter`",
        ),
        ratio(
            "two wheels against one, 2 threads",
            costs.two_wheels_mops[0],
            costs.one_wheel_mops[0],
            "`two_wheels`",
        ),
        ratio(
            "two wheels against one, 4 threads",
            costs.two_wheels_mops[1],
            costs.one_wheel_mops[1],
            "`two_wheels`",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;
    use crate::measure::{Machine, Sample};
    use crate::workloads::Effort;

    fn findings(others: f64) -> Findings {
        let mut driver = taken("wheel", &[1.0]);
        driver.noise[0].others = others;
        driver.cell.workload = Workload::Driver;
        driver.cell.pending = M10;
        driver.samples[0] = Some(
            Sample::new()
                .with(figure::PLACED_NS, 10.0)
                .with(figure::CASCADED_NS, 20.0)
                .with(figure::FIRED_NS, 50.0),
        );
        Findings::new(Effort::Full, Machine::this(), rows(&[driver]), Vec::new())
    }

    #[test]
    fn what_follows_is_made_of_what_was_measured() {
        let table = document(&findings(0.0), "text\n");
        for line in [
            "| driver: an entry fired, among 10 million | 50.0 ns | `driver/wheel`, 10M pending: fired_ns |",
            "| one driver: entries fired | 20.0 M a second | derived: ",
            "| one driver: timers within an hour that all fire | 10.0 M a second | derived: ",
            "| a million due in one tick: the driver fires for | 50.0 ms | derived: ",
            "the driver's core is busy | 26.7 % | derived: 3.33 million",
        ] {
            assert!(table.contains(line), "{line}\n{table}");
        }
        assert!(table.starts_with("text\n"));
    }

    #[test]
    fn what_the_run_does_not_have_is_said() {
        let table = document(&findings(0.0), "");
        assert!(
            table.contains("| 100 million timers: memory | not in this run |"),
            "{table}"
        );
        assert!(
            table.contains("cancelled entries freed | not in this run |"),
            "{table}"
        );
    }

    #[test]
    fn what_was_disturbed_says_so() {
        let table = document(&findings(0.5), "");
        assert!(table.contains("10M pending: fired_ns, noisy |"), "{table}");
    }
}
