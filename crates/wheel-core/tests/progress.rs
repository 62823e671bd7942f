//! What an advance says of itself: `more` when something is left that it was asked for.

use wheel_core::{Budget, Config, Tick};

#[test]
fn an_advance_that_leaves_timers_at_the_intake_says_that_there_is_more() {
    let (wheel, mut driver) = Config::new().build();
    for value in 0..3 {
        wheel.insert(Tick::new(50), value).unwrap();
    }
    for more in [true, true, false] {
        let progress = driver.advance(Tick::new(1), Budget::new(1), |_| ());
        assert_eq!((progress.moved, progress.fired), (1, 0));
        assert_eq!(progress.more, more);
    }
}
