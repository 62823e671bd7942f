//! Each attempt has a span of its own, with what one needs to find it again.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use wheel_runtime::{Context, Retry, Scheduler, TaskState};

const HANG: Duration = Duration::from_secs(20);
const MS: Duration = Duration::from_millis(1);

/// The spans of the process by number.
static SPANS: LazyLock<Mutex<HashMap<u64, Seen>>> = LazyLock::new(Mutex::default);

#[derive(Clone, Debug, Default)]
struct Seen {
    fields: HashMap<String, String>,
    entered: u32,
    is_closed: bool,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        self.fields.insert(field.name().to_owned(), text);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let (name, value) = (field.name().to_owned(), value.to_owned());
        self.fields.insert(name, value);
    }
}

/// Collects, and panics at a task that is called so.
struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "wheel"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut seen = Seen::default();
        span.record(&mut seen);
        let panics = seen.fields["task"] == "panics in the subscriber";
        SPANS.lock().unwrap().insert(number, seen);
        assert!(!panics, "of the test");
        Id::from_u64(number)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = SPANS.lock().unwrap();
        values.record(spans.get_mut(&span.into_u64()).unwrap());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        SPANS
            .lock()
            .unwrap()
            .get_mut(&span.into_u64())
            .unwrap()
            .entered += 1;
        HERE.set(span.into_u64());
    }

    fn exit(&self, _: &Id) {
        HERE.set(0);
    }

    fn try_close(&self, span: Id) -> bool {
        let mut spans = SPANS.lock().unwrap();
        spans.get_mut(&span.into_u64()).unwrap().is_closed = true;
        true
    }
}

thread_local! {
    /// The span that this thread is in.
    static HERE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

fn scheduler() -> Scheduler {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Collector).unwrap());
    let builder = Scheduler::builder().workers(2).thread_name("traced");
    builder.build().unwrap()
}

/// Those of a task, attempt by attempt.
fn spans_of(task: &str) -> Vec<Seen> {
    let spans = SPANS.lock().unwrap();
    let mut found: Vec<Seen> = spans
        .values()
        .filter(|seen| seen.fields["task"] == task)
        .cloned()
        .collect();
    found.sort_by_key(|seen| seen.fields["attempt"].clone());
    found
}

#[test]
fn each_attempt_has_a_span_with_its_task_its_numbers_its_times_and_its_end() {
    let scheduler = scheduler();
    let task = scheduler.task("mail-1001").name("mail").after(MS);
    let fails_once = |run: &Context| {
        assert_ne!(HERE.get(), 0, "the handler is inside of the span");
        match run.attempt() {
            1 => Err("no server"),
            _ => Ok(()),
        }
    };
    let task = task.retry(Retry::fixed(MS)).run(fails_once).unwrap();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    scheduler.shutdown(HANG).unwrap();
    let [first, second] = &spans_of("mail-1001")[..] else {
        panic!("two attempts")
    };
    for (seen, attempt) in [(first, "1"), (second, "2")] {
        let field = |name: &str| seen.fields[name].as_str();
        assert_eq!((field("name"), field("run")), ("mail", "1"));
        assert_eq!(field("attempt"), attempt);
        assert!(field("worker").starts_with("traced-worker-"));
        assert!(field("nominal").ends_with('Z') && field("due").ends_with('Z'));
        assert!(seen.is_closed && seen.entered == 1, "{seen:?}");
    }
    assert_eq!(first.fields["outcome"], "retrying");
    assert_eq!(first.fields["error"], "no server");
    assert_eq!(first.fields["nominal"], second.fields["nominal"]);
    assert_eq!(second.fields["outcome"], "succeeded");
    assert!(!second.fields.contains_key("error"));
}

#[test]
fn a_span_ends_with_its_attempt_also_if_the_handler_panics() {
    let scheduler = scheduler();
    let task = scheduler.task("panics").after(MS);
    let task = task.run(|_| -> () { panic!("of the test") }).unwrap();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
    scheduler.shutdown(HANG).unwrap();
    let spans = spans_of("panics");
    assert_eq!(spans.len(), 1);
    assert!(spans[0].is_closed);
    assert_eq!(spans[0].fields["error"], "panicked: of the test");
    assert!(!spans[0].fields.contains_key("name"));
}

#[test]
fn a_subscriber_that_panics_keeps_no_run_from_its_end() {
    let scheduler = scheduler();
    let task = scheduler.task("panics in the subscriber").after(MS);
    let task = task.run(|_| ()).unwrap();
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
    assert!(scheduler.wait_idle_timeout(HANG));
}
