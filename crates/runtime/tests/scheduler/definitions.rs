//! Tasks as data: written for people, read back the same, refused when they say what is not known.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wheel_runtime::{
    Context, DefinitionError, KindError, Misfire, Overlap, Reaction, Retry, RetryJitter, Schedule,
    Scheduler, SubmitError, Submitted, TaskDefinition, Zone,
};

use crate::bed::{Bed, ms};

const SECOND: Duration = Duration::from_secs(1);

fn written(definition: &TaskDefinition) -> String {
    serde_json::to_string(definition).unwrap()
}

fn read(text: &str) -> TaskDefinition {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_definition_is_written_in_this_form_for_ever() {
    let bed = Bed::inline();
    let at = SystemTime::UNIX_EPOCH + SECOND * 946_684_800 + ms(250);
    let task = |schedule| {
        bed.scheduler
            .task("x")
            .kind("k", &[1, 2])
            .schedule(schedule)
    };
    let retry = Retry::exponential(SECOND)
        .max_delay(SECOND * 90)
        .jitter(RetryJitter::Equal);
    let full = task(Schedule::cron("0 9 * * MON-FRI").timezone("Europe/Berlin"));
    let full = full
        .retry(retry.max_attempts(7).max_elapsed(SECOND * 3600))
        .count(3);
    let text = written(&full.definition().unwrap());
    assert_eq!(
        text,
        concat!(
            r#"{"version":1,"id":"x","kind":"k","payload":[1,2],"#,
            r#""schedule":{"cron":"0 9 * * MON-FRI","timezone":"Europe/Berlin"},"#,
            r#""retry":{"exponential":"1s","factor":2.0,"max_attempts":7,"max_delay":"1m30s","#,
            r#""max_elapsed":"1h","jitter":"equal"},"#,
            r#""misfire":"fire_once","overlap":"skip","count":3}"#
        )
    );
    let schedules = [
        (Schedule::after(ms(1500)), r#"{"after":"1.5s"}"#),
        (
            Schedule::after(Duration::MAX),
            r#"{"after":"213503982334601d7h15.999999999s"}"#,
        ),
        (Schedule::at(at), r#"{"at":"2000-01-01T00:00:00.25Z"}"#),
        (
            Schedule::every(SECOND).start_now(),
            r#"{"every":"1s","start":"now"}"#,
        ),
        (
            Schedule::every(SECOND).start_at(at),
            r#"{"every":"1s","start":"2000-01-01T00:00:00.25Z"}"#,
        ),
        (Schedule::every_after(SECOND), r#"{"every_after":"1s"}"#),
    ];
    for (schedule, form) in schedules {
        assert_eq!(serde_json::to_string(&schedule).unwrap(), form);
        assert_eq!(serde_json::from_str::<Schedule>(form).unwrap(), schedule);
    }
    let retries = [
        (Retry::fixed(SECOND), r#"{"fixed":"1s","max_attempts":5}"#),
        (Retry::linear(SECOND), r#"{"linear":"1s","max_attempts":5}"#),
    ];
    for (retry, form) in retries {
        assert_eq!(serde_json::to_string(&retry).unwrap(), form);
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let definition =
        read(r#"{"version":1,"id":"x","kind":"k","payload":null,"schedule":{"after":"1s"}}"#);
    assert!(definition.retry.is_none() && definition.count.is_none());
    assert_eq!(definition.misfire, Misfire::default());
    assert_eq!(definition.overlap, Overlap::default());
}

#[test]
fn what_is_not_known_or_not_possible_is_told_when_it_is_read() {
    let whole = r#"{"version":1,"id":"x","kind":"k","payload":0,"schedule":{"after":"1s"}}"#;
    let cases = [
        (whole, whole, ""),
        (
            r#""version":1"#,
            r#""version":2"#,
            "version 2 is not known, only of 1",
        ),
        (r#""version":1,"#, "", "missing field `version`"),
        (
            r#""id":"x","#,
            r#""id":"x","prio":1,"#,
            "unknown field `prio`",
        ),
        (r#""after""#, r#""afetr""#, "unknown field `afetr`"),
        (r#""1s""#, r#""1s","every":"2s""#, "one of `after`, `at`"),
        (r#"{"after":"1s"}"#, "{}", "one of `after`, `at`"),
        (r#""1s""#, r#""1 parsec""#, "\"1 parsec\" is not a duration"),
        (r#""after":"1s""#, r#""at":"yesterday""#, "write RFC 3339"),
        (
            r#""after":"1s""#,
            r#""cron":"0 24 * * *""#,
            "cron: hour: `24` is out of range",
        ),
        (
            r#""after":"1s""#,
            r#""cron":"@daily","timezone":"Asia/Shangai""#,
            "timezone: there is no time zone `Asia/Shangai` (did you mean Asia/Shanghai?)",
        ),
        (
            r#""1s"}"#,
            r#""1s"},"retry":{"max_attempts":3}"#,
            "one of `fixed`",
        ),
        (
            r#""1s"}"#,
            r#""1s"},"retry":{"fixed":"1s","factor":2.0}"#,
            "`factor` goes with `exponential`",
        ),
        (
            r#""1s"}"#,
            r#""1s"},"retry":{"fixed":"1s","max_attempts":0}"#,
            "retry.max_attempts: 0 is not possible",
        ),
        (
            r#""1s"}"#,
            r#""1s"},"misfire":"panic""#,
            "unknown variant `panic`",
        ),
    ];
    for (place, wrong, error) in cases {
        let text = whole.replace(place, wrong);
        match serde_json::from_str::<TaskDefinition>(&text) {
            Ok(_) => assert_eq!(text, whole),
            Err(found) => assert!(found.to_string().contains(error), "{text}: {found}"),
        }
    }
}

#[test]
fn a_handle_gives_the_definition_that_it_was_submitted_with_and_its_present_schedule() {
    let bed = Bed::inline();
    bed.scheduler
        .register("k", |_: &Context, _: u32| ())
        .unwrap();
    let task = || {
        let task = bed.scheduler.task("x").every(SECOND).kind("k", &7);
        task.retry(Retry::linear(SECOND)).count(9).start_now()
    };
    let definition = task().definition().unwrap();
    let handle = task().submit().unwrap();
    let of_handle = || written(&handle.definition().unwrap());
    assert_eq!(of_handle(), written(&definition));
    bed.clock.run_for(SECOND * 3);
    assert_eq!(of_handle(), written(&definition));
    bed.scheduler
        .reschedule("x", Schedule::after(SECOND * 5))
        .unwrap();
    assert!(of_handle().contains(r#""schedule":{"after":"5s"}"#));
    let _ = handle.cancel();
    assert_eq!(handle.definition().unwrap_err(), DefinitionError::Ended);
}

#[test]
fn functions_are_no_data_and_are_named() {
    let bed = Bed::inline();
    bed.scheduler
        .register("k", |_: &Context, (): ()| ())
        .unwrap();
    let task = |scheduler: &Scheduler| scheduler.clone();
    let scheduler = task(&bed.scheduler);
    let builder = || scheduler.task("x").after(SECOND).kind("k", &());
    let cases = [
        (builder().retry(Retry::custom(|_| SECOND)), "Retry::custom"),
        (
            builder().retry(Retry::fixed(SECOND).retry_if(|_| true)),
            "Retry::retry_if",
        ),
        (builder().on_failure(|_| ()), "on_failure"),
        (builder().on_dead(|_| ()), "on_dead"),
        (
            builder().on_repeated_failure(1, Reaction::archive()),
            "on_repeated_failure",
        ),
    ];
    for (builder, name) in cases {
        assert_eq!(
            builder.definition().unwrap_err(),
            KindError::Function(name).into()
        );
    }
    // They may be submitted all the same.
    let handle = builder().on_dead(|_| ()).submit().unwrap();
    assert_eq!(
        handle.definition().unwrap_err(),
        DefinitionError::Function("on_dead")
    );
    let unnamed = scheduler
        .unnamed()
        .after(SECOND)
        .kind("k", &())
        .submit()
        .unwrap();
    assert_eq!(unnamed.definition().unwrap_err(), DefinitionError::Unnamed);
    let own = scheduler.after(SECOND, |_| ()).unwrap();
    assert_eq!(own.definition().unwrap_err(), DefinitionError::NoKind);
}

#[test]
fn a_definition_that_would_be_refused_is_not_made() {
    let bed = Bed::inline();
    let builder = || bed.scheduler.task("x").kind("k", &());
    assert_eq!(builder().definition().unwrap_err(), SubmitError::NoSchedule);
    let zero = builder().after(SECOND).count(0).definition();
    assert!(matches!(zero, Err(SubmitError::Policy(error)) if error.field() == "count"));
    assert!(builder().cron("bad").definition().is_err());
    let unnamed = bed
        .scheduler
        .unnamed()
        .kind("k", &())
        .after(SECOND)
        .definition();
    assert_eq!(unnamed.unwrap_err(), SubmitError::InvalidId(String::new()));
    assert!(bed.scheduler.get("x").is_none());
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
        duration().prop_map(Schedule::every_after),
        expression.clone().prop_map(Schedule::cron),
        (expression, zone).prop_map(move |(cron, zone)| in_zone(cron, zone)),
    ]
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
        (schedule, retry, payload) in (schedule(), prop::option::of(retry()), payload()),
        count in prop::option::of(1..u64::MAX),
    ) {
        let bed = Bed::inline();
        let mut task = bed.scheduler.task(id).kind("any", &payload).schedule(schedule.clone());
        if let Some(retry) = retry {
            task = task.retry(retry);
        }
        if let Some(count) = count {
            task = task.count(count);
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
