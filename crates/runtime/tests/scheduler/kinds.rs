//! Tasks of a kind: what is refused, what reaches the handler, and which variant it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use wheel_runtime::{
    Context, GaveUp, Kind, KindError, Outcome, RateLimit, RegisterError, Retry, SubmitError,
    TaskState,
};

use crate::bed::{Bed, HANG, ms};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Mail {
    to: String,
    copies: u32,
}

fn mail(to: &str) -> Mail {
    let to = to.to_owned();
    Mail { to, copies: 2 }
}

/// Registers "mail", which keeps what it gets.
fn register_mail(bed: &Bed) -> Arc<Mutex<Vec<Mail>>> {
    let sent: Arc<Mutex<Vec<Mail>>> = Arc::default();
    let keeps = Arc::clone(&sent);
    let send = move |_: &Context, mail: Mail| keeps.lock().unwrap().push(mail);
    bed.scheduler.register("mail", send).unwrap();
    sent
}

#[test]
fn a_payload_reaches_the_handler_in_each_run_as_it_was_submitted() {
    let bed = Bed::inline();
    let sent = register_mail(&bed);
    let task = bed
        .scheduler
        .task("x")
        .kind("mail", &mail("a"))
        .every(ms(10));
    let task = task.submit().unwrap();
    bed.clock.run_for(ms(25));
    assert_eq!(*sent.lock().unwrap(), [mail("a"), mail("a")]);
    assert_eq!(task.info().succeeded, 2);
}

#[test]
fn a_task_of_a_kind_has_the_policies_that_any_task_has() {
    let bed = Bed::inline();
    let fails = |run: &Context, errors: u32| match run.attempt() <= errors {
        true => Err("busy"),
        false => Ok(()),
    };
    bed.scheduler.register("fails", fails).unwrap();
    let task = |id: &str, errors: u32| {
        let task = bed.scheduler.task(id).after(ms(1)).kind("fails", &errors);
        task.retry(Retry::fixed(ms(5)).max_attempts(3))
            .submit()
            .unwrap()
    };
    let (ends_well, dies) = (task("a", 2), task("b", 3));
    bed.clock.run_for(ms(100));
    assert_eq!(ends_well.wait(), TaskState::Succeeded);
    assert_eq!(dies.wait(), TaskState::Dead);
}

#[test]
fn a_retry_policy_of_the_kind_is_for_tasks_that_bring_none() {
    let bed = Bed::inline();
    let kind = Kind::new("x", |_: &Context, (): ()| Err("no"));
    let kind = kind.retry(Retry::fixed(ms(1)).max_attempts(4));
    bed.scheduler.register_kind(kind).unwrap();
    let task = |id| bed.scheduler.task(id).after(ms(1)).kind("x", &());
    let own = Retry::fixed(ms(1)).max_attempts(2);
    let (own, of_kind) = (task("own").retry(own).submit(), task("of kind").submit());
    bed.clock.run_for(ms(100));
    assert_eq!(
        (own.unwrap().info().retried, of_kind.unwrap().info().retried),
        (1, 3)
    );
}

#[test]
fn a_kind_is_registered_once_and_under_a_possible_name() {
    let bed = Bed::inline();
    let register = |name: &str| bed.scheduler.register(name, |_: &Context, (): ()| ());
    register("a").unwrap();
    assert_eq!(register("a"), Err(RegisterError::Duplicate("a".into())));
    register(&"x".repeat(128)).unwrap();
    for wrong in ["", "a\nb", "\u{7f}", &"x".repeat(129)] {
        let error = register(wrong).unwrap_err();
        assert!(
            matches!(error, RegisterError::InvalidName(_)),
            "{wrong:?}: {error}"
        );
    }
    assert_eq!(bed.scheduler.kinds().len(), 2);
}

#[test]
fn a_kind_with_impossible_settings_is_refused() {
    let bed = Bed::inline();
    let nothing = |_: &Context, (): ()| ();
    let kind = || Kind::new("x", nothing);
    let cases = [
        (
            kind().variant("a", 60, nothing).variant("b", 41, nothing),
            "variant: 101 percent in all is not possible: at most 100",
        ),
        (
            kind().variant("a", 1, nothing).variant("a", 1, nothing),
            "variant: two are called \"a\": each needs a name of its own",
        ),
        (
            kind().variant("", 1, nothing),
            "name: \"\" is not possible: 1 to 128 bytes without control characters",
        ),
        (
            kind().fallback_after(0, nothing),
            "fallback_after: 0 failures is not possible: at least 1",
        ),
        (
            kind().retry(Retry::fixed(ms(1)).max_attempts(0)),
            "retry.max_attempts: 0 is not possible: at least 1, as it counts the first try",
        ),
    ];
    for (kind, error) in cases {
        let refused = bed.scheduler.register_kind(kind).unwrap_err();
        assert_eq!(refused.to_string(), error);
    }
    assert!(bed.scheduler.kinds().is_empty());
}

