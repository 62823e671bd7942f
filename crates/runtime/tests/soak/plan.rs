//! What tasks there are: schedules and policies, drawn at random.

use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{
    Concurrency, Jitter, Misfire, Overlap, Priority, RateLimit, Reaction, Retry, RetryJitter,
    Schedule, TaskBuilder,
};
use wheel_testkit::Random;

use crate::ledger::{Ledger, Temper};
use crate::points::{Era, HOUR, Listed, MINUTE, Ms, Points, SECOND, length, wall};

const ZONES: [&str; 6] = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Antarctica/Troll",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
];

/// When, by both clocks, and until when instants are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) now: Ms,
    pub(crate) wall: Ms,
}

/// Which clocks and which workers a soak has; some policies need one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hands {
    /// The driver runs handlers, one after the other.
    Driver,
    /// Four threads do, in whatever order.
    Workers,
}

/// What a task is given besides its schedule.
#[derive(Clone, Debug)]
pub(crate) struct Policies {
    pub(crate) temper: Temper,
    pub(crate) overlap: Overlap,
    pub(crate) has_retry: bool,
    pub(crate) attempts_max: u32,
    pub(crate) has_deadline: bool,
    pub(crate) has_timeout: bool,
    pub(crate) count: Option<u64>,
    pub(crate) is_of_kind: bool,
}

fn hours_or_so(rng: &mut Random) -> Ms {
    rng.between(20, 20 * 60) as Ms * MINUTE + rng.below(60) as Ms * SECOND
}

fn cron(rng: &mut Random) -> Schedule {
    let (minute, hour) = ([0, 7, 15, 30, 45][rng.below(5) as usize], rng.below(24));
    let cron = match rng.below(6) {
        0 => format!("{minute} * * * *"),
        1 => format!("{minute} {hour} * * *"),
        2 => format!("*/30 {hour}-23 * * MON-FRI"),
        3 => format!("{minute} {} * * *", ["*/2", "*/6"][rng.below(2) as usize]),
        4 => format!("30 {minute} {hour} 29,L * SUN"),
        _ => "@hourly".to_owned(),
    };
    Schedule::cron(cron).timezone(ZONES[rng.below(6) as usize])
}

/// A schedule, and what the books say about it from `at` on.
pub(crate) fn schedule(rng: &mut Random, listed: &mut Listed, at: At) -> (Schedule, Era) {
    let length_ms = hours_or_so(rng);
    let grid = |first: Ms| Points::Grid {
        first,
        period: length_ms,
    };
    let mut is_at = false;
    let wall_points = |listed: &mut Listed, schedule: &Schedule| Points::Wall(listed.of(schedule));
    let (schedule, points) = match rng.below(20) {
        0..2 => {
            let delay = length_ms * rng.between(1, 3) as Ms;
            (Schedule::after(length(delay)), Points::Once(at.now + delay))
        }
        2 => {
            // Some of them in the past.
            let due = at.wall + length_ms - 2 * HOUR;
            is_at = true;
            (Schedule::at(wall(due)), Points::Once(due))
        }
        3..8 => (Schedule::every(length(length_ms)), grid(at.now + length_ms)),
        8 => {
            let schedule = Schedule::every(length(length_ms)).start_now();
            (schedule, grid(at.now))
        }
        9 => {
            let start = at.wall - HOUR + rng.below(7_200) as Ms * SECOND;
            let schedule = Schedule::every(length(length_ms)).start_at(wall(start));
            let ahead = match start > at.wall {
                true => start - at.wall,
                false => length_ms - (at.wall - start) % length_ms,
            };
            (schedule, grid(at.now + ahead))
        }
        10..12 => {
            let minutes = [30, 45, 60, 90, 240, 480][rng.below(6) as usize];
            let schedule = Schedule::every(length(minutes * MINUTE)).aligned();
            let points = wall_points(listed, &schedule);
            (schedule, points)
        }
        12..14 => {
            let period = length([1, 2, 6, 12][rng.below(4) as usize] * HOUR);
            let schedule = Schedule::every(period).aligned();
            let schedule = schedule.timezone(ZONES[rng.below(6) as usize]);
            let points = wall_points(listed, &schedule);
            (schedule, points)
        }
        14..16 => (Schedule::every_after(length(length_ms)), Points::AfterEnd),
        _ => {
            let schedule = cron(rng);
            let points = wall_points(listed, &schedule);
            (schedule, points)
        }
    };
    let by_wall = is_at || matches!(points, Points::Wall(_));
    let era = Era {
        points,
        now: at.now,
        wall: at.wall,
        by_wall,
        not_before: None,
        not_after: None,
        has_jitter: false,
    };
    bounded(rng, schedule, era)
}

