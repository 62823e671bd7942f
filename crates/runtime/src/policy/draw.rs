//! Numbers that look random, and are the same for the same seed, id and instant.
//!
//! Nothing is drawn from a state: whoever asks twice about the same thing gets the same answer, on
//! any thread and in any order.

use std::time::{Duration, SystemTime};

use super::hash::{fnv1a, mixed};
use crate::clock::{duration_of, unix_nanos};

/// What all that is drawn for one task depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draws {
    /// Of the scheduler.
    seed: u64,
    /// The hash of the task's id.
    id: u64,
}

impl Draws {
    pub(crate) fn of(seed: u64, id: &str) -> Draws {
        Draws {
            seed,
            id: fnv1a(id),
        }
    }

    /// For attempt `number` of the occurrence of `nominal`, the first of which is 1; 0 is for the
    /// occurrence itself.
    pub(crate) fn draw(self, nominal: SystemTime, number: u32) -> u64 {
        let nominal = unix_nanos(nominal) as u64;
        mix([self.seed, self.id, nominal, u64::from(number)])
    }

    /// The same for every occurrence of the task, with any seed.
    pub(crate) fn of_id(self) -> u64 {
        mix([self.id])
    }
}

/// SplitMix64, with each of these instead of its counter.
fn mix<const N: usize>(seeds: [u64; N]) -> u64 {
    seeds.into_iter().fold(0, |so_far: u64, seed| {
        mixed((so_far ^ seed).wrapping_add(0x9e37_79b9_7f4a_7c15))
    })
}

/// The part of `whole` that `draw` is of all numbers: less than `whole`, unless that is zero.
pub(crate) fn part(whole: Duration, draw: u64) -> Duration {
    // Nanoseconds of a duration have 94 bits, so that 32 more fit.
    duration_of((whole.as_nanos() * u128::from(draw >> 32)) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_depends_on_the_seed_the_id_the_instant_and_the_number() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let later = at + Duration::from_nanos(1);
        let drawn = [
            Draws::of(1, "a").draw(at, 0),
            Draws::of(2, "a").draw(at, 0),
            Draws::of(1, "b").draw(at, 0),
            Draws::of(1, "a").draw(later, 0),
            Draws::of(1, "a").draw(at, 1),
        ];
        for (i, one) in drawn.iter().enumerate() {
            assert!(!drawn[..i].contains(one));
        }
        assert_eq!(Draws::of(1, "a").draw(at, 0), drawn[0]);
        assert_eq!(Draws::of(1, "a").of_id(), Draws::of(2, "a").of_id());
        assert_ne!(Draws::of(1, "a").of_id(), Draws::of(1, "b").of_id());
    }

    #[test]
    fn a_part_is_less_than_the_whole_however_large() {
        for whole in [Duration::from_nanos(1), Duration::MAX] {
            assert!(part(whole, u64::MAX) < whole);
            assert_eq!(part(whole, 0), Duration::ZERO);
        }
        assert_eq!(part(Duration::ZERO, u64::MAX), Duration::ZERO);
    }
}
