//! Tasks as data, drawn at random: whatever a task can be told is written, read, submitted and
//! written the same.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wheel_runtime::{
    Concurrency, Context, Jitter, Misfire, OnConflict, Overlap, PoolSpec, Priority, RateLimit,
    Retry, RetryJitter, Schedule, Submitted, TaskBuilder, TaskDefinition, When, Zone,
};

use crate::bed::{Bed, ms};

fn written(definition: &TaskDefinition) -> String {
    serde_json::to_string(definition).unwrap()
}

fn read(text: &str) -> TaskDefinition {
    serde_json::from_str(text).unwrap()
}

fn duration() -> impl Strategy<Value = Duration> {
    let nanos = prop_oneof![1..5_000_000_000_u64, 1..u64::MAX];
    prop_oneof![9 => nanos.prop_map(Duration::from_nanos), 1 => Just(Duration::MAX)]
}

fn instant() -> impl Strategy<Value = SystemTime> {
    let until_9000 = (0..220_000_000_000_u64, 0..1_000_000_000_u32);
    until_9000.prop_map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let expression = prop_oneof![
        Just("*/5 * * * *"),
        Just("0 30 2 L * FRI#2 2030-2099"),
        Just("@daily"),
        Just("0 0 15W JAN-MAR *")
    ];
    let zone = prop_oneof![Just("UTC"), Just("Asia/Kolkata"), Just("America/New_York")];
    let in_zone = |cron: &'static str, zone: &'static str| {
        let zone: Zone = zone.parse().unwrap();
        Schedule::cron(cron).timezone(zone)
    };
    prop_oneof![
        duration().prop_map(Schedule::after),
        instant().prop_map(Schedule::at),
        duration().prop_map(Schedule::every),
        duration().prop_map(|period| Schedule::every(period).start_now()),
        (duration(), instant()).prop_map(|(period, at)| Schedule::every(period).start_at(at)),
        duration().prop_map(|period| Schedule::every(period).aligned()),
        duration().prop_map(Schedule::every_after),
        expression.clone().prop_map(Schedule::cron),
        (expression, zone).prop_map(move |(cron, zone)| in_zone(cron, zone)),
    ]
}

/// With a window and a jitter, where it may have them.
fn moved() -> impl Strategy<Value = Schedule> {
    let jitter = (any::<bool>(), 0..365 * 86_400_000_000_000_u64).prop_map(|(is_hashed, nanos)| {
        let length = Duration::from_nanos(nanos);
        match is_hashed {
            true => Jitter::Hashed(length),
            false => Jitter::Uniform(length),
        }
    });
    let begin = prop::option::of(0..30_000_000_000_u64);
    let end = prop::option::of(200_000_000_000..220_000_000_000_u64);
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    (schedule(), prop::option::of(jitter), begin, end).prop_map(
        move |(mut schedule, jitter, begin, end)| {
            if let Some(jitter) = jitter {
                schedule = schedule.jitter(jitter);
            }
            let text = serde_json::to_string(&schedule).unwrap();
            // Each of the others names instants between those.
            if !text.contains("cron") || text.contains("2099") {
                return schedule;
            }
            if let Some(begin) = begin {
                schedule = schedule.not_before(at(begin));
            }
            match end {
                Some(end) => schedule.not_after(at(end)),
                None => schedule,
            }
        },
    )
}

fn misfire() -> impl Strategy<Value = Misfire> {
    prop_oneof![
        Just(Misfire::FireOnce),
        Just(Misfire::Skip),
        (1..=u16::MAX).prop_map(|max| Misfire::FireAll { max }),
    ]
}

fn overlap() -> impl Strategy<Value = Overlap> {
    prop_oneof![
        Just(Overlap::Skip),
        Just(Overlap::QueueOne),
        (1..=u16::MAX).prop_map(|max| Overlap::QueueAll { max }),
        (1..=1_000_u16).prop_map(|max| Overlap::Allow { max }),
        Just(Overlap::CancelRunning),
    ]
}

fn concurrency() -> impl Strategy<Value = Concurrency> {
    let at_most = prop_oneof![Just(1), 1..u32::MAX];
    (text(), at_most).prop_map(|(key, at_most)| Concurrency::key(key).at_most(at_most))
}

fn rate() -> impl Strategy<Value = RateLimit> {
    let period = (1..3_000_000_000_000_000_000_u64).prop_map(Duration::from_nanos);
    let rate = prop_oneof![
        (1..u32::MAX, period).prop_map(|(count, period)| RateLimit::new(count, period)),
        (1e-9..1e9_f64).prop_map(RateLimit::per_second),
        (1..1_000_u32).prop_map(|rate| RateLimit::per_second(f64::from(rate))),
    ];
    let burst = prop_oneof![Just(1), 1..u32::MAX];
    (rate, burst, prop::option::of(text())).prop_map(|(rate, burst, key)| match key {
        Some(key) => rate.burst(burst).key(key),
        None => rate.burst(burst),
    })
}

/// A key or a label.
fn text() -> impl Strategy<Value = String> {
    "[^\\p{Cc}]{1,60}"
}

