//! Three threads that set, cancel and reset timers and move the clock, and one engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{ManualClock, Pool, TimerKey, Timers};
use wheel_sync::{Mutex, thread};
use wheel_testkit::Random;

use super::ledger::Ledger;
use super::{Shutdown, wait_a_while};

const USERS: usize = 3;
const OPS: usize = 40;

struct Hall {
    clock: ManualClock,
    timers: Timers,
    ledger: Ledger,
    /// Keys that any thread may cancel.
    shared: Mutex<Vec<(u64, TimerKey)>>,
}

/// What a user has seen: between which instants its timers were last asked for, and which did not
/// run. The engine reads the clock somewhere between two readings of the user.
#[derive(Default)]
struct Seen {
    asked: BTreeMap<u64, (Duration, Duration)>,
    cancelled: Vec<u64>,
    refused: Vec<u64>,
}

/// Plays it once.
///
/// # Panics
///
/// When a callback is lost, runs twice or early, or the numbers do not add up.
pub fn play_timers(shutdown: Shutdown, mut random: Random) {
    let clock = ManualClock::new();
    let pool = random.one_in(2).then(|| {
        let pool = Pool::builder().workers(2).build();
        Arc::new(pool.expect("a model refuses no thread"))
    });
    let mut builder = Timers::builder().clock(clock.clone());
    if let Some(pool) = &pool {
        builder = builder.executor(Arc::clone(pool));
    }
    let hall = Arc::new(Hall {
        timers: builder.build().expect("a model refuses no thread"),
        clock,
        ledger: Ledger::default(),
        shared: Mutex::default(),
    });
    let users: Vec<_> = (0..USERS)
        .map(|_| {
            let (hall, random) = (Arc::clone(&hall), Random::new(random.number()));
            thread::spawn(move || work(&hall, random))
        })
        .collect();
    let mut unfired = 0;
    if shutdown == Shutdown::Midway {
        wait_a_while(&mut random);
        unfired = hall.timers.shutdown();
    }
    let mut seen = Seen::default();
    for user in users {
        let user = user.join().expect("a user has failed");
        seen.asked.extend(user.asked);
        seen.cancelled.extend(user.cancelled);
        seen.refused.extend(user.refused);
    }
    let mut due_by = None;
    if shutdown == Shutdown::Quiet {
        // At least one tick, for what a thread was writing when the driver met it.
        hall.clock
            .advance(Duration::from_millis(1 + random.below(30)));
        due_by = Some(hall.clock.now());
        let pending = hall.timers.len();
        unfired = hall.timers.shutdown();
        assert_eq!(unfired, pending, "len when all was quiet");
    }
    if let Some(pool) = pool {
        let ended = pool.shutdown(Duration::MAX);
        ended.expect("all that was handed over has run");
    }
    judge(&hall, &seen, unfired, due_by);
}

fn work(hall: &Hall, mut random: Random) -> Seen {
    let mut seen = Seen::default();
    let mut keys: Vec<(u64, TimerKey)> = Vec::new();
    for _ in 0..OPS {
        let picked = match keys.len() {
            0 => None,
            keys => Some(random.below(keys as u64) as usize),
        };
        let delay = Duration::from_millis(match random.below(8) {
            0 => 0,
            1 => 100_000,
            _ => random.below(20),
        });
        let earliest = hall.clock.now() + delay;
        let asked = || (earliest, hall.clock.now() + delay);
        match (random.below(16), picked) {
            (0..=6, _) | (_, None) => {
                let (piece, clock) = (hall.ledger.open(), hall.clock.clone());
                let id = piece.id;
                let set = hall.timers.after(delay, move || piece.run(clock.now()));
                seen.asked.insert(id, asked());
                match set {
                    Ok(key) => keys.push((id, key)),
                    Err(refused) => {
                        assert!(refused.is_closed(), "no limit");
                        seen.refused.push(id);
                    }
                }
            }
            (7..=8, Some(at)) => {
                let (id, key) = keys.swap_remove(at);
                if hall.timers.cancel(key) {
                    seen.cancelled.push(id);
                }
            }
            (9..=11, Some(at)) => {
                let (id, key) = keys[at];
                match hall.timers.reset(key, delay) {
                    Some(new) => {
                        seen.asked.insert(id, asked());
                        keys[at].1 = new;
                        assert!(!hall.timers.cancel(key), "a stale key was good");
                    }
                    None => drop(keys.swap_remove(at)),
                }
            }
            (12, Some(at)) => hall.shared.lock().push(keys[at]),
            (13, Some(_)) => {
                let other = hall.shared.lock().pop();
                if let Some((id, key)) = other
                    && hall.timers.cancel(key)
                {
                    seen.cancelled.push(id);
                }
            }
            _ => hall.clock.advance(Duration::from_millis(random.below(8))),
        }
    }
    seen
}

fn judge(hall: &Hall, seen: &Seen, unfired: usize, due_by: Option<Duration>) {
    let entries = hall.ledger.read();
    let mut ran = 0;
    for (id, entry) in &entries {
        let (earliest, latest) = seen.asked[id];
        let left =
            usize::from(seen.cancelled.contains(id)) + usize::from(seen.refused.contains(id));
        match entry.ran_at[..] {
            [] => {
                let is_due = due_by.is_some_and(|due_by| latest <= due_by);
                assert!(left == 1 || !is_due, "timer {id} is late");
            }
            [at] => {
                assert_eq!(left, 0, "timer {id} has run and was cancelled or refused");
                assert!(
                    at >= earliest,
                    "timer {id} ran at {at:?}, not at {earliest:?}"
                );
                ran += 1;
            }
            _ => panic!("timer {id} has run {} times", entry.ran_at.len()),
        }
        assert_eq!(entry.dropped, 1, "timer {id} was kept, or dropped twice");
    }
    let stats = hall.timers.stats();
    assert_eq!((stats.pending, stats.panics), (0, 0));
    assert_eq!(stats.fired, ran + stats.refused, "callbacks fired");
    let left = seen.cancelled.len() + seen.refused.len();
    assert_eq!(
        entries.len(),
        left + stats.fired as usize + unfired,
        "all of them"
    );
}
