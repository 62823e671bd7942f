//! Keys name one timer of one wheel for ever: another wheel's, a stale one, and those of the tick
//! that is being fired.

use wheel_core::{Budget, Config, Driver, Key, Tick, Wheel};

fn wheel() -> (Wheel<u64>, Driver<u64>) {
    Config::new().build()
}

/// Timers at the same places of two wheels, inserted in the same order.
fn same_timers(wheels: [&Wheel<u64>; 2], count: u64) -> [Vec<Key>; 2] {
    wheels.map(|wheel| {
        (0..count)
            .map(|i| wheel.insert(Tick::new(10 + i), i).unwrap())
            .collect()
    })
}

#[test]
fn a_key_means_nothing_to_another_wheel() {
    let ((a, mut driver_a), (b, mut driver_b)) = (wheel(), wheel());
    let [keys_a, keys_b] = same_timers([&a, &b], 100);
    for (&of_a, &of_b) in keys_a.iter().zip(&keys_b) {
        assert_ne!(of_a, of_b);
        assert_eq!(a.cancel(of_b), None);
        assert_eq!(b.cancel(of_a), None);
        assert_eq!(a.reset(of_b, Tick::new(50)), None);
        assert_eq!(b.reset(of_a, Tick::new(5)), None);
        assert_eq!(a.replace(of_b, 0), Err(0));
        assert!(a.is_pending(of_a) && !a.is_pending(of_b));
    }
    for driver in [&mut driver_a, &mut driver_b] {
        let mut fired = Vec::new();
        driver.advance(Tick::new(200), Budget::UNLIMITED, |timer| {
            assert_eq!(timer.due.get(), 10 + timer.value);
            fired.push(timer.value);
        });
        assert_eq!(fired, (0..100).collect::<Vec<_>>());
    }
}

#[test]
fn a_key_means_nothing_to_a_wheel_that_is_larger_or_smaller() {
    let ((small, _driver), (large, _driver2)) = (wheel(), wheel());
    let of_small = small.insert(Tick::new(1), 1).unwrap();
    let of_large: Vec<Key> = (0..5_000)
        .map(|i| large.insert(Tick::new(1), i).unwrap())
        .collect();
    // Indices that the small wheel has no memory for.
    for &key in &of_large {
        assert_eq!(small.cancel(key), None);
        assert_eq!(small.reset(key, Tick::new(9)), None);
    }
    assert_eq!(large.cancel(of_small), None);
    assert_eq!((small.len(), large.len()), (1, 5_000));
}

#[test]
fn a_key_means_nothing_to_a_wheel_of_the_other_kind() {
    let (shared, _driver) = wheel();
    let (mut local, mut other) = (Config::new().build_local(), Config::new().build_local());
    let of_shared = shared.insert(Tick::new(1), 1).unwrap();
    let of_local = local.insert(Tick::new(1), 2).unwrap();
    other.insert(Tick::new(1), 3).unwrap();
    assert_eq!(local.cancel(of_shared), None);
    assert_eq!(local.reset(of_shared, Tick::new(2)), None);
    assert_eq!(other.cancel(of_local), None);
    assert_eq!(other.reset(of_local, Tick::new(2)), None);
    assert_eq!(shared.cancel(of_local), None);
    assert_eq!(shared.reset(of_local, Tick::new(2)), None);
    assert_eq!((shared.len(), local.len(), other.len()), (1, 1, 1));
}

/// A wheel that is gone leaves no id that a later one could have.
#[test]
fn a_key_of_a_wheel_that_is_gone_means_nothing() {
    let (old, driver) = wheel();
    let key = old.insert(Tick::new(1), 1).unwrap();
    drop((old, driver));
    for _ in 0..100 {
        let (new, _driver) = wheel();
        new.insert(Tick::new(1), 1).unwrap();
        assert_eq!(new.cancel(key), None);
    }
}

/// However often the memory of a timer is used again, by re-arm in place and by way of the driver.
#[test]
fn old_keys_do_nothing_for_ever() {
    let (wheel, mut driver) = wheel();
    let mut old = Vec::new();
    for round in 0..2_000 {
        let key = wheel.insert(Tick::new(round + 5), round).unwrap();
        let key = match round % 3 {
            0 => wheel.reset(key, Tick::new(round + 6)).unwrap(),
            _ => key,
        };
        if round % 2 == 0 {
            assert_eq!(wheel.cancel(key), Some(round));
        } else {
            let fired = driver
                .advance(Tick::new(round + 6), Budget::UNLIMITED, |_| ())
                .fired;
            assert_eq!(fired, 1);
        }
        old.push(key);
        let kept = wheel.insert(Tick::MAX, 7).unwrap();
        for &key in old.iter().rev().take(50) {
            assert_eq!(wheel.cancel(key), None);
            assert_eq!(wheel.reset(key, Tick::new(1)), None);
        }
        assert_eq!(wheel.cancel(kept), Some(7));
    }
    for &key in &old {
        assert_eq!(wheel.cancel(key), None);
    }
    assert_eq!(wheel.len(), 0);
}

