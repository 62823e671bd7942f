//! Which variant of a kind a task has: by its id, the same in every process and for ever.
//!
//! The id is hashed by FNV-1a with 64 bits, mixed by the last steps of SplitMix64 (`policy/hash.rs`),
//! and cut to the numbers from 0 to 99. The first variant has the lowest numbers, the second those
//! that follow, and the kind's own handler the rest. So a larger percentage for the last variant
//! moves tasks to it and none away.

use crate::policy::{fnv1a, mixed};

/// The number of `id`, from 0 to 99.
pub(super) fn hundredth(id: &str) -> u32 {
    // The upper part of the product: no number is preferred by more than one in 2^57.
    ((u128::from(mixed(fnv1a(id))) * 100) >> 64) as u32
}

/// The place of the variant of `id` among those that have so many of a hundred each; `None` for the
/// rest.
pub(super) fn place(id: &str, percents: impl Iterator<Item = u32>) -> Option<usize> {
    let number = hundredth(id);
    let mut below = 0;
    for (place, percent) in percents.enumerate() {
        below += percent;
        if number < below {
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_id_is_written_down_here_for_ever() {
        let ids = ["order-1001", "order-1002", "customer-7", "a", "", "日报"];
        assert_eq!(ids.map(hundredth), EXPECTED);
    }

    // Whoever changes these moves tasks of users from one handler to another.
    const EXPECTED: [u32; 6] = [54, 15, 59, 1, 95, 61];

    #[test]
    fn each_number_has_its_share_of_ids_that_follow_each_other() {
        for pattern in ["order-", "", "customer/7/mail/"] {
            let mut counts = [0_u32; 100];
            for n in 0..100_000 {
                counts[hundredth(&format!("{pattern}{n}")) as usize] += 1;
            }
            // 1,000 each, give or take five standard deviations.
            for (number, count) in counts.into_iter().enumerate() {
                assert!(
                    (843..=1_157).contains(&count),
                    "{pattern}: {number} has {count}"
                );
            }
        }
    }

    #[test]
    fn a_variant_has_its_percentage_and_the_rest_is_nobodys() {
        let ids = || (0..100_000).map(|n| format!("order-{n}"));
        let of =
            |place_wanted| ids().filter(move |id| place(id, [5, 20].into_iter()) == place_wanted);
        let (first, second, rest) = (of(Some(0)).count(), of(Some(1)).count(), of(None).count());
        assert!((4_650..=5_350).contains(&first), "{first}");
        assert!((19_300..=20_700).contains(&second), "{second}");
        assert_eq!(first + second + rest, 100_000);
    }

    #[test]
    fn a_larger_percentage_moves_no_task_away_from_the_variant() {
        for n in 0..10_000 {
            let id = format!("order-{n}");
            let has = |percent| place(&id, [percent].into_iter()).is_some();
            assert!((0..100).all(|percent| has(percent + 1) || !has(percent)));
            assert!(!has(0) && has(100));
        }
    }
}
