//! Ten million pending timers: all fire, each at its own tick, and none takes more than 64 bytes.
//! Two million without optimisation, or it takes most of a minute; `cargo xtask stress` plays all.

use wheel_core::{Budget, Config, Tick};
use wheel_testkit::Random;

const HOUR: u64 = 3_600_000;

const TIMERS: usize = if cfg!(debug_assertions) {
    2_000_000
} else {
    10_000_000
};

/// Memory of this process that is in use, where the system tells.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[test]
fn millions_of_timers_fire_on_their_ticks_and_take_64_bytes_each() {
    let before = resident_bytes();
    let (wheel, mut driver) = Config::new().build();
    let mut random = Random::new(1);
    for i in 0..TIMERS as u64 {
        let due = Tick::new(1 + random.below(20 * HOUR));
        wheel.insert(due, [i, due.get()]).unwrap();
    }
    driver.advance(Tick::new(0), Budget::UNLIMITED, |_| {
        unreachable!("due later")
    });
    assert_eq!(wheel.len(), TIMERS);
    if let (Some(before), Some(now)) = (before, resident_bytes()) {
        let each = now.saturating_sub(before) / TIMERS;
        assert!(each <= 64, "{each} bytes a timer");
    }
    let (mut fired, mut sum, mut last) = (0, 0, 0);
    while let Some(next) = driver.next_due() {
        // The driver is a few ticks late now and then, as it is with so many.
        let now = next.get() + random.below(20);
        driver.advance(Tick::new(now), Budget::UNLIMITED, |timer| {
            let [i, due] = timer.value;
            assert_eq!(timer.due.get(), due);
            assert!((last..=now).contains(&due), "fired out of order, or early");
            last = due;
            fired += 1;
            sum += i;
        });
    }
    assert_eq!(fired, TIMERS);
    assert_eq!(
        sum,
        (TIMERS as u64 - 1) * TIMERS as u64 / 2,
        "one fired twice"
    );
    assert_eq!(wheel.len(), 0);
}
