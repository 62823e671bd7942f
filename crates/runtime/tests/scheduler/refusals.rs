//! Whatever is refused says which field it is about and what would be right, in one form:
//! `field: what is wrong: what would be right`, or that in brackets.

use std::fmt::Display;
use std::time::{Duration, SystemTime};

use wheel_runtime::{
    Concurrency, Jitter, Misfire, Overlap, PoolSpec, RateLimit, Reaction, Retry, Schedule,
    Scheduler, SchedulerBuilder, TaskBuilder, When,
};

use crate::bed::{Bed, ms};

const SECOND: Duration = Duration::from_secs(1);

/// That it begins with the field, and goes on after what is wrong.
#[track_caller]
fn names(field: &str, error: &dyn Display) {
    let text = error.to_string();
    let said = text
        .strip_prefix(field)
        .and_then(|rest| rest.strip_prefix(": "));
    let said = said.unwrap_or_else(|| panic!("{field} is not named by: {text}"));
    assert!(
        said.contains(": ") || said.contains(" ("),
        "it does not say what would be right: {text}"
    );
    assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
}

fn once<'s>(bed: &'s Bed) -> TaskBuilder<'s> {
    bed.scheduler.task("x").after(ms(1))
}

fn again<'s>(bed: &'s Bed) -> TaskBuilder<'s> {
    bed.scheduler.task("x").every(SECOND)
}

#[test]
fn a_task_that_is_refused_says_of_what() {
    let bed = Bed::with(|builder| builder.executor(wheel_runtime::InlineExecutor).max_tasks(1));
    let (zero, at) = (Duration::ZERO, SystemTime::UNIX_EPOCH);
    let (once, again) = (|| once(&bed), || again(&bed));
    let fixed = || Retry::fixed(SECOND);
    let cases = [
        ("id", bed.scheduler.task("").after(ms(1))),
        ("id", bed.scheduler.task("#1").after(ms(1))),
        ("schedule", bed.scheduler.task("x")),
        ("every", once().every(zero)),
        ("start", once().start_now()),
        ("start", once().cron("@daily").aligned()),
        ("cron", once().cron("0 24 * * *")),
        ("timezone", once().cron("@daily").timezone("Mars/Base")),
        ("timezone", once().timezone("UTC")),
        (
            "aligned",
            again().aligned().timezone("Asia/Tokyo").every(SECOND * 7),
        ),
        ("not_before, not_after", once().not_before(at)),
        ("not_after", again().not_before(at + SECOND).not_after(at)),
        ("not_after", again().not_after(at)),
        (
            "jitter",
            again().jitter(Jitter::Uniform(SECOND * 86_400 * 366)),
        ),
        ("count", again().count(0)),
        ("misfire", again().misfire(Misfire::FireAll { max: 0 })),
        ("overlap", again().overlap(Overlap::QueueAll { max: 0 })),
        ("overlap", again().overlap(Overlap::Allow { max: 1_001 })),
        ("retry.max_attempts", once().retry(fixed().max_attempts(0))),
        (
            "retry.factor",
            once().retry(Retry::exponential(SECOND).factor(f64::NAN)),
        ),
        ("retry.max_delay", once().retry(fixed().max_delay(zero))),
        ("retry.max_elapsed", once().retry(fixed().max_elapsed(zero))),
        (
            "on_repeated_failure",
            once().on_repeated_failure(0, Reaction::archive()),
        ),
        ("timeout", once().timeout(zero)),
        ("deadline", once().deadline(zero)),
        ("label", once().label("a\n", "b")),
        (
            "label",
            (0..65).fold(once(), |task, n| task.label(n.to_string(), "x")),
        ),
        ("pool", once().pool("nowhere")),
        ("concurrency_key", once().concurrency_key("")),
        (
            "concurrency_key",
            once().concurrency_key(Concurrency::key("a").at_most(0)),
        ),
        ("rate_limit", once().rate_limit(RateLimit::per_second(0.0))),
        (
            "rate_limit",
            once().rate_limit(RateLimit::new(1, SECOND).burst(0)),
        ),
        (
            "rate_limit",
            once().rate_limit(RateLimit::new(1, SECOND).key("\0")),
        ),
        ("depends_on", once().depends_on("nobody", When::Failed)),
        ("depends_on", once().depends_on("x", When::Failed)),
        ("depends_on", again().depends_on("y", When::Failed)),
    ];
    for (field, task) in cases {
        names(field, &task.run(|_| ()).unwrap_err());
    }
    assert!(
        bed.scheduler
            .tasks(&wheel_runtime::TaskFilter::all())
            .is_empty()
    );
    once().run(|_| ()).unwrap();
    names("id", &once().run(|_| ()).unwrap_err());
    let second = bed.scheduler.task("y").after(ms(1)).run(|_| ());
    names("max_tasks", &second.unwrap_err());
}

