//! Tasks as data: written for people, read back the same, refused when they say what is not known.

use std::time::{Duration, SystemTime};

use wheel_runtime::{
    Concurrency, Context, DefinitionError, Jitter, KindError, Misfire, OnConflict, Overlap,
    Priority, RateLimit, Reaction, Retry, RetryJitter, Schedule, Scheduler, SubmitError,
    TaskDefinition, When,
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
    let full = task(Schedule::after(Duration::ZERO))
        .depends_on("import", When::Succeeded)
        .depends_on("audit", When::Finished)
        .timeout(SECOND * 90)
        .deadline(SECOND * 3600)
        .misfire(Misfire::FireAll { max: 9 })
        .overlap(Overlap::QueueAll { max: 5 })
        .on_conflict(OnConflict::Replace)
        .priority(Priority::High)
        .label("env", "canary")
        .label("app", "shop")
        .concurrency_key("customer-7")
        .rate_limit(RateLimit::new(100, SECOND * 60).burst(5).key("api"));
    let text = written(&full.definition().unwrap());
    assert_eq!(
        text,
        concat!(
            r#"{"version":1,"id":"x","kind":"k","payload":[1,2],"schedule":{"after":"0s"},"#,
            r#""depends_on":[{"id":"import","when":"succeeded"},{"id":"audit","when":"finished"}],"#,
            r#""timeout":"1m30s","deadline":"1h","#,
            r#""misfire":{"fire_all":{"max":9}},"overlap":{"queue_all":{"max":5}},"#,
            r#""on_conflict":"replace","priority":"high","labels":{"app":"shop","env":"canary"},"#,
            r#""concurrency_key":"customer-7","#,
            r#""rate_limit":{"count":100,"period":"1m","burst":5,"key":"api"}}"#
        )
    );
    let window = Schedule::every(SECOND * 900).aligned().not_before(at);
    let window = window.not_after(at + SECOND).jitter(Jitter::Hashed(SECOND));
    let schedules = [
        (
            window,
            concat!(
                r#"{"every":"15m","start":"aligned","not_before":"2000-01-01T00:00:00.25Z","#,
                r#""not_after":"2000-01-01T00:00:01.25Z","jitter":{"hashed":"1s"}}"#
            ),
        ),
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
    let key = Concurrency::key("disk").at_most(4);
    let form = r#"{"key":"disk","at_most":4}"#;
    assert_eq!(serde_json::to_string(&key).unwrap(), form);
    let rate = RateLimit::per_second(0.5);
    let form = r#"{"per_second":0.5}"#;
    assert_eq!(serde_json::to_string(&rate).unwrap(), form);
}

#[test]
fn a_definition_says_all_that_the_task_is_told() {
    // Each of these is a policy: one that a definition left out would be lost in a store.
    let bed = Bed::inline();
    let plain = || bed.scheduler.task("x").every(SECOND).kind("k", &());
    let without = written(&plain().definition().unwrap());
    for told in [
        plain().start_now(),
        plain().aligned(),
        plain().not_before(SystemTime::UNIX_EPOCH),
        plain().not_after(SystemTime::UNIX_EPOCH + SECOND * 2_500_000_000),
        plain().jitter(Jitter::Uniform(SECOND)),
        plain().misfire(Misfire::Skip),
        plain().overlap(Overlap::QueueOne),
        plain().count(7),
        plain().retry(Retry::fixed(SECOND)),
        plain().timeout(SECOND),
        plain().deadline(SECOND),
        plain().on_conflict(OnConflict::Keep),
        plain().priority(Priority::Low),
        plain().label("a", "b"),
        plain().concurrency_key("a"),
        plain().rate_limit(RateLimit::per_second(1.0)),
        plain().after(SECOND).depends_on("y", When::Failed),
    ] {
        let definition = told.definition().unwrap();
        let text = written(&definition);
        assert_ne!(text, without);
        assert_eq!(written(&read(&text)), text);
    }
}

#[test]
fn what_comes_after_others_needs_no_schedule() {
    let bed = Bed::inline();
    bed.scheduler
        .register("k", |_: &Context, (): ()| ())
        .unwrap();
    let task = || bed.scheduler.task("x").kind("k", &());
    // The other one need not be there, as the kind need not.
    let definition = task().depends_on("y", When::Succeeded).definition();
    let text = written(&definition.unwrap());
    assert!(text.contains(r#""schedule":{"after":"0s"}"#), "{text}");
    let error = bed.scheduler.submit(read(&text)).unwrap_err();
    assert_eq!(error, SubmitError::UnknownDependency("y".into()));
    let itself = task().depends_on("x", When::Succeeded).definition();
    assert!(matches!(itself, Err(SubmitError::DependencyCycle(_))));
    let recurs = task().every(SECOND).depends_on("y", When::Failed);
    let error = recurs.definition().unwrap_err();
    assert_eq!(error, SubmitError::RecurringDependent);
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
    let policies = [
        (
            r#""misfire":{"fire_all":{"max":0}}"#,
            "misfire: FireAll with max 0",
        ),
        (
            r#""misfire":{"fire_all":{"max":1,"min":1}}"#,
            "unknown field `min`",
        ),
        (
            r#""overlap":{"allow":{"max":1001}}"#,
            "overlap: Allow with max 1001",
        ),
        (r#""count":0"#, "count: 0 is not possible: at least 1"),
        (r#""timeout":"0s""#, "timeout: 0 is not possible"),
        (r#""deadline":"0s""#, "deadline: 0 is not possible"),
        (r#""deadline":7"#, "expected a string"),
        (r#""on_conflict":"fight""#, "unknown variant `fight`"),
        (r#""priority":"urgent""#, "unknown variant `urgent`"),
        (
            r#""labels":{"a":"\u0007"}"#,
            "label: \"\\u{7}\" is not possible",
        ),
        (r#""labels":["a"]"#, "expected a map"),
        (r#""pool":"""#, "pool: \"\" is not possible"),
        (
            r#""concurrency_key":"""#,
            "concurrency_key: \"\" is not possible",
        ),
        (r#""concurrency_key":7"#, "a text, or `key` and `at_most`"),
        (
            r#""concurrency_key":{"key":"a","at_most":0}"#,
            "concurrency_key: at most 0",
        ),
        (
            r#""concurrency_key":{"key":"a"}"#,
            "missing field `at_most`",
        ),
        (
            r#""rate_limit":{"count":1}"#,
            "`count` and `period`, or `per_second`",
        ),
        (
            r#""rate_limit":{"per_second":0}"#,
            "rate_limit: 0 per second",
        ),
        (
            r#""rate_limit":{"per_second":1,"burts":2}"#,
            "unknown field `burts`",
        ),
        (r#""depends_on":[{"id":"y"}]"#, "missing field `when`"),
        (
            r#""depends_on":[{"id":"y","when":"died"}]"#,
            "unknown variant `died`",
        ),
    ];
    let policies = policies.map(|(policy, error)| {
        let wrong = format!(r#""1s"}},{policy}"#);
        (r#""1s"}"#, wrong, error)
    });
    let cases = cases.map(|(place, wrong, error)| (place, wrong.to_owned(), error));
    for (place, wrong, error) in cases.into_iter().chain(policies) {
        let text = whole.replace(place, &wrong);
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
fn functions_and_values_are_no_data_and_are_named() {
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
        (builder().value(7_u32), "value"),
        (
            builder().on_repeated_failure(1, Reaction::archive()),
            "on_repeated_failure",
        ),
    ];
    for (builder, name) in cases {
        assert_eq!(
            builder.definition().unwrap_err(),
            KindError::NotData(name).into()
        );
    }
    // They may be submitted all the same.
    let handle = builder().on_dead(|_| ()).submit().unwrap();
    assert_eq!(
        handle.definition().unwrap_err(),
        DefinitionError::NotData("on_dead")
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
