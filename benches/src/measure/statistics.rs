//! Medians and what lies around them. Pure.

use serde::{Deserialize, Serialize};

/// The middle of `values`, of an even number the mean of the two in the middle; `None` of none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// A figure over all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// `None` of no values.
    pub fn of(values: &[f64]) -> Option<Spread> {
        Some(Spread {
            min: values.iter().copied().min_by(f64::total_cmp)?,
            p50: median(values)?,
            max: values.iter().copied().max_by(f64::total_cmp)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle_whatever_the_order() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&[4.0, 1.0, 100.0, 2.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_spread_has_the_least_the_middle_and_the_most() {
        let spread = Spread::of(&[3.0, 2.0, 7.0]).unwrap();
        assert_eq!((spread.min, spread.p50, spread.max), (2.0, 3.0, 7.0));
        assert_eq!(Spread::of(&[]), None);
    }
}