#[test]
fn what_is_wrong_with_a_kind_or_a_payload_is_told_at_submission() {
    let bed = Bed::inline();
    register_mail(&bed);
    let task = || bed.scheduler.task("x").after(ms(1));
    let refused = |text: &str, error: SubmitError| {
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(bed.scheduler.get("x").is_none());
    };
    let unknown = task().kind("mial", &mail("a")).submit().unwrap_err();
    assert!(unknown.may_succeed_later());
    refused("kind: \"mial\" is not registered", unknown);
    refused(
        "kind: \"\\n\" is not possible",
        task().kind("\n", &()).submit().unwrap_err(),
    );
    let missing = task().kind("mail", &BTreeMap::from([("to", "a")])).submit();
    refused(
        "payload: not what the kind \"mail\" takes: missing field `copies`",
        missing.unwrap_err(),
    );
    let keys = HashMap::from([((1, 2), 3)]);
    refused(
        "payload: ",
        task().kind("mail", &keys).submit().unwrap_err(),
    );
    // Not a number is written as nothing.
    bed.scheduler
        .register("sleep", |_: &Context, _: f64| ())
        .unwrap();
    refused(
        "payload: ",
        task().kind("sleep", &f64::NAN).submit().unwrap_err(),
    );
    refused("kind: the task has none", task().submit().unwrap_err());
    refused(
        "kind: the task gets a handler",
        task().kind("mail", &()).run(|_| ()).unwrap_err(),
    );
}

#[test]
fn a_payload_that_is_no_longer_read_ends_its_run_for_good_and_says_why() {
    static IS_READ: AtomicBool = AtomicBool::new(true);
    struct Fickle;
    impl<'de> Deserialize<'de> for Fickle {
        fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Fickle, D::Error> {
            match IS_READ.load(Ordering::Relaxed) {
                true => Ok(Fickle),
                false => Err(serde::de::Error::custom("of another age")),
            }
        }
    }
    let bed = Bed::inline();
    bed.scheduler
        .register("x", |_: &Context, _: Fickle| ())
        .unwrap();
    let task = bed.scheduler.task("x").after(ms(1)).kind("x", &());
    let task = task.retry(Retry::fixed(ms(1))).submit().unwrap();
    IS_READ.store(false, Ordering::Relaxed);
    bed.clock.run_for(ms(50));
    assert_eq!(task.wait(), TaskState::Dead);
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(
        (letter.last.gave_up, letter.last.attempts),
        (GaveUp::Permanent, 1)
    );
    assert_eq!(
        letter.last.error,
        "payload: not what the kind \"x\" takes: of another age"
    );
    // No handler was called.
    assert_eq!(bed.scheduler.kinds()[0].attempts, 0);
}

#[test]
fn an_id_has_the_same_variant_in_every_run_and_in_every_scheduler() {
    let variants = || {
        let bed = Bed::inline();
        let seen: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let sees = |name: &'static str| {
            let seen = Arc::clone(&seen);
            move |run: &Context, (): ()| {
                let of_context = run.variant();
                assert_eq!(of_context.as_deref().unwrap_or("old"), name);
                assert_eq!(run.kind().as_deref(), Some("x"));
                let before = seen
                    .lock()
                    .unwrap()
                    .insert(run.id().to_owned(), name.to_owned());
                assert!(before.is_none_or(|before| before == name));
            }
        };
        let kind = Kind::new("x", sees("old")).variant("new", 25, sees("new"));
        bed.scheduler.register_kind(kind).unwrap();
        for n in 0..400 {
            let task = bed.scheduler.task(format!("order-{n}")).kind("x", &());
            task.every(ms(10)).submit().unwrap();
        }
        bed.clock.run_for(ms(35));
        assert_eq!(bed.scheduler.stats().failed, 0);
        seen.lock().unwrap().clone()
    };
    let seen = variants();
    let new = seen.values().filter(|name| *name == "new").count();
    assert!((70..=130).contains(&new), "{new} of 400");
    assert_eq!(seen, variants());
}

