//! The heap, and the wheel with the heap behind it, as state machines: operations that proptest
//! makes up and makes simpler, judged by the oracle's own judge after every step.
//!
//! As in `wheel-core`: an operation is a few bytes, which the testkit reads in view of what is
//! pending. `PROPTEST_CASES=n` tries four
//! times as many.

mod heap;
mod wheel;

use heap::Heap;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wheel::WithFarHeap;
use wheel_testkit::try_choices;

fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases: 4 * usual.cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/proptest-regressions/state_machine.txt",
        ))),
        ..usual
    }
}

/// Scale, start, limit and ending, and what each operation is drawn from.
fn stream() -> impl Strategy<Value = (Vec<u8>, Vec<Vec<u8>>)> {
    (vec(any::<u8>(), 0..16), vec(vec(any::<u8>(), 0..14), 0..80))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn heap_is_the_sorted_map((start, operations) in stream()) {
        try_choices(&start, &operations, Heap::build).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn wheel_with_a_heap_is_the_sorted_map((start, operations) in stream()) {
        try_choices(&start, &operations, WithFarHeap::build).map_err(TestCaseError::fail)?;
    }
}
