//! From samples to what people read: the table, the JSON and what moved since an earlier one, the
//! page with plots, the bars, and the losses.
//!
//! `rows` does the arithmetic; the others only write. All of it is pure but for the page's files.

mod rows;
mod table;
mod losses;
mod json;
mod against;
mod svg;
mod plots;
mod marks;
mod bars;
mod scaling;
mod page;

pub use against::compare;
pub use json::{Document, document, read};
pub use losses::losses;
pub use page::write as page;
pub use rows::{Row, rows};
pub use scaling::document as scaling;
pub use table::{group_table, number};

use crate::measure::{Machine, Noise};
use crate::plan::LeftOut;
use crate::workloads::Effort;

/// All that a run has found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// How much work each cell was given.
    pub effort: Effort,
    /// On what.
    pub machine: Machine,
    /// In the order of the tables.
    pub rows: Vec<Row>,
    /// Who did not take part.
    pub left_out: Vec<LeftOut>,
    /// Whether the machine was noisy, and the note that says how.
    pub noise: (bool, String),
}

impl Findings {
    /// Puts together what has come of a run.
    pub fn new(
        effort: Effort,
        machine: Machine,
        rows: Vec<Row>,
        left_out: Vec<LeftOut>,
    ) -> Findings {
        let noise: Vec<Noise> = rows.iter().flat_map(|row| row.noise.clone()).collect();
        Findings {
            effort,
            machine,
            noise: crate::measure::verdict(&noise),
            rows,
            left_out,
        }
    }
}
