//! Whether a run was disturbed: CPU taken by other programs, and by the host.
//!
//! The parent looks at `/proc/stat` before and after a cell. Busy time that is not the cell's own
//! was somebody else's; stolen time went to another guest of the host. The cell itself counts how
//! often one of its threads was put off a core against its will.

use std::fs;

use serde::{Deserialize, Serialize};

/// What disturbed a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Part of all cores that other programs used, from 0 to 1.
    pub others: f64,
    /// Part of all cores that the host took, from 0 to 1.
    pub stolen: f64,
    /// Threads put off a core, in all.
    pub switches: f64,
}

/// Above this the note says that the run was noisy.
const OTHERS_MAX: f64 = 0.10;
const STOLEN_MAX: f64 = 0.01;

/// What the note says about the cells of a run: whether it was noisy, and in figures.
pub fn verdict(cells: &[Noise]) -> (bool, String) {
    let middle = |part: fn(&Noise) -> f64| {
        let parts: Vec<f64> = cells.iter().map(part).collect();
        let most = parts.iter().copied().fold(0.0, f64::max);
        (super::median(&parts).unwrap_or(0.0), most)
    };
    let (others, others_max) = middle(|noise| noise.others);
    let (stolen, stolen_max) = middle(|noise| noise.stolen);
    let (switches, switches_max) = middle(|noise| noise.switches);
    let noisy = others > OTHERS_MAX || stolen > STOLEN_MAX;
    let text = format!(
        "{}: other programs used {:.0}% of the cores at the median of the cells and {:.0}% at \
         most, the host took {:.1}% and {:.1}%, threads were put off a core {switches:.0} times a \
         cell and {switches_max:.0} at most{}",
        if noisy { "NOISY" } else { "quiet" },
        others * 100.0,
        others_max * 100.0,
        stolen * 100.0,
        stolen_max * 100.0,
        if noisy {
            "; compare ratios only, and none below 1.5"
        } else {
            ""
        }
    );
    (noisy, text)
}

/// What the kernel has counted for the whole machine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CpuUse {
    all: f64,
    busy: f64,
    stolen: f64,
}

impl CpuUse {
    /// From the first line of `/proc/stat`: user nice system idle iowait irq softirq steal.
    fn parse(stat: &str) -> Option<CpuUse> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let fields: Vec<f64> = line
            .split_whitespace()
            .map_while(|field| field.parse().ok())
            .collect();
        let [user, nice, system, idle, iowait, irq, softirq, stolen, ..] = fields[..] else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some(CpuUse {
            all: busy + idle + iowait + stolen,
            busy,
            stolen,
        })
    }
}

/// Looks at the machine from its making to [`end`](NoiseMeter::end).
pub struct NoiseMeter(Option<CpuUse>);

impl NoiseMeter {
    /// Starts now.
    #[allow(clippy::new_without_default, reason = "it reads the machine")]
    pub fn new() -> NoiseMeter {
        NoiseMeter(now())
    }

    /// What was not the cell's own, which used `own_s` seconds of CPU and was put off a core
    /// `switches` times.
    pub fn end(self, own_s: f64, switches: f64) -> Noise {
        match (self.0, now()) {
            (Some(before), Some(after)) => between(before, after, own_s, switches),
            _ => Noise::default(),
        }
    }
}

fn now() -> Option<CpuUse> {
    CpuUse::parse(&fs::read_to_string("/proc/stat").ok()?)
}

/// The kernel counts in hundredths of a second, on every Linux that matters.
fn between(before: CpuUse, after: CpuUse, own_s: f64, switches: f64) -> Noise {
    let all = after.all - before.all;
    if all <= 0.0 {
        return Noise::default();
    }
    let others = (after.busy - before.busy - own_s * 100.0) / all;
    Noise {
        others: others.clamp(0.0, 1.0),
        stolen: ((after.stolen - before.stolen) / all).clamp(0.0, 1.0),
        switches,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n";
    const AFTER: &str = "cpu  200 40 60 840 50 0 0 10 0 0\n";

    #[test]
    fn what_is_busy_and_not_our_own_was_others() {
        let before = CpuUse::parse(BEFORE).unwrap();
        let after = CpuUse::parse(AFTER).unwrap();
        let noise = between(before, after, 1.0, 7.0);
        assert_eq!(noise.others, 0.25, "150 busy of 200, 100 of them ours");
        assert_eq!(noise.stolen, 0.05);
        assert_eq!(noise.switches, 7.0);
    }

    #[test]
    fn a_busy_machine_is_called_noisy_and_an_idle_one_quiet() {
        let quiet = Noise {
            others: 0.02,
            stolen: 0.0,
            switches: 3.0,
        };
        let busy = Noise {
            others: 0.6,
            ..quiet
        };
        assert!(!verdict(&[quiet, quiet, busy]).0, "one of three");
        let (noisy, text) = verdict(&[quiet, busy, busy]);
        assert!(
            noisy && text.starts_with("NOISY") && text.contains("60%"),
            "{text}"
        );
    }
}
