//! One ordering, and what is a step weaker than it.

use std::fmt;

/// A memory ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};

impl Order {
    pub(super) fn read(word: &str) -> Option<Order> {
        let all = [Relaxed, Acquire, Release, AcqRel, SeqCst];
        all.into_iter().find(|order| order.to_string() == word)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What an operation does, as far as it says which orderings it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Load,
    Store,
    /// Also a compare-and-exchange that succeeds.
    ReadModifyWrite,
    Fence,
}

impl Kind {
    /// Of the call of this name, for the ordering at `position` of those it is given.
    pub(super) fn of(call: &str, position: usize) -> Kind {
        match call {
            "load" => Kind::Load,
            "store" => Kind::Store,
            "fence" => Kind::Fence,
            // The second is for a compare-and-exchange that fails, which is a load.
            _ if position == 1 => Kind::Load,
            _ => Kind::ReadModifyWrite,
        }
    }
}

/// An ordering in place of a stronger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weakening {
    /// `None`: the fence is not there.
    pub(super) to: Option<Order>,
    /// What is lost: `Acquire`, `Release`, `SeqCst` for what it has beyond both, or the `fence`.
    pub(super) lost: &'static str,
}

/// What `order` is weakened to, one at a time.
pub(super) fn of(order: Order, kind: Kind) -> Vec<Weakening> {
    let to = |to, lost| Weakening { to: Some(to), lost };
    let gone = Weakening {
        to: None,
        lost: "fence",
    };
    let halves = [to(Release, "Acquire"), to(Acquire, "Release")];
    match (order, kind) {
        (Relaxed, _) => vec![],
        (Acquire | Release, Kind::Fence) => vec![gone],
        (Acquire, _) => vec![to(Relaxed, "Acquire")],
        (Release, _) => vec![to(Relaxed, "Release")],
        (AcqRel, Kind::Fence) => [&halves[..], &[gone]].concat(),
        (AcqRel, _) => halves.to_vec(),
        (SeqCst, Kind::Load) => vec![to(Acquire, "SeqCst"), to(Relaxed, "Acquire")],
        (SeqCst, Kind::Store) => vec![to(Release, "SeqCst"), to(Relaxed, "Release")],
        (SeqCst, Kind::ReadModifyWrite) => [&[to(AcqRel, "SeqCst")], &halves[..]].concat(),
        (SeqCst, Kind::Fence) => vec![to(AcqRel, "SeqCst"), gone],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(order: Order, kind: Kind) -> Vec<String> {
        let to = |w: Weakening| w.to.map_or("None".to_owned(), |to| to.to_string());
        of(order, kind).into_iter().map(to).collect()
    }

    #[test]
    fn each_half_is_lost_alone() {
        assert_eq!(names(AcqRel, Kind::ReadModifyWrite), ["Release", "Acquire"]);
        assert_eq!(names(Release, Kind::Store), ["Relaxed"]);
        assert!(names(Relaxed, Kind::Load).is_empty());
    }

    #[test]
    fn a_fence_is_weakened_and_removed() {
        assert_eq!(names(SeqCst, Kind::Fence), ["AcqRel", "None"]);
        assert_eq!(names(Acquire, Kind::Fence), ["None"]);
    }

    #[test]
    fn an_operation_gets_no_ordering_that_it_cannot_have() {
        for order in [Acquire, SeqCst] {
            assert!(
                !names(order, Kind::Load)
                    .iter()
                    .any(|to| to.contains("Rel") && to != "Relaxed")
            );
        }
        assert_eq!(names(SeqCst, Kind::Store), ["Release", "Relaxed"]);
    }

    #[test]
    fn a_failed_exchange_is_a_load() {
        assert_eq!(Kind::of("compare_exchange", 1), Kind::Load);
        assert_eq!(Kind::of("fetch_update", 0), Kind::ReadModifyWrite);
        assert_eq!(Kind::of("step", 0), Kind::ReadModifyWrite);
    }
}
