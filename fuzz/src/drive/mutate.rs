//! Another input out of those that there are: bits flipped, pieces dropped, doubled, put in and
//! joined, as fuzzers do.

use wheel_testkit::Random;

/// The longest input.
const BYTES_MAX: usize = 600;

/// Bytes at the ends of ranges, and those that texts are made of.
const TELLING: &[u8] = b"\x00\x01\x02\x7f\x80\xfe\xff\"\\\n=[]{}#.,-: 0159dhmsnu";

/// An input that comes from one of the corpus, or from nothing.
pub(crate) fn next(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut input = match corpus.len() {
        0 => Vec::new(),
        _ if random.one_in(10) => Vec::new(),
        some => corpus[random.below(some as u64) as usize].clone(),
    };
    if input.is_empty() {
        extend(random, &mut input);
    }
    // Mostly a few changes, now and then many.
    let most = random.choose(&[1, 2, 4, 16]);
    for _ in 0..random.between(1, most) {
        change(random, &mut input, corpus);
    }
    input.truncate(BYTES_MAX);
    input
}

fn change(random: &mut Random, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let piece = {
        let from = random.below(input.len() as u64 + 1) as usize;
        let longest = (input.len() - from).min(40) as u64;
        from..from + random.between(0, longest) as usize
    };
    let at = piece.start;
    match random.below(9) {
        0 | 1 if at < input.len() => input[at] ^= 1 << random.below(8),
        2 if at < input.len() => input[at] = random.number() as u8,
        3 if at < input.len() => input[at] = random.choose(TELLING),
        4 => {
            let byte = random.choose(TELLING);
            input.insert(at, byte);
        }
        5 => drop(input.drain(piece)),
        6 => {
            let doubled = input[piece].to_vec();
            input.splice(at..at, doubled);
        }
        7 if !corpus.is_empty() => {
            let other = &corpus[random.below(corpus.len() as u64) as usize];
            let from = random.below(other.len() as u64 + 1) as usize;
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => extend(random, input),
    }
}

fn extend(random: &mut Random, input: &mut Vec<u8>) {
    let longest = random.choose(&[4, 16, 64, 256]);
    for _ in 0..random.between(1, longest) {
        input.push(random.number() as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_many_and_not_too_long() {
        let mut random = Random::new(3);
        let corpus = [b"[[task]]\nid = \"a\"".to_vec(), vec![0; BYTES_MAX]];
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            let input = next(&mut random, &corpus);
            assert!(input.len() <= BYTES_MAX);
            seen.insert(input);
        }
        assert!(seen.len() > 1_500, "{} different ones of 2000", seen.len());
    }
}
