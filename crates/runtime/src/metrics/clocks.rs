//! What is shown of clocks: jumps, of each source, and how well the system keeps its clock, once.

use super::page::Writer;
use crate::clock::{ClockDiscipline, ClockJumpKind};
use crate::observe::ClockJumps;

/// Each kind has a sample from the start, so that the first jump is an increase.
pub(super) fn write_jumps(writer: &mut Writer<'_>, jumps: &ClockJumps) {
    for kind in ClockJumpKind::ALL {
        let label = [("kind", kind.name())];
        writer.count("wheel_clock_jumps_total", &label, jumps.of(kind));
    }
}

/// Of the system, whichever clocks the sources live by.
pub(super) fn write_discipline(writer: &mut Writer<'_>, kept: &ClockDiscipline) {
    let synchronized = u64::from(kept.is_synchronized);
    writer.count("wheel_clock_synchronized", &[], synchronized);
    for (name, number) in [
        ("wheel_clock_offset_seconds", parts(kept.offset_ns)),
        ("wheel_clock_frequency_ratio", parts(kept.frequency_ppb)),
        ("wheel_clock_error_seconds", kept.error_max.as_secs_f64()),
        (
            "wheel_clock_error_estimated_seconds",
            kept.error_estimated.as_secs_f64(),
        ),
    ] {
        writer.number(name, &[], number);
    }
}

/// So many parts of a thousand million; exact up to 2^53 of them.
fn parts(billionths: i64) -> f64 {
    billionths as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::families::LIST;
    use super::super::page::{Page, Value};
    use super::*;

    #[test]
    fn how_the_clock_is_kept_is_shown_in_base_units_with_its_signs() {
        let kept = ClockDiscipline {
            is_synchronized: true,
            frequency_ppb: -25_000,
            offset_ns: 1_500_000,
            error_max: Duration::from_millis(16),
            error_estimated: Duration::from_micros(12),
            tai_offset_s: 37,
        };
        let mut page = Page::new(LIST);
        let mut writer = Writer {
            page: &mut page,
            source: None,
        };
        write_discipline(&mut writer, &kept);
        let shown = page.families.iter();
        let shown: Vec<_> = shown
            .flat_map(|(family, samples)| samples.iter().map(|one| (family.name, one.value)))
            .collect();
        let wanted = [
            ("wheel_clock_synchronized", Value::Count(1)),
            ("wheel_clock_offset_seconds", Value::Number(0.001_5)),
            ("wheel_clock_frequency_ratio", Value::Number(-0.000_025)),
            ("wheel_clock_error_seconds", Value::Number(0.016)),
            (
                "wheel_clock_error_estimated_seconds",
                Value::Number(0.000_012),
            ),
        ];
        assert_eq!(shown, wanted);
    }
}
