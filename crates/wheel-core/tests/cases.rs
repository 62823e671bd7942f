//! The cases in which other engines went wrong, on bare ticks.
//!
//! Those that concern every engine stand in the testkit and become tests here, for the wheel
//! without an overflow. Those that need the wheel's own names (its tick length, its clones inside
//! `fire`) follow.

mod engine;

use std::time::Duration;

use wheel_core::{Budget, Config, Driver, Key, Tick, TickLength, Wheel};
use wheel_sync::Arc;
use wheel_sync::atomic::{AtomicU64, Ordering};

mod the_wheel {
    use super::engine::Shared;

    wheel_testkit::engine_cases!(Shared::build);

    #[test]
    fn the_limit_is_exact() {
        // MG-03
        wheel_testkit::cases::keys::the_limit_is_exact(Shared::build);
    }
}

mod the_local_wheel {
    use super::engine::Local;

    wheel_testkit::engine_cases!(Local::build);

    #[test]
    fn the_limit_is_exact() {
        // MG-03
        wheel_testkit::cases::keys::the_limit_is_exact(Local::build);
    }
}

/// Everything that is due, with the tick it fired at.
fn advance<T>(driver: &mut Driver<T>, now: u64, mut fire: impl FnMut(T)) -> Vec<u64> {
    let mut dues = Vec::new();
    while driver
        .advance(Tick::new(now), Budget::UNLIMITED, |fired| {
            dues.push(fired.due.get());
            fire(fired.value);
        })
        .more
    {}
    dues
}

#[test]
fn a_due_time_within_a_tick_fires_at_the_first_look_at_or_after_it() {
    // LV-06: what was due later within the tick was taken out, marked as expired, and lost.
    let tick = TickLength::MILLISECOND;
    let micros = Duration::from_micros;
    let (wheel, mut driver) = Config::new().tick_length(tick).build();
    let due = tick.ticks_ceil(micros(11_400));
    assert_eq!(due, 12);
    wheel.insert(Tick::new(due), ()).unwrap();
    for look in [10_800, 11_200, 11_300, 11_600, 11_999] {
        assert_eq!(
            advance(&mut driver, tick.ticks_floor(micros(look)), drop),
            [],
            "at {look} us"
        );
    }
    assert_eq!(
        advance(&mut driver, tick.ticks_floor(micros(12_000)), drop),
        [12]
    );
    assert_eq!(advance(&mut driver, 13, drop), []);
}

#[test]
fn a_timer_added_while_another_fires_is_not_charged_with_that_tick() {
    // RE-05
    let (wheel, mut driver) = Config::new().build();
    wheel.insert(Tick::new(10), true).unwrap();
    advance(&mut driver, 9, drop);
    let fired = advance(&mut driver, 10, |adds| {
        if adds {
            wheel.insert(Tick::new(11), false).unwrap();
            wheel.insert(Tick::new(12), false).unwrap();
        }
    });
    assert_eq!(fired, [10]);
    assert_eq!(advance(&mut driver, 11, drop), [11]);
    assert_eq!(advance(&mut driver, 12, drop), [12]);
}

#[test]
fn a_timer_added_in_the_middle_of_a_jump_fires_by_its_own_tick() {
    // RE-05: one that is due within the jump fires in it or in the next call; one that is due
    // beyond waits.
    let (wheel, mut driver) = Config::new().build();
    wheel.insert(Tick::new(10), true).unwrap();
    let mut fired = advance(&mut driver, 20, |adds| {
        if adds {
            wheel.insert(Tick::new(13), false).unwrap();
            wheel.insert(Tick::new(23), false).unwrap();
        }
    });
    if fired == [10] {
        assert!(
            driver.next_due().is_some_and(|next| next <= Tick::new(20)),
            "the driver must look again at once"
        );
        fired.extend(advance(&mut driver, 20, drop));
    }
    assert_eq!(fired, [10, 13]);
    assert_eq!(advance(&mut driver, 22, drop), []);
    assert_eq!(advance(&mut driver, 23, drop), [23]);
}

#[test]
fn a_handler_that_adds_itself_again_keeps_its_grid() {
    // LV-09
    const GAP: u64 = 10_000;
    let start = 3_600_000 - 45_000;
    let (wheel, mut driver) = Config::new().start(Tick::new(start)).build();
    wheel.insert(Tick::new(start + GAP), 1_u64).unwrap();
    let mut now = start;
    let mut runs = Vec::new();
    while runs.len() < 30 {
        now += 1;
        advance(&mut driver, now, |run| {
            runs.push((run, now));
            wheel.insert(Tick::new(now + GAP), run + 1).unwrap();
        });
    }
    assert!(
        runs.iter().all(|&(run, at)| at == start + run * GAP),
        "{runs:?}"
    );
}