#[test]
fn what_is_asked_of_a_task_and_refused_says_of_what() {
    let bed = Bed::inline();
    bed.scheduler.task("x").every(SECOND).run(|_| ()).unwrap();
    bed.scheduler
        .task("once")
        .after(SECOND)
        .run(|_| ())
        .unwrap();
    let child = bed.scheduler.task("child").depends_on("once", When::Failed);
    child.run(|_| ()).unwrap();
    let schedule = |id, schedule| bed.scheduler.reschedule(id, schedule).unwrap_err();
    names("every", &schedule("x", Schedule::every(Duration::ZERO)));
    names("depends_on", &schedule("child", Schedule::every(SECOND)));
    let now = bed.clock.wall();
    let fill = |id, from, to| bed.scheduler.backfill(id, from, to).unwrap_err();
    names("backfill", &fill("once", now - SECOND, now));
    names("to", &fill("x", now, now - SECOND));
    names("to", &fill("x", now, now + SECOND));
    names("from", &fill("x", now - SECOND * 1_000_000, now));
    // Nothing would be right about these.
    let absent = schedule("nobody", Schedule::after(SECOND));
    assert_eq!(
        absent.to_string(),
        "id: there is no such task, or it has ended"
    );
    let absent = fill("nobody", now, now);
    assert_eq!(
        absent.to_string(),
        "id: there is no such task, or it has ended"
    );
}

#[test]
fn a_graph_that_is_refused_says_of_what() {
    let bed = Bed::inline();
    let graph = || bed.scheduler.graph("g");
    let node = |name: &str| graph().node(name, |_| ());
    names("node", &graph().start().unwrap_err());
    names("node", &node("").start().unwrap_err());
    names("node", &node("a").node("a", |_| ()).start().unwrap_err());
    names("edge", &node("a").chain(["a", "b"]).start().unwrap_err());
    names("edge", &node("a").chain(["a", "a"]).start().unwrap_err());
    let counted = graph().node_with("a", |task| task.count(1), |_| ());
    names("node \"a\"", &counted.start().unwrap_err());
    let timed = graph().node_with("a", |task| task.timeout(Duration::ZERO), |_| ());
    names("node \"a\": timeout", &timed.start().unwrap_err());
    names("cron", &node("a").cron("bad").start().unwrap_err());
}

#[test]
fn a_scheduler_that_is_refused_says_of_what() {
    let refused = |setting: fn(SchedulerBuilder) -> SchedulerBuilder| {
        setting(Scheduler::builder()).build().unwrap_err()
    };
    names(
        "pool",
        &refused(|builder| builder.pool(PoolSpec::named(""))),
    );
    names(
        "label",
        &refused(|builder| builder.pool(PoolSpec::named("a").label("", ""))),
    );
    let twice = refused(|builder| {
        builder
            .pool(PoolSpec::named("a"))
            .pool(PoolSpec::named("a"))
    });
    names("pool", &twice);
    let none = refused(|builder| builder.workers(0)).to_string();
    assert!(
        none.starts_with("workers is 0, but must be from 1 to "),
        "{none}"
    );
}

#[cfg(feature = "serde")]
#[test]
fn a_kind_or_a_definition_that_is_refused_says_of_what() {
    use wheel_runtime::{Breaker, Context, Kind};

    let bed = Bed::inline();
    let nothing = |_: &Context, (): ()| ();
    let kind = || Kind::new("x", nothing);
    let short = Duration::from_micros(1);
    for (field, kind) in [
        ("name", Kind::new("", nothing)),
        ("variant", kind().variant("a", 101, nothing)),
        (
            "variant",
            kind().variant("a", 1, nothing).variant("a", 1, nothing),
        ),
        ("breaker.after", kind().breaker(Breaker::after(0))),
        (
            "breaker.half_open_after",
            kind().breaker(Breaker::after(1).half_open_after(short)),
        ),
        (
            "retry.max_attempts",
            kind().retry(Retry::fixed(SECOND).max_attempts(0)),
        ),
        (
            "on_repeated_failure",
            kind().on_repeated_failure(0, Reaction::archive()),
        ),
        ("fallback_after", kind().fallback_after(0, nothing)),
    ] {
        names(field, &bed.scheduler.register_kind(kind).unwrap_err());
    }
    bed.scheduler.register_kind(kind()).unwrap();
    names("name", &bed.scheduler.register_kind(kind()).unwrap_err());

    let task = || bed.scheduler.task("x").after(SECOND);
    names("kind", &task().submit().unwrap_err());
    names("kind", &task().kind("", &()).submit().unwrap_err());
    names("kind", &task().kind("y", &()).submit().unwrap_err());
    names("kind", &task().kind("x", &()).run(|_| ()).unwrap_err());
    names("payload", &task().kind("x", &7).submit().unwrap_err());
    let with_hook = || task().kind("x", &()).on_dead(|_| ());
    names("on_dead", &with_hook().definition().unwrap_err());
    names(
        "on_dead",
        &with_hook().submit().unwrap().definition().unwrap_err(),
    );
    let unnamed = bed.scheduler.unnamed().after(SECOND).kind("x", &());
    names("id", &unnamed.submit().unwrap().definition().unwrap_err());
    let own = bed.scheduler.after(SECOND, |_| ()).unwrap();
    names("kind", &own.definition().unwrap_err());
}
