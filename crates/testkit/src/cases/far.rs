//! Timers beyond the span of the wheel.

use super::{DAY, HOUR, SECOND, Scene, YEAR};
use crate::random::Random;
use crate::stream::Setup;
use crate::subject::Subject;

/// LV-04: timers longer than the span fired early, modulo the span.
///
/// # Panics
///
/// When the engine is wrong.
pub fn timers_beyond_the_span_do_not_fire_a_lap_early<S: Subject>(build: impl Fn(&Setup) -> S) {
    let dues = [25 * HOUR, 48 * HOUR + 1, 10 * DAY];
    let mut scene = Scene::at(0, build);
    for due in dues {
        scene.add(due);
    }
    for hour in 1..=11 * 24 {
        for due in dues
            .into_iter()
            .filter(|due| (hour - 1) * HOUR < *due && *due <= hour * HOUR)
        {
            assert!(scene.advance(due - 1).is_empty());
            assert_eq!(scene.advance(due), [due]);
        }
        assert!(scene.now == hour * HOUR || scene.advance(hour * HOUR).is_empty());
    }
    scene.assert_fired_exactly(&dues);
}

/// OV-08: delays above eight months were refused.
///
/// # Panics
///
/// When the engine is wrong.
pub fn years_away_is_accepted_and_exact<S: Subject>(build: impl Fn(&Setup) -> S) {
    for start in [0, 12_345, (1 << 40) - 7] {
        let mut scene = Scene::at(start, &build);
        let delays = [249 * DAY, 3 * YEAR, 100 * YEAR];
        let keys = delays.map(|delay| scene.after(delay));
        assert_eq!(scene.subject.pending(), 3);
        let next = scene.subject.next_due().expect("three timers are pending");
        assert!(next > start && next <= start + delays[0]);

        assert!(scene.advance(start + delays[0] - 1).is_empty());
        assert_eq!(scene.advance(start + delays[0]), [start + delays[0]]);
        assert_eq!(scene.subject.cancel(keys[1]), Some(start + delays[1]));
        assert!(scene.advance(start + delays[2] - 1).is_empty());
        assert_eq!(scene.advance(start + delays[2]), [start + delays[2]]);
    }
}

/// EA-05: a task eight days away ran the next day, among two hundred other far ones.
///
/// # Panics
///
/// When the engine is wrong.
pub fn hundreds_of_far_timers_keep_their_own_due_tick<S: Subject>(build: impl Fn(&Setup) -> S) {
    let mut random = Random::new(703_726);
    let mut pending: Vec<u64> = (0..199)
        .map(|_| random.between(8 * DAY, 3 * YEAR))
        .collect();
    pending.push(703_726 * SECOND);
    pending.sort_unstable();

    let mut scene = Scene::at(0, build);
    for &due in pending.iter().rev() {
        scene.add(due);
    }
    let mut expected = &pending[..];
    while !expected.is_empty() {
        let now = scene.now + random.between(1, 6 * HOUR);
        let due = expected.partition_point(|&due| due <= now);
        assert_eq!(scene.advance(now), expected[..due], "at {now}");
        expected = &expected[due..];
    }
    assert_eq!(scene.subject.pending(), 0);
}