#[test]
fn everything_can_be_cancelled_from_inside_a_handler() {
    // MG-05
    let (wheel, mut driver) = Config::new().build::<u64>();
    let keys: Vec<Key> = (1..=100)
        .map(|n| wheel.insert(Tick::new(n), n).unwrap())
        .collect();
    let fired = advance(&mut driver, 1_000, |n| {
        if n == 50 {
            let cancelled: Vec<u64> = keys.iter().filter_map(|&key| wheel.cancel(key)).collect();
            assert!(cancelled.into_iter().eq(51..=100));
        }
    });
    assert!(fired.into_iter().eq(1..=50));
    assert_eq!(wheel.len(), 0);
    assert_eq!(driver.close().count(), 0);
}

#[test]
fn a_cancelled_value_is_dropped_at_once() {
    // MG-01
    let payload = Arc::new([0_u8; 1_024]);
    let (wheel, _driver) = Config::new().build();
    for n in 0..1_000_000 {
        let key = wheel
            .insert(Tick::new(3_600_000 + n), Arc::clone(&payload))
            .unwrap();
        drop(wheel.cancel(key));
        assert_eq!(Arc::strong_count(&payload), 1);
    }
}

#[test]
fn a_key_does_nothing_on_another_engine() {
    let (one, _one_driver) = Config::new().build();
    let (other, _other_driver) = Config::new().build();
    let key = one.insert(Tick::new(5), "one").unwrap();
    other.insert(Tick::new(5), "other").unwrap();
    assert_eq!(other.cancel(key), None);
    assert_eq!(other.reset(key, Tick::new(9)), None);
    assert_eq!((one.len(), other.len()), (1, 1));
    assert_eq!(one.cancel(key), Some("one"));
}

#[test]
fn the_key_of_a_fired_timer_names_it_and_does_nothing() {
    let (wheel, mut driver) = Config::new().build();
    let key = wheel.insert(Tick::new(5), ()).unwrap();
    driver.advance(Tick::new(5), Budget::UNLIMITED, |fired| {
        assert_eq!(fired.key, key);
        assert_eq!(
            wheel.cancel(fired.key),
            None,
            "a timer that fires cannot be cancelled any more"
        );
    });
}

#[test]
fn a_panic_in_a_handler_counts_as_fired_and_hides_no_other_timer() {
    let (wheel, mut driver): (Wheel<u64>, _) = Config::new().build();
    for due in [5, 6, 7] {
        wheel.insert(Tick::new(due), due).unwrap();
    }
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        advance(&mut driver, 10, |due| {
            assert_ne!(due, 6, "the handler of this test panics")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(wheel.len(), 1);
    assert_eq!(advance(&mut driver, 10, drop), [7]);
}

/// Calls back into the engine when it is dropped; what it inserts then does not.
#[derive(Debug)]
struct CallsBack(Option<Calls>);

struct Calls {
    wheel: Wheel<CallsBack>,
    made: Arc<AtomicU64>,
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Calls").finish_non_exhaustive()
    }
}

impl Drop for CallsBack {
    fn drop(&mut self) {
        let Some(Calls { wheel, made }) = self.0.take() else {
            return;
        };
        if let Ok(key) = wheel.insert(Tick::new(70), CallsBack(None)) {
            assert!(wheel.cancel(key).is_some());
        }
        // Relaxed: one thread.
        made.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_value_may_call_back_into_the_engine_when_it_is_dropped() {
    let (wheel, mut driver) = Config::new().build();
    let made = Arc::new(AtomicU64::new(0));
    let keys = [50, 60, 70_000, 9_999_999_999].map(|due| {
        let calls = Calls {
            wheel: wheel.clone(),
            made: Arc::clone(&made),
        };
        wheel
            .insert(Tick::new(due), CallsBack(Some(calls)))
            .unwrap()
    });
    drop(wheel.cancel(keys[0]));
    assert_eq!(made.load(Ordering::Relaxed), 1, "at cancel");
    assert_eq!(advance(&mut driver, 60, drop), [60]);
    assert_eq!(made.load(Ordering::Relaxed), 2, "when it fired");
    drop(driver);
    assert_eq!(
        made.load(Ordering::Relaxed),
        4,
        "when the driver was dropped"
    );
    assert_eq!(Arc::strong_count(&made), 1);
}
