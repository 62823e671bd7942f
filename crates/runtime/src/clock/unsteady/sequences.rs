//! Random sequences of clock events, compared with a model after each.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wheel_testkit::Random;

use super::{Door, HOUR, YEAR, ms, open};
use crate::clock::{ManualClock, unix_nanos};

/// When a timer is due, and by which clock, in nanoseconds.
#[derive(Clone, Copy, Debug)]
enum Due {
    Monotonic(u128),
    Wall(i128),
}

/// What is pending, kept as simply as can be.
struct Model {
    pending: Vec<(u64, Due)>,
}

fn up_to_ms(nanos: u128) -> u128 {
    nanos.next_multiple_of(1_000_000)
}

fn wall_up_to_ms(at: SystemTime) -> i128 {
    let nanos = unix_nanos(at);
    nanos + (-nanos).rem_euclid(1_000_000)
}

impl Model {
    /// What a look at both clocks finds due.
    fn look(&mut self, clock: &ManualClock) -> Vec<u64> {
        let (now, wall) = (clock.now().as_nanos(), unix_nanos(clock.wall()));
        let due = self.pending.extract_if(.., |(_, due)| match *due {
            Due::Monotonic(due) => due <= now,
            Due::Wall(due) => due <= wall,
        });
        due.map(|(number, _)| number).collect()
    }
}

/// A step of the wall clock: small ones and large ones, to before 1970 and back.
fn any_wall(random: &mut Random, wall: SystemTime) -> SystemTime {
    let step = match random.below(5) {
        0 => Duration::from_micros(random.below(3_000)),
        1 => ms(random.below(1_000)),
        2 => HOUR,
        3 => YEAR * u32::try_from(random.between(1, 3)).unwrap(),
        _ => Duration::from_nanos(random.below(1 << 40)),
    };
    match random.below(8) {
        0 => UNIX_EPOCH + step,
        1 => UNIX_EPOCH - step,
        2..=4 => wall + step,
        _ => wall - step,
    }
}

fn any_step(random: &mut Random) -> Duration {
    match random.below(12) {
        0 => HOUR,
        1 => YEAR,
        2 => Duration::ZERO,
        _ => Duration::from_nanos(random.number() >> random.between(30, 60)),
    }
}

// CK-01, CK-06
pub(super) fn any_sequence_of_clock_events_fires_each_timer_once_at_the_first_look<D: Door>() {
    for seed in wheel_testkit::seeds(15) {
        let mut random = Random::new(seed);
        let (clock, mut door, log) = open::<D>();
        let mut model = Model {
            pending: Vec::new(),
        };
        let mut expected = Vec::new();
        let mut numbers = 0;
        for step in 0..300 {
            let number = numbers;
            let picked = match model.pending.len() {
                0 => None,
                len => Some(random.below(len as u64) as usize),
            };
            match (random.below(12), picked) {
                (0..=2, _) => {
                    let delay = any_step(&mut random).max(Duration::from_nanos(1));
                    door.after(number, delay);
                    let due = (clock.now() + delay).as_nanos();
                    model.pending.push((number, Due::Monotonic(up_to_ms(due))));
                    numbers += 1;
                }
                (3..=4, _) => {
                    let at = any_wall(&mut random, clock.wall());
                    door.at(number, at);
                    model.pending.push((number, Due::Wall(wall_up_to_ms(at))));
                    numbers += 1;
                }
                (5, Some(picked)) => {
                    let (number, _) = model.pending.swap_remove(picked);
                    assert!(door.cancel(number), "seed {seed}, step {step}");
                }
                (6, Some(picked)) => {
                    let delay = any_step(&mut random).max(Duration::from_nanos(1));
                    let due = up_to_ms((clock.now() + delay).as_nanos());
                    model.pending[picked].1 = Due::Monotonic(due);
                    let number = model.pending[picked].0;
                    assert!(door.reset(number, delay), "seed {seed}, step {step}");
                }
                (7, _) => clock.go_back(any_step(&mut random)),
                (8, _) => clock.set_wall(any_wall(&mut random, clock.wall())),
                _ => clock.advance(any_step(&mut random)),
            }
            // Whatever it was, the driver looks at the clocks before this returns.
            clock.advance(Duration::ZERO);
            let mut due = model.look(&clock);
            let mut fired = std::mem::take(&mut *log.lock());
            due.sort_unstable();
            fired.sort_unstable();
            let name = D::NAME;
            assert_eq!(
                fired, due,
                "{name}: fired and due, seed {seed}, step {step}"
            );
            expected.append(&mut due);
            assert_eq!(door.pending(), model.pending.len() as u64, "seed {seed}");
        }
        expected.sort_unstable();
        expected.dedup();
        assert!(expected.len() > 20, "seed {seed} fires too little");
    }
}
