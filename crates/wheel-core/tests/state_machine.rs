//! Wheel and LocalWheel as state machines: operations that proptest makes up and makes simpler,
//! judged by the oracle's own judge after every step.
//!
//! An operation is a few bytes, which the testkit reads in view of what is pending, so proptest
//! shrinks a failure to few and dull operations without knowing what they mean. Its own state
//! machines would need to be told beforehand which timers a budget lets fire, and that is the
//! engine's choice. `PROPTEST_CASES=n` tries four
//! times as many.

mod engine;

use engine::{Local, Shared};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
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
    fn wheel_is_the_sorted_map((start, operations) in stream()) {
        try_choices(&start, &operations, Shared::build).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn local_wheel_is_the_sorted_map((start, operations) in stream()) {
        try_choices(&start, &operations, Local::build).map_err(TestCaseError::fail)?;
    }
}
