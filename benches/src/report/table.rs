//! The table on the screen: a block for each group, printed as soon as the group is done. Pure.

use super::rows::{Row, place};
use crate::measure::figure;

/// A number in four figures or so, with thousands apart.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1_000.0 {
        let digits = format!("{value:.0}");
        let (sign, digits) = match digits.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", digits.as_str()),
        };
        let mut grouped = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return format!("{sign}{grouped}");
    }
    match size {
        large if large >= 100.0 => format!("{value:.0}"),
        some if some >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// The rows of one group, under a heading.
pub fn group_table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let cell = &first.cell;
    let mut text = format!(
        "{}, {}: {}\n  {:<24} {:>11} {:>11} {:>11} {:>8} {:>8}  also\n",
        cell.workload,
        place(cell.workload, cell.pending, cell.threads),
        cell.workload.unit(),
        "",
        "median",
        "min",
        "max",
        "to heap",
        "to best"
    );
    for row in rows {
        text.push_str(&line(row));
    }
    text
}

fn line(row: &Row) -> String {
    let name = row.cell.name();
    let Some(spread) = row.primary() else {
        let reason = row.failure.as_deref().unwrap_or("no figure");
        return format!("  {name:<24} failed: {reason}\n");
    };
    let ratio = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"));
    let also = also(row);
    format!(
        "  {name:<24} {:>11} {:>11} {:>11} {:>8} {:>8}  {also}\n",
        number(spread.p50),
        number(spread.min),
        number(spread.max),
        ratio(row.to_heap),
        ratio(row.to_best.as_ref().map(|(_, ratio)| *ratio)),
    )
}

/// The other figures of a row, in words as far as there are words.
pub(super) fn also(row: &Row) -> String {
    let mut parts = Vec::new();
    for (name, spread) in &row.figures {
        let value = spread.p50;
        let part = match name.as_str() {
            primary if primary == row.cell.workload.primary() => continue,
            figure::NS_PER_OP | figure::WALL_NS_PER_OP | figure::TICK_MAX | figure::EARLIEST_US => {
                continue;
            }
            figure::MOPS => format!("{} M/s", number(value)),
            figure::CPU_NS_PER_OP => format!("CPU {} ns", number(value)),
            figure::DRIVER_NS_PER_OP => format!("driver {} ns", number(value)),
            figure::WITH_DRIVER_NS_PER_OP => format!("both {} ns", number(value)),
            figure::STORM_PEAK_BYTES => format!("storm {:.1} MiB", mib(value)),
            "storm_fixed_peak_bytes" => format!("of one length {:.1} MiB", mib(value)),
            "storm_wide_peak_bytes" => format!("up to 1 h {:.1} MiB", mib(value)),
            figure::PEAK_BYTES => format!("held {:.1} MiB", mib(value)),
            figure::OF_W5 | figure::FIXED_OF_W5 | figure::WIDE_OF_W5 => {
                format!("{name} {}x", number(value))
            }
            figure::STORM_BYTES_PER_TIMER => continue,
            figure::EARLY if value == 0.0 => continue,
            figure::EARLY => {
                let by = row.figure(figure::EARLIEST_US).map_or(0.0, |by| by.p50);
                format!("FIRES EARLY: {value:.0}, by up to {} us", number(by))
            }
            "tick_wall_max_ns" => continue,
            figure::CPU_MS => format!("CPU {} ms", number(value)),
            other => format!("{} {}", other, number(value)),
        };
        parts.push(part);
    }
    if let (true, Some(failure)) = (row.rounds > 0, &row.failure) {
        parts.push(format!("only {} rounds succeeded: {failure}", row.rounds));
    }
    if row.disturbed().0 {
        parts.push("NOISY".to_owned());
    }
    parts.join(", ")
}

fn mib(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;

    #[test]
    fn numbers_are_short_and_thousands_apart() {
        assert_eq!(number(0.0123), "0.012");
        assert_eq!(number(12.34), "12.3");
        assert_eq!(number(999.4), "999");
        assert_eq!(number(1_234_567.0), "1,234,567");
        assert_eq!(number(-1_500.0), "-1,500");
    }

    #[test]
    fn a_table_has_a_line_for_each_and_says_what_failed() {
        let rows = rows(&[
            taken("wheel", &[10.0]),
            taken("heap", &[20.0]),
            taken("btree", &[0.0]),
        ]);
        let table = group_table(&rows);
        assert_eq!(table.lines().count(), 5, "{table}");
        assert!(
            table.contains("pair_fifo, 100k pending: ns a pair"),
            "{table}"
        );
        assert!(table.contains("0.50x"), "{table}");
        assert!(
            table.contains("btree                    failed: failed"),
            "{table}"
        );
    }

    #[test]
    fn a_row_says_that_a_round_failed_and_that_it_was_disturbed() {
        let mut disturbed = taken("wheel", &[10.0, 0.0]);
        for noise in &mut disturbed.noise {
            noise.others = 0.5;
        }
        let table = group_table(&rows(&[disturbed, taken("heap", &[20.0])]));
        let of = |name: &str| table.lines().find(|line| line.contains(name)).unwrap();
        assert!(
            of("wheel").contains("only 1 rounds succeeded: failed, NOISY"),
            "{table}"
        );
        assert!(!of("heap").contains("NOISY"), "{table}");
    }
}