/// With a window and jitter, now and then.
fn bounded(rng: &mut Random, mut schedule: Schedule, mut era: Era) -> (Schedule, Era) {
    if era.has_grid() && rng.below(4) == 0 {
        let (not_before, not_after) = (era.not_before, era.not_after);
        if rng.below(2) == 0 {
            era.not_before = Some(era.wall + hours_or_so(rng));
        }
        if rng.below(2) == 0 {
            era.not_after = Some(era.wall + hours_or_so(rng) + 40 * HOUR);
        }
        // One in which nothing is due is refused.
        if era.next_after(era.own(era.wall) - 1).is_none() {
            (era.not_before, era.not_after) = (not_before, not_after);
        }
        if let Some(begin) = era.not_before {
            schedule = schedule.not_before(wall(begin));
        }
        if let Some(end) = era.not_after {
            schedule = schedule.not_after(wall(end));
        }
    }
    if era.has_grid() && rng.below(4) == 0 {
        era.has_jitter = true;
        schedule = schedule.jitter(match rng.below(2) {
            0 => Jitter::Uniform(length(20 * MINUTE)),
            _ => Jitter::Hashed(length(40 * MINUTE)),
        });
    }
    (schedule, era)
}

fn retry(rng: &mut Random) -> (Retry, u32) {
    let base = Duration::from_secs(rng.between(1, 900));
    let retry = match rng.below(4) {
        0 => Retry::fixed(base),
        1 => Retry::linear(base),
        2 => Retry::exponential(base).max_delay(length(HOUR)),
        _ => Retry::custom(move |attempt| base / attempt),
    };
    let retry = match rng.below(3) {
        0 => retry.jitter(RetryJitter::Full),
        1 => retry.jitter(RetryJitter::Equal),
        _ => retry,
    };
    let retry = match rng.below(3) {
        0 => retry.max_elapsed(Duration::from_secs(1 + rng.below(7_200))),
        1 => retry.retry_if(|error| error != "out of ink"),
        _ => retry,
    };
    let attempts = 1 + rng.below(5) as u32;
    (retry.max_attempts(attempts), attempts)
}

/// What `task` is given besides a schedule, which is the one of `era`.
pub(crate) fn policies<'s>(
    rng: &mut Random,
    task: TaskBuilder<'s>,
    (era, hands): (&Era, Hands),
    ledger: &Arc<Ledger>,
) -> (TaskBuilder<'s>, Policies) {
    let (misfire, overlap) = (misfire(rng), overlap(rng));
    let temper = match rng.below(20) {
        0 => Temper::Hopeless,
        1..7 => Temper::Moody,
        _ => Temper::Steady,
    };
    let mut policies = Policies {
        temper,
        overlap,
        has_retry: rng.below(4) > 0,
        attempts_max: 1,
        has_deadline: rng.below(8) == 0,
        has_timeout: rng.below(8) == 0,
        count: None,
        is_of_kind: false,
    };
    let mut task = task.misfire(misfire).overlap(overlap);
    if policies.has_retry {
        let (retry, attempts) = retry(rng);
        task = task.retry(retry);
        policies.attempts_max = attempts;
    }
    if policies.has_deadline {
        task = task.deadline(Duration::from_secs(rng.between(60, 7_200)));
    }
    if policies.has_timeout {
        task = task.timeout(Duration::from_secs(rng.between(60, 7_200)));
    }
    if era.has_grid() && rng.below(20) == 0 {
        policies.count = Some(rng.between(1, 12));
        task = task.count(policies.count.unwrap());
    }
    let class = [Priority::Low, Priority::Normal, Priority::High][rng.below(3) as usize];
    let task = limits(rng, task.priority(class), hands);
    let (fails, dies) = (Arc::clone(ledger), Arc::clone(ledger));
    let task = task.on_failure(move |_| fails.count_failure());
    let task = task.on_dead(move |_| dies.count_death());
    let task = match rng.below(12) {
        0 => task.on_repeated_failure(3, Reaction::event(|_| ())),
        1 => task.on_repeated_failure(4, Reaction::archive()),
        2 => task.on_repeated_failure(3, Reaction::fallback(|_| ())),
        _ => task,
    };
    (task, policies)
}

fn misfire(rng: &mut Random) -> Misfire {
    match rng.below(6) {
        0..3 => Misfire::FireOnce,
        3 => Misfire::Skip,
        _ => Misfire::FireAll {
            max: 1 + rng.below(6) as u16,
        },
    }
}

fn overlap(rng: &mut Random) -> Overlap {
    let max = 1 + rng.below(4) as u16;
    match rng.below(7) {
        0..3 => Overlap::Skip,
        3 => Overlap::QueueOne,
        4 => Overlap::QueueAll { max },
        5 => Overlap::Allow { max },
        _ => Overlap::CancelRunning,
    }
}

fn limits<'s>(rng: &mut Random, task: TaskBuilder<'s>, hands: Hands) -> TaskBuilder<'s> {
    let key = rng.below(40);
    let task = match rng.below(10) {
        0 => task.concurrency_key(format!("one-{key}")),
        1 => task.concurrency_key(Concurrency::key(format!("two-{key}")).at_most(2)),
        _ => task,
    };
    // What waits for a token is not idle, and only the clock brings one: not where the soak waits
    // for its workers.
    match rng.below(12) {
        0 if hands == Hands::Driver => {
            let limit = RateLimit::new(60, length(HOUR)).burst(5);
            task.rate_limit(limit.key(format!("rate-{key}")))
        }
        1 if hands == Hands::Driver => task.rate_limit(RateLimit::new(1, length(HOUR))),
        _ => task,
    }
}