/// Where a slot of some level begins, and the ticks around it.
fn boundaries() -> impl Iterator<Item = u64> {
    const UNITS: [u64; 8] = [
        1_000,
        2_000,
        60_000,
        120_000,
        3_600_000,
        7_200_000,
        86_400_000,
        172_800_000,
    ];
    UNITS.into_iter().flat_map(|unit| unit - 1..=unit + 1)
}

// HD-05
#[test]
fn what_is_due_now_can_be_reset_and_cancelled_before_it_fires() {
    for due in boundaries() {
        for (later, name) in [
            (0, "the same tick"),
            (1, "a tick later"),
            (3_600_000, "an hour later"),
        ] {
            let (wheel, mut driver) = wheel();
            let keys: Vec<Key> = (0..3)
                .map(|i| wheel.insert(Tick::new(due), i).unwrap())
                .collect();
            driver.advance(Tick::new(0), Budget::UNLIMITED, |_| {
                unreachable!("due at {due}")
            });
            let mut fired = Vec::new();
            while fired.is_empty() {
                driver.advance(Tick::new(due), Budget::new(1), |timer| {
                    fired.push(timer.value)
                });
            }
            let mut left = (0..3).filter(|i| *i != fired[0]);
            let (moved, cancelled) = (left.next().unwrap(), left.next().unwrap());
            let at = Tick::new(due + later);
            let key = wheel
                .reset(keys[moved as usize], at)
                .expect("it has not fired");
            assert_eq!(wheel.cancel(keys[cancelled as usize]), Some(cancelled));
            assert_eq!(wheel.cancel(keys[fired[0] as usize]), None);
            let mut last = Vec::new();
            if later > 0 {
                let before = Tick::new(due + later - 1);
                driver.advance(before, Budget::UNLIMITED, |_| {
                    unreachable!("{name} than {due}")
                });
            }
            driver.advance(at, Budget::UNLIMITED, |timer| {
                last.push((timer.value, timer.key))
            });
            assert_eq!(last, [(moved, key)], "due {due}, {name}");
            assert_eq!(wheel.len(), 0);
        }
    }
}

// HD-05
#[test]
fn what_is_due_now_can_be_reset_and_cancelled_from_fire() {
    for due in boundaries() {
        let (wheel, mut driver) = wheel();
        let keys: Vec<Key> = (0..3)
            .map(|i| wheel.insert(Tick::new(due), i).unwrap())
            .collect();
        let mut fired = Vec::new();
        let mut moved = None;
        driver.advance(Tick::new(due), Budget::UNLIMITED, |timer| {
            fired.push(timer.value);
            let mut others = (0..3)
                .filter(|i| *i != timer.value)
                .map(|i| keys[i as usize]);
            moved = wheel.reset(others.next().unwrap(), Tick::new(due + 10));
            assert!(moved.is_some());
            assert!(wheel.cancel(others.next().unwrap()).is_some());
        });
        assert_eq!(fired.len(), 1);
        driver.advance(Tick::new(due + 10), Budget::UNLIMITED, |timer| {
            assert_eq!(Some(timer.key), moved);
            fired.push(timer.value);
        });
        assert_eq!(fired.len(), 2);
    }
}

#[test]
fn another_value_fires_in_the_same_place_under_the_same_key() {
    let (wheel, mut driver) = Config::new().max_timers(1).build();
    let key = wheel.insert(Tick::new(10), 1).unwrap();
    assert_eq!(wheel.replace(key, 2), Ok(1));
    assert!(wheel.is_pending(key) && wheel.len() == 1);
    assert!(wheel.insert(Tick::new(10), 3).is_err(), "the limit is one");
    let mut fired = Vec::new();
    driver.advance(Tick::new(9), Budget::UNLIMITED, |timer| {
        panic!("early: {timer:?}")
    });
    driver.advance(Tick::new(10), Budget::UNLIMITED, |timer| {
        fired.push((timer.due, timer.value));
    });
    assert_eq!(fired, [(Tick::new(10), 2)]);
    assert_eq!(wheel.replace(key, 4), Err(4));
    assert!(!wheel.is_pending(key));
}

#[test]
fn a_key_is_pending_until_it_is_reset_or_cancelled_and_never_again() {
    let (wheel, driver) = wheel();
    let old = wheel.insert(Tick::new(10), 1).unwrap();
    let new = wheel.reset(old, Tick::new(20)).unwrap();
    assert!(!wheel.is_pending(old) && wheel.is_pending(new));
    assert_eq!(wheel.cancel(new), Some(1));
    let next = wheel.insert(Tick::new(20), 2).unwrap();
    assert!(!wheel.is_pending(new) && wheel.is_pending(next));
    assert_eq!(driver.close().collect::<Vec<_>>(), [2]);
    assert!(!wheel.is_pending(next));
}