#[test]
fn a_variant_reads_the_payload_by_its_own_type() {
    let bed = Bed::inline();
    let kind = Kind::new("x", |_: &Context, _: u32| ());
    let kind = kind.variant("text", 100, |_: &Context, _: String| ());
    bed.scheduler.register_kind(kind).unwrap();
    let task = |id| bed.scheduler.task(id).after(ms(1));
    assert!(task("a").kind("x", "text").submit().is_ok());
    let error = task("b").kind("x", &7).submit().unwrap_err();
    assert!(
        matches!(error, SubmitError::Kind(KindError::Payload { .. })),
        "{error}"
    );
}

#[test]
fn a_task_without_a_name_may_be_of_a_kind() {
    let bed = Bed::inline();
    let sent = register_mail(&bed);
    let task = bed
        .scheduler
        .unnamed()
        .kind("mail", &mail("a"))
        .after(ms(1))
        .submit();
    bed.clock.run_for(ms(1));
    assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
    assert_eq!(sent.lock().unwrap().len(), 1);
}

#[test]
fn a_replay_calls_the_same_handler_with_the_same_payload() {
    let bed = Bed::inline();
    let fails_at_first = |run: &Context, to: String| match run.last_error() {
        None => Err(format!("{to} is away")),
        Some(_) => Ok(()),
    };
    bed.scheduler.register("visit", fails_at_first).unwrap();
    let task = bed.scheduler.task("x").after(ms(1)).kind("visit", "aunt");
    task.retry(Retry::fixed(ms(1)).max_attempts(1))
        .submit()
        .unwrap();
    bed.clock.run_for(ms(10));
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.last.error, "aunt is away");
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(again.wait(), TaskState::Succeeded);
}

#[test]
fn handlers_of_kinds_are_dropped_by_the_shutdown_and_nothing_is_registered_after_it() {
    let bed = Bed::inline();
    let (held, scheduler) = (Arc::new(()), bed.scheduler.clone());
    let holds = Arc::clone(&held);
    let handler = move |_: &Context, (): ()| {
        let _ = (&holds, &scheduler);
    };
    bed.scheduler.register("x", handler).unwrap();
    bed.scheduler
        .task("x")
        .every(ms(1))
        .kind("x", &())
        .submit()
        .unwrap();
    bed.clock.run_for(ms(3));
    bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(Arc::strong_count(&held), 1);
    let again = bed.scheduler.register("y", |_: &Context, (): ()| ());
    assert_eq!(again, Err(RegisterError::ShuttingDown));
    assert_eq!(bed.scheduler.kinds()[0].attempts, 3);
}

#[test]
fn a_handler_may_register_and_submit() {
    let bed = Bed::workers(1);
    let scheduler = bed.scheduler.clone();
    let task = bed.scheduler.after(ms(1), move |_| {
        let registered = scheduler.register("x", |_: &Context, (): ()| Outcome::Success);
        registered.map_err(|error| error.to_string())?;
        let task = scheduler.task("x").kind("x", &()).after(Duration::ZERO);
        task.submit().map(drop).map_err(|error| error.to_string())
    });
    bed.jump(ms(1));
    assert_eq!(task.unwrap().wait_timeout(HANG), Some(TaskState::Succeeded));
    bed.jump(ms(1));
    assert_eq!(bed.scheduler.kinds()[0].attempts, 1);
    bed.scheduler.shutdown(HANG).unwrap();
}

#[test]
fn a_rate_limit_without_a_key_is_that_of_the_kind() {
    let bed = Bed::inline();
    let record = bed.record();
    for kind in ["call", "poll"] {
        let notes = record.clone();
        let note = move |_: &Context, id: String| notes.add(&id);
        bed.scheduler.register(kind, note).unwrap();
    }
    let limit = || RateLimit::new(1, ms(10));
    let tasks = [("a", "call"), ("b", "call"), ("c", "call"), ("d", "poll")];
    for (due, (id, kind)) in (1..).zip(tasks) {
        let task = bed.scheduler.task(id).after(ms(due)).kind(kind, id);
        task.rate_limit(limit()).submit().unwrap();
    }
    // A task with a handler of its own has its own tokens, also if it is called as the kind is.
    let own = bed.scheduler.task("call").after(ms(5)).rate_limit(limit());
    own.run(record.note("own")).unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(record.names(), ["a", "d", "own"]);
    bed.clock.run_for(ms(10));
    assert_eq!(record.names()[3..], ["b"]);
    bed.clock.run_for(ms(10));
    assert_eq!(record.names()[4..], ["c"]);
}
