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
    /// How many there are of it.
    handles: u32,
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

/// Tasks at which the collector panics.
const PANICKING: [&str; 3] = [
    "panics in the subscriber",
    "panics at the entry",
    "panics at the exit",
];

/// Collects, and panics at tasks that are called so.
struct Collector;

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "wheel"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut seen = Seen {
            handles: 1,
            ..Seen::default()
        };
        span.record(&mut seen);
        let panics = seen.fields["task"] == "panics in the subscriber";
        SPANS.lock().unwrap().insert(number, seen);
        assert!(!panics, "of the test");
        Id::from_u64(number)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        with(span, |seen| values.record(seen));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        let panics = with(span, |seen| {
            seen.entered += 1;
            seen.fields["task"] == "panics at the entry"
        });
        assert!(!panics, "of the test");
        HERE.set(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        HERE.set(0);
        let panics = with(span, |seen| seen.fields["task"] == "panics at the exit");
        assert!(!panics, "of the test");
    }

    fn clone_span(&self, span: &Id) -> Id {
        with(span, |seen| seen.handles += 1);
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        with(&span, |seen| {
            seen.handles -= 1;
            seen.is_closed = seen.handles == 0;
            seen.is_closed
        })
    }
}

fn with<R>(span: &Id, look: impl FnOnce(&mut Seen) -> R) -> R {
    let mut spans = SPANS.lock().unwrap();
    look(spans.get_mut(&span.into_u64()).unwrap())
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
    for task in PANICKING {
        let task = scheduler.task(task).after(MS);
        let task = task.run(|_| ()).unwrap();
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
        assert!(scheduler.wait_idle_timeout(HANG));
    }
}

/// Futures are polled by hand.
#[cfg(feature = "async")]
mod futures {
    use std::future::{pending, poll_fn};
    use std::pin::Pin;
    use std::sync::mpsc::{Receiver, channel};
    use std::task::{Context as PollContext, Poll, Waker};

    use wheel_runtime::RunFuture;

    use super::*;

    fn by_hand() -> (impl Fn(RunFuture) + Send + Sync, Receiver<RunFuture>) {
        let (sender, runs) = channel();
        let sender = Mutex::new(sender);
        let spawner = move |run| {
            assert_ne!(HERE.get(), 0, "the spawner is inside of the span");
            sender.lock().unwrap().send(run).unwrap();
        };
        (spawner, runs)
    }

    fn poll(run: &mut RunFuture) -> Poll<()> {
        let polled = Pin::new(run).poll(&mut PollContext::from_waker(Waker::noop()));
        assert_eq!(HERE.get(), 0, "outside of a poll nobody is inside");
        polled
    }

    #[test]
    fn each_poll_of_a_future_is_inside_of_the_span_of_its_attempt() {
        let scheduler = scheduler();
        let (spawner, runs) = by_hand();
        let task = scheduler.task("future").name("mail").after(MS);
        let handler = |run: Context| {
            let (span, attempt) = (HERE.get(), run.attempt());
            assert_ne!(span, 0, "the handler is inside of the span");
            let mut polls = 0;
            poll_fn(move |_| {
                assert_eq!(HERE.get(), span);
                polls += 1;
                match (attempt, polls) {
                    (_, 1 | 2) => Poll::Pending,
                    (1, _) => Poll::Ready(Err("no server")),
                    _ => Poll::Ready(Ok(())),
                }
            })
        };
        let retry = Retry::fixed(MS);
        let task = task.retry(retry).run_async(handler, spawner).unwrap();
        let start = |attempt: &str| {
            let run = runs.recv_timeout(HANG).unwrap();
            let spans = spans_of("future");
            let of_attempt = |seen: &&Seen| seen.fields["attempt"] == attempt;
            assert!(!spans.iter().find(of_attempt).unwrap().is_closed);
            run
        };
        for attempt in ["1", "2"] {
            let mut run = start(attempt);
            assert!(poll(&mut run).is_pending());
            // By any thread.
            let moved = std::thread::spawn(move || {
                assert!(poll(&mut run).is_pending());
                run
            });
            run = moved.join().unwrap();
            assert!(poll(&mut run).is_ready());
        }
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
        scheduler.shutdown(HANG).unwrap();
        let [first, second] = &spans_of("future")[..] else {
            panic!("two attempts")
        };
        for seen in [first, second] {
            assert!(seen.fields["worker"].starts_with("traced-worker-"));
            assert!(seen.is_closed && seen.entered == 1 + 3, "{seen:?}");
        }
        assert_eq!(first.fields["outcome"], "retrying");
        assert_eq!(first.fields["error"], "no server");
        assert_eq!(second.fields["outcome"], "succeeded");
    }

    #[test]
    fn a_future_that_its_runtime_drops_ends_its_span_with_the_error() {
        let scheduler = scheduler();
        let (spawner, runs) = by_hand();
        let task = scheduler.task("dropped").after(MS);
        let task = task.run_async(|_| pending::<()>(), spawner).unwrap();
        let mut run = runs.recv_timeout(HANG).unwrap();
        assert!(poll(&mut run).is_pending());
        drop(run);
        assert_eq!(HERE.get(), 0);
        assert_eq!(task.wait_timeout(HANG), Some(TaskState::Failed));
        scheduler.shutdown(HANG).unwrap();
        let spans = spans_of("dropped");
        assert!(spans.len() == 1 && spans[0].is_closed);
        assert_eq!(spans[0].fields["outcome"], "failed");
        assert!(spans[0].fields["error"].contains("dropped the run"));
    }

    #[test]
    fn a_subscriber_that_panics_keeps_no_future_from_its_end() {
        let scheduler = scheduler();
        for task in PANICKING {
            let task = scheduler.task(task).after(MS);
            let (sender, runs) = channel();
            let sender = Mutex::new(sender);
            let spawner = move |run| sender.lock().unwrap().send(run).unwrap();
            let task = task.run_async(|_| std::future::ready(()), spawner).unwrap();
            assert!(poll(&mut runs.recv_timeout(HANG).unwrap()).is_ready());
            assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
            assert!(scheduler.wait_idle_timeout(HANG));
        }
    }
}
