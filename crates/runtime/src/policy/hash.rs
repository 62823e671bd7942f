//! The hash of an id: the same in each process, on each machine, in each version.
//!
//! It decides which variant of its kind a task has, which of several pools it goes to, and by how much
//! it is spread. Tasks that a store has kept for years are still treated as they were, so **nothing
//! here ever changes**: whoever wants another hash adds one beside it. A map's hash would not do,
//! since that of std is another one in each process.
//!
//! The hash is FNV-1a with 64 bits, of Fowler, Noll and Vo (RFC 9923). It spreads the upper bits of
//! short texts badly, so whoever shares something out mixes it first. Each use mixes in a way of its
//! own: with one for all, the tasks of the first pool would be those of the first variant.

/// FNV-1a of the bytes of `text`.
pub(crate) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The last steps of SplitMix64, of Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014.
pub(crate) fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The last steps of MurmurHash3 with 64 bits, of Appleby.
pub(crate) fn mixed_otherwise(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_published_vectors() {
        let vectors = [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("b", 0xaf63_df4c_8601_f1a5),
            ("foobar", 0x8594_4171_f739_67e8),
        ];
        for (text, hash) in vectors {
            assert_eq!(fnv1a(text), hash, "{text:?}");
        }
    }

    #[test]
    fn what_is_mixed_is_written_down_here_for_ever() {
        // The first two numbers of SplitMix64 from the seed 0.
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(mixed(golden), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mixed(golden.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(mixed_otherwise(fnv1a("")), 0xefd0_1f60_ba99_2926);
        assert_eq!(mixed_otherwise(fnv1a("a")), 0x82a2_a958_a9be_ce5b);
    }
}
