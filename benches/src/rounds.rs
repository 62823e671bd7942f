//! For work that only makes sense in whole rounds, such as filling an engine.

use std::time::Duration;

/// The time for `asked` steps, measured over as many whole rounds of `steps` steps as cover them.
///
/// # Panics
///
/// If `steps` is 0.
pub fn in_whole_rounds(asked: u64, steps: u64, mut round: impl FnMut() -> Duration) -> Duration {
    let rounds = asked.div_ceil(steps);
    let took: Duration = (0..rounds).map(|_| round()).sum();
    let nanos = took.as_nanos() * u128::from(asked) / u128::from(rounds * steps);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_round_is_charged_its_part_of_the_time() {
        let mut rounds = 0;
        let took = in_whole_rounds(150, 100, || {
            rounds += 1;
            Duration::from_micros(100)
        });
        assert_eq!((rounds, took), (2, Duration::from_micros(150)));
    }
}