/// What a task is told besides its schedule, its retry policy and its payload.
#[derive(Clone, Debug)]
struct Told {
    misfire: Misfire,
    overlap: Overlap,
    count: Option<u64>,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    on_conflict: OnConflict,
    priority: Priority,
    labels: Vec<(String, String)>,
    pool: Option<&'static str>,
    concurrency: Option<Concurrency>,
    rate: Option<RateLimit>,
    depends_on: Vec<(&'static str, When)>,
}

fn told() -> impl Strategy<Value = Told> {
    let on_conflict = prop_oneof![
        Just(OnConflict::Refuse),
        Just(OnConflict::Replace),
        Just(OnConflict::Keep)
    ];
    let priority = prop_oneof![
        Just(Priority::Low),
        Just(Priority::Normal),
        Just(Priority::High)
    ];
    let wanted = prop_oneof![
        Just(When::Succeeded),
        Just(When::Finished),
        Just(When::Failed)
    ];
    let parent = prop_oneof![Just("parent 1"), Just("parent 2")];
    let limits = (
        prop::option::of(1..u64::MAX),
        prop::option::of(duration()),
        prop::option::of(duration()),
    );
    let order = (
        priority,
        prop::collection::vec((text(), text()), 0..4),
        prop::option::of(Just("reports")),
        prop::option::of(concurrency()),
        prop::option::of(rate()),
    );
    let depends_on = prop::collection::vec((parent, wanted), 0..3);
    (misfire(), overlap(), limits, on_conflict, order, depends_on).prop_map(
        |(misfire, overlap, limits, on_conflict, order, depends_on)| Told {
            misfire,
            overlap,
            count: limits.0,
            timeout: limits.1,
            deadline: limits.2,
            on_conflict,
            priority: order.0,
            labels: order.1,
            pool: order.2,
            concurrency: order.3,
            rate: order.4,
            depends_on,
        },
    )
}

impl Told {
    /// Only what runs once comes after others.
    fn tell(self, mut task: TaskBuilder<'_>, is_once: bool) -> TaskBuilder<'_> {
        task = task.misfire(self.misfire).overlap(self.overlap);
        task = task.on_conflict(self.on_conflict).priority(self.priority);
        for (name, value) in self.labels {
            task = task.label(name, value);
        }
        for (id, wanted) in self.depends_on.into_iter().filter(|_| is_once) {
            task = task.depends_on(id, wanted);
        }
        if let Some(count) = self.count {
            task = task.count(count);
        }
        if let Some(limit) = self.timeout {
            task = task.timeout(limit);
        }
        if let Some(limit) = self.deadline {
            task = task.deadline(limit);
        }
        if let Some(pool) = self.pool {
            task = task.pool(pool);
        }
        if let Some(key) = self.concurrency {
            task = task.concurrency_key(key);
        }
        match self.rate {
            Some(rate) => task.rate_limit(rate),
            None => task,
        }
    }
}

fn retry() -> impl Strategy<Value = Retry> {
    let backoff = prop_oneof![
        duration().prop_map(Retry::fixed),
        duration().prop_map(Retry::linear),
        (duration(), 1.0..1e9_f64).prop_map(|(base, by)| Retry::exponential(base).factor(by)),
    ];
    let jitter = prop::option::of(prop_oneof![
        Just(RetryJitter::Full),
        Just(RetryJitter::Equal)
    ]);
    let limits = (
        1..u32::MAX,
        prop::option::of(duration()),
        prop::option::of(duration()),
    );
    (backoff, jitter, limits).prop_map(|(mut retry, jitter, (attempts, delay, elapsed))| {
        retry = retry.max_attempts(attempts);
        if let Some(jitter) = jitter {
            retry = retry.jitter(jitter);
        }
        if let Some(delay) = delay {
            retry = retry.max_delay(delay.max(ms(1)));
        }
        elapsed.map_or(retry.clone(), |elapsed| retry.max_elapsed(elapsed))
    })
}

fn payload() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300..1e300_f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_task_is_written_read_submitted_and_written_the_same(
        id in "[a-z][^#]{0,20}",
        (schedule, retry, payload) in (moved(), prop::option::of(retry()), payload()),
        told in told(),
    ) {
        let pool = PoolSpec::named("reports");
        let bed = Bed::with(|builder| builder.workers(1).pool(pool));
        for parent in ["parent 1", "parent 2"] {
            let parent = bed.scheduler.task(parent).after(Duration::MAX);
            parent.run(|_| ()).unwrap();
        }
        let mut task = bed.scheduler.task(id).kind("any", &payload).schedule(schedule.clone());
        let text = serde_json::to_string(&schedule).unwrap();
        let is_once = text.starts_with(r#"{"after":"#) || text.starts_with(r#"{"at":"#);
        task = told.tell(task, is_once);
        if let Some(retry) = retry {
            task = task.retry(retry);
        }
        let definition = task.definition().unwrap();
        prop_assert_eq!(&definition.payload, &payload);
        let text = written(&definition);
        let read = read(&text);
        prop_assert_eq!(written(&read), text.as_str());
        prop_assert_eq!(&read.payload, &payload);
        prop_assert_eq!(&read.schedule, &schedule);

        let handler = |_: &Context, _: serde_json::Value| ();
        bed.scheduler.register("any", handler).unwrap();
        let Submitted::Task(handle) = bed.scheduler.submit(read).unwrap() else {
            panic!("the kind is registered");
        };
        prop_assert_eq!(written(&handle.definition().unwrap()), text);
    }
}
