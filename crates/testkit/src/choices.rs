//! Where the decisions of a stream come from: a seed, or bytes that somebody else has made up.
//!
//! A fuzzer knows bytes only. Each decision takes as few of them as it needs, one mostly, so that a
//! byte that is changed, dropped or put in changes one decision, and what follows keeps its
//! meaning. Bytes that have run out read as zeros, which decide for the dullest: a stream then ends
//! after the operation that it is at.

use crate::random::Random;

/// Takes decisions.
#[derive(Clone, Debug)]
pub enum Choices<'a> {
    /// From a sequence without end.
    Seed(Random),
    /// From the front of these bytes.
    Bytes(&'a [u8]),
}

impl Choices<'_> {
    /// Whether there is nothing left to decide by.
    pub fn are_over(&self) -> bool {
        matches!(self, Choices::Bytes([]))
    }

    /// A number to pick one of some hundreds with, by its remainder.
    pub fn pick(&mut self) -> usize {
        match self {
            Choices::Seed(random) => random.number() as usize,
            Choices::Bytes(bytes) => take(bytes, 8) as usize,
        }
    }

    /// A number below `end`.
    ///
    /// # Panics
    ///
    /// When `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        match self {
            Choices::Seed(random) => random.below(end),
            Choices::Bytes(bytes) => take(bytes, u64::BITS - (end - 1).leading_zeros()) % end,
        }
    }

    /// A number from `first` to `last`, both included.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// A number whose size is random: as often below 1,000 as between a million and a billion.
    pub fn of_any_size(&mut self) -> u64 {
        match self {
            Choices::Seed(random) => random.of_any_size(),
            Choices::Bytes(bytes) => {
                let bits = take(bytes, 6) as u32 % u64::BITS + 1;
                take(bytes, bits) & (u64::MAX >> (u64::BITS - bits))
            }
        }
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        match self {
            Choices::Seed(random) => random.one_in(n),
            // The dull answer, the one to zeros, is no.
            Choices::Bytes(_) => self.below(n) == n - 1,
        }
    }

    /// One of the choices.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// The number in the first bytes, as many as hold so many bits, the lowest first.
fn take(bytes: &mut &[u8], bits: u32) -> u64 {
    let (taken, rest) = bytes.split_at((bits.div_ceil(8) as usize).min(bytes.len()));
    *bytes = rest;
    let digits = taken.iter().rev();
    digits.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_takes_no_more_bytes_than_it_needs() {
        for (end, left) in [(1, 4), (2, 3), (256, 3), (257, 2), (1 << 32, 0)] {
            let mut choices = Choices::Bytes(&[1, 2, 3, 4]);
            assert!(choices.below(end) < end);
            let Choices::Bytes(bytes) = choices else {
                panic!("a source stays what it is");
            };
            assert_eq!(bytes.len(), left, "below {end}");
        }
    }

    #[test]
    fn every_size_of_number_can_be_asked_for() {
        for bits in 0..64 {
            let mut bytes = [0xff; 9];
            bytes[0] = bits;
            let number = Choices::Bytes(&bytes).of_any_size();
            assert_eq!(number, u64::MAX >> (63 - bits));
        }
    }

    #[test]
    fn bytes_that_have_run_out_decide_for_the_dullest() {
        let mut choices = Choices::Bytes(&[]);
        assert!(choices.are_over());
        assert_eq!((choices.below(9), choices.pick()), (0, 0));
        assert_eq!(choices.of_any_size(), 0);
        assert!(!choices.one_in(2));
    }
}
