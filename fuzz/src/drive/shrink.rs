//! A failing input with what it fails without left out.

use std::time::{Duration, Instant};

/// How long it may take.
const TIME: Duration = Duration::from_secs(10);

/// Drops pieces, large ones first, then makes single bytes smaller, for as long as it still fails.
pub(crate) fn shrink(input: &[u8], mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let until = Instant::now() + TIME;
    let mut input = input.to_vec();
    let mut piece = input.len();
    while piece > 0 {
        let mut from = 0;
        while from < input.len() && Instant::now() < until {
            let mut less = input.clone();
            less.drain(from..(from + piece).min(input.len()));
            if fails(&less) {
                input = less;
            } else {
                from += piece;
            }
        }
        piece /= 2;
    }
    for at in 0..input.len() {
        for step in [128, 64, 32, 16, 8, 4, 2, 1] {
            if step > input[at] || Instant::now() >= until {
                continue;
            }
            let mut less = input.clone();
            less[at] -= step;
            if fails(&less) {
                input = less;
            }
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let input: Vec<u8> = (0..=255).collect();
        let fails = |input: &[u8]| {
            let seven = input.iter().position(|byte| *byte == 7);
            seven.is_some_and(|at| input[at..].iter().any(|byte| *byte > 99))
        };
        assert_eq!(shrink(&input, fails), [7, 100]);
    }
}
