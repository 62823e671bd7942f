//! Where ours lose. A comparison that is silent about it is an advertisement. Pure.

use super::rows::{Row, place};
use super::table::number;

/// A line for each group in which a rival is better than the wheel at the median.
pub fn losses(rows: &[Row]) -> Vec<String> {
    let ours = rows
        .iter()
        .filter(|row| row.cell.engine == "wheel" && row.cell.variant.is_empty());
    ours.filter_map(|row| {
        let (rival, ratio) = row.to_best.as_ref()?;
        if *ratio < 1.005 {
            return None;
        }
        let best = rows
            .iter()
            .find(|other| other.is_beside(row) && other.cell.name() == *rival)?;
        let cell = &row.cell;
        Some(format!(
            "{}, {}: {} {} against {} of {rival}, {ratio:.2}x",
            cell.workload,
            place(cell.workload, cell.pending, cell.threads),
            number(row.primary()?.p50),
            cell.workload.unit(),
            number(best.primary()?.p50),
        ))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;

    #[test]
    fn a_loss_is_told_with_both_figures_and_a_win_is_not() {
        let lost = rows(&[taken("wheel", &[30.0]), taken("heap", &[20.0])]);
        let told = losses(&lost);
        assert_eq!(told.len(), 1);
        assert!(
            told[0].contains("30.0 ns a pair against 20.0 of heap, 1.50x"),
            "{told:?}"
        );
        let won = rows(&[taken("wheel", &[10.0]), taken("heap", &[20.0])]);
        assert!(losses(&won).is_empty());
    }
}
