//! Definitions whose kind is not registered: kept, listed, and made tasks when it is.

use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, InlineExecutor, KindError, OnConflict, SubmitError, Submitted,
    TaskBuilder, TaskDefinition,
};

use crate::bed::{Bed, Record, ms};

const SECOND: Duration = Duration::from_secs(1);

/// Of the kind "note", with its id as the payload.
fn noted(
    bed: &Bed,
    id: &str,
    schedule: impl FnOnce(TaskBuilder<'_>) -> TaskBuilder<'_>,
) -> TaskDefinition {
    let task = bed.scheduler.task(id).kind("note", id);
    schedule(task).definition().unwrap()
}

fn keep(bed: &Bed, definition: TaskDefinition) {
    let submitted = bed.scheduler.submit(definition).unwrap();
    assert!(matches!(submitted, Submitted::Unresolved), "{submitted:?}");
}

/// Registers "note".
fn register(bed: &Bed) -> Record {
    let record = bed.record();
    let notes = record.clone();
    let note = move |_: &Context, id: String| notes.add(&id);
    bed.scheduler.register("note", note).unwrap();
    record
}

#[test]
fn a_definition_of_an_unknown_kind_is_kept_listed_and_counted() {
    let bed = Bed::inline();
    keep(&bed, noted(&bed, "a", |task| task.after(SECOND)));
    keep(&bed, noted(&bed, "b", |task| task.every(SECOND)));
    let unresolved = bed.scheduler.unresolved();
    let seen: Vec<_> = unresolved
        .iter()
        .map(|task| (&*task.id, &*task.kind))
        .collect();
    assert_eq!(seen, [("a", "note"), ("b", "note")]);
    assert!(unresolved.iter().all(|task| task.error.is_none()));
    assert_eq!(unresolved[0].since, bed.clock.wall());
    assert_eq!(
        (
            bed.scheduler.stats().unresolved,
            bed.scheduler.stats().scheduled
        ),
        (2, 0)
    );
    register(&bed);
    assert!(bed.scheduler.unresolved().is_empty());
    assert_eq!(
        (
            bed.scheduler.stats().unresolved,
            bed.scheduler.stats().scheduled
        ),
        (0, 2)
    );
}

#[test]
fn when_its_kind_is_registered_it_runs_as_if_it_had_been_a_task_all_the_time() {
    let bed = Bed::inline();
    let start = bed.clock.wall();
    keep(&bed, noted(&bed, "after", |task| task.after(SECOND * 90)));
    keep(
        &bed,
        noted(&bed, "after, past", |task| task.after(SECOND * 30)),
    );
    keep(
        &bed,
        noted(&bed, "at, past", |task| task.at(start + SECOND * 45)),
    );
    keep(&bed, noted(&bed, "every", |task| task.every(SECOND * 25)));
    keep(&bed, noted(&bed, "cron", |task| task.cron("* * * * *")));
    bed.clock.run_for(SECOND * 60);
    let record = register(&bed);
    bed.clock.run_for(SECOND * 60);
    assert_eq!(record.times("after"), [90_000]);
    // Missed: at once, one run for all of them, and the grid stays.
    assert_eq!(record.times("after, past"), [60_000]);
    assert_eq!(record.times("at, past"), [60_000]);
    assert_eq!(record.times("every"), [60_000, 75_000, 100_000]);
    assert_eq!(bed.scheduler.get("every").unwrap().missed, 1);
    assert_eq!(record.times("cron"), [60_000, 120_000]);
}

#[test]
fn an_id_is_given_once_among_those_that_wait_and_those_that_live() {
    let bed = Bed::inline();
    let definition = noted(&bed, "a", |task| task.after(SECOND));
    keep(&bed, definition.clone());
    let duplicate = SubmitError::DuplicateId("a".into());
    assert_eq!(bed.scheduler.submit(definition).unwrap_err(), duplicate);
    bed.scheduler.task("b").after(SECOND).run(|_| ()).unwrap();
    let definition = noted(&bed, "b", |task| task.after(SECOND));
    let error = bed.scheduler.submit(definition).unwrap_err();
    assert_eq!(error, SubmitError::DuplicateId("b".into()));
}

#[test]
fn one_whose_id_was_taken_meanwhile_stays_and_is_resolved_later() {
    let bed = Bed::inline();
    keep(&bed, noted(&bed, "a", |task| task.after(SECOND)));
    bed.scheduler
        .task("a")
        .after(SECOND * 5)
        .run(|_| ())
        .unwrap();
    let record = register(&bed);
    let unresolved = bed.scheduler.unresolved();
    assert_eq!(
        unresolved[0].error,
        Some(SubmitError::DuplicateId("a".into()))
    );
    assert_eq!(bed.scheduler.resolve(), 0);
    bed.clock.run_for(SECOND * 6);
    assert_eq!(bed.scheduler.resolve(), 1);
    bed.clock.run_for(ms(1));
    assert_eq!(record.times("a").len(), 1);
    assert!(bed.scheduler.unresolved().is_empty());
}

#[test]
fn one_whose_payload_the_kind_does_not_take_stays_and_says_so() {
    let bed = Bed::inline();
    keep(&bed, noted(&bed, "a", |task| task.after(SECOND)));
    bed.scheduler
        .register("note", |_: &Context, _: u32| ())
        .unwrap();
    let error = bed.scheduler.unresolved().remove(0).error.unwrap();
    assert!(
        matches!(error, SubmitError::Kind(KindError::Payload { .. })),
        "{error}"
    );
    assert!(bed.scheduler.get("a").is_none());
}

#[test]
fn a_definition_that_is_not_possible_is_refused_whether_its_kind_is_known_or_not() {
    let bed = Bed::inline();
    let text = |id: &str, kind: &str, schedule: &str| {
        format!(
            r#"{{"version": 1, "id": "{id}", "kind": "{kind}", "payload": "x", "schedule": {schedule}}}"#
        )
    };
    let texts = [
        text("", "note", r#"{"after": "1s"}"#),
        text("#1", "note", r#"{"after": "1s"}"#),
        text("a", "", r#"{"after": "1s"}"#),
        text("a", "note", r#"{"every": "0s"}"#),
        text("a", "note", r#"{"after": "1s", "start": "now"}"#),
        text("a", "note", r#"{"every": "1s", "timezone": "Asia/Tokyo"}"#),
    ];
    let errors = || -> Vec<SubmitError> {
        let read = |text| serde_json::from_str::<TaskDefinition>(text).unwrap();
        let submitted = texts.iter().map(|text| bed.scheduler.submit(read(text)));
        submitted.map(Result::unwrap_err).collect()
    };
    let unknown = errors();
    register(&bed);
    assert_eq!(unknown, errors());
    assert!(bed.scheduler.unresolved().is_empty());
}

#[test]
fn a_cancel_forgets_it_and_a_live_task_of_the_id_goes_first() {
    let bed = Bed::inline();
    keep(&bed, noted(&bed, "a", |task| task.after(SECOND)));
    assert_eq!(bed.scheduler.cancel("a"), CancelOutcome::Cancelled);
    assert_eq!(bed.scheduler.cancel("a"), CancelOutcome::NotFound);
    assert!(bed.scheduler.unresolved().is_empty());
}

#[test]
fn a_shutdown_names_what_is_unresolved_and_keeps_it() {
    let bed = Bed::inline();
    let definition = noted(&bed, "a", |task| task.after(SECOND));
    keep(&bed, definition.clone());
    let report = bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(report.unresolved, bed.scheduler.unresolved());
    assert_eq!(report.unresolved[0].id, "a");
    let error = bed.scheduler.submit(definition).unwrap_err();
    assert_eq!(error, SubmitError::ShuttingDown);
}

#[test]
fn there_are_no_more_of_them_than_there_may_be_tasks() {
    let bed = Bed::with(|builder| builder.executor(InlineExecutor).max_tasks(2));
    keep(&bed, noted(&bed, "a", |task| task.after(SECOND)));
    keep(&bed, noted(&bed, "b", |task| task.after(SECOND)));
    let third = noted(&bed, "c", |task| task.after(SECOND));
    assert_eq!(bed.scheduler.submit(third).unwrap_err(), SubmitError::Full);
}

#[test]
fn a_kind_that_was_misspelt_in_a_builder_is_an_error() {
    let bed = Bed::inline();
    register(&bed);
    let task = bed
        .scheduler
        .task("a")
        .on_conflict(OnConflict::Replace)
        .after(SECOND);
    let error = task.kind("noet", "a").submit().unwrap_err();
    assert_eq!(error, KindError::Unknown("noet".into()).into());
    assert!(bed.scheduler.unresolved().is_empty());
}

#[test]
fn what_comes_after_an_unresolved_task_waits_with_it_whichever_kind_comes_first() {
    let text = |id: &str, kind: &str, after: &str| {
        let condition = r#""when": "succeeded""#;
        let depends_on = format!(r#""depends_on": [{{"id": "{after}", {condition}}}]"#);
        let after = if after.is_empty() {
            String::new()
        } else {
            format!(", {depends_on}")
        };
        format!(
            r#"{{"version": 1, "id": "{id}", "kind": "{kind}", "payload": "{id}", "schedule": {{"after": "1s"}}{after}}}"#
        )
    };
    let kinds = ["first", "second", "third"];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let bed = Bed::inline();
        let record = bed.record();
        // "c" comes after "b", and "b" after "a": stored in whatever order.
        for (id, kind, after) in [("c", 2, "b"), ("b", 1, "a"), ("a", 0, "")] {
            keep(
                &bed,
                serde_json::from_str(&text(id, kinds[kind], after)).unwrap(),
            );
        }
        for kind in order {
            let notes = record.clone();
            let note = move |_: &Context, id: String| notes.add(&id);
            bed.scheduler.register(kinds[kind], note).unwrap();
        }
        assert!(bed.scheduler.unresolved().is_empty(), "{order:?}");
        bed.clock.run_for(SECOND * 10);
        assert_eq!(record.names(), ["a", "b", "c"], "{order:?}");
    }
    // With its own kind there, it waits for that of the other one.
    let bed = Bed::inline();
    let record = register(&bed);
    keep(&bed, serde_json::from_str(&text("a", "first", "")).unwrap());
    keep(&bed, serde_json::from_str(&text("b", "note", "a")).unwrap());
    let error = bed.scheduler.unresolved().remove(1).error;
    assert_eq!(error, Some(SubmitError::UnknownDependency("a".into())));
    let notes = record.clone();
    let first = move |_: &Context, id: String| notes.add(&id);
    bed.scheduler.register("first", first).unwrap();
    bed.clock.run_for(SECOND * 5);
    assert_eq!(record.names(), ["a", "b"]);
    // Of a task that nobody has ever heard of, nothing is kept.
    let stray = serde_json::from_str(&text("d", "note", "nobody")).unwrap();
    let error = bed.scheduler.submit(stray).unwrap_err();
    assert_eq!(error, SubmitError::UnknownDependency("nobody".into()));
}

#[test]
fn what_it_says_about_conflicts_holds_among_those_that_wait_and_those_that_live() {
    let bed = Bed::inline();
    let noted =
        |delay, on_conflict| noted(&bed, "a", |task| task.after(delay).on_conflict(on_conflict));
    bed.scheduler
        .task("a")
        .after(SECOND * 9)
        .run(|_| ())
        .unwrap();
    // The live one stays.
    let kept = bed
        .scheduler
        .submit(noted(SECOND, OnConflict::Keep))
        .unwrap();
    assert!(matches!(kept, Submitted::Task(live) if live.id() == "a"));
    assert!(bed.scheduler.unresolved().is_empty());
    // It is replaced once there is something to replace it by.
    keep(&bed, noted(SECOND * 2, OnConflict::Replace));
    keep(&bed, noted(SECOND * 3, OnConflict::Replace));
    keep(&bed, noted(SECOND * 4, OnConflict::Replace));
    assert_eq!(bed.scheduler.unresolved().len(), 1);
    assert_eq!(bed.scheduler.get("a").unwrap().next_in, Some(SECOND * 9));
    let record = register(&bed);
    assert_eq!(bed.scheduler.get("a").unwrap().next_in, Some(SECOND * 4));
    bed.clock.run_for(SECOND * 10);
    assert_eq!(record.times("a").len(), 1);
    assert!(bed.scheduler.unresolved().is_empty());
}
