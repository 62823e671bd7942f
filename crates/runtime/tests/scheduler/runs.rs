//! What happens around a run: order, panics, handlers that call back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wheel_runtime::{
    Context, Executor, InlineExecutor, Job, OnConflict, Outcome, Schedule, Scheduler, TaskFilter,
    TaskState,
};

use crate::bed::{Bed, HANG, gate, ms, size};

#[test] // OF-02
fn what_waits_for_a_worker_goes_in_due_order() {
    let bed = Bed::workers(1);
    let record = bed.record();
    let gate = bed.occupy_worker();
    for (name, delay) in [("a", 20), ("b", 10), ("c", 15)] {
        bed.scheduler.after(ms(delay), record.note(name)).unwrap();
    }
    bed.clock.advance(ms(40));
    gate.open();
    bed.settle();
    assert_eq!(record.names(), ["b", "c", "a"]);
}

#[test] // OF-03
fn ten_thousand_due_in_one_tick_on_one_worker_do_not_stop_the_driver() {
    let bed = Bed::workers(1);
    let gate = bed.occupy_worker();
    for _ in 0..10_000 {
        bed.scheduler.after(ms(5), |_| ()).unwrap();
    }
    let next = bed.scheduler.after(ms(6), |_| ()).unwrap();
    bed.clock.advance(ms(5));
    bed.clock.advance(ms(1));
    assert_eq!(next.info().state, TaskState::Queued, "handed over on time");
    assert_eq!(bed.scheduler.stats().queued, 10_001);
    assert_eq!(bed.scheduler.stats().succeeded, 0);
    gate.open();
    bed.settle();
    assert_eq!(bed.scheduler.stats().succeeded, 10_002);
}

#[test]
fn runs_beyond_the_queue_wait_behind_it_and_are_counted() {
    let bed = Bed::with(|builder| builder.workers(1).queue_capacity(10));
    let gate = bed.occupy_worker();
    for _ in 0..25 {
        bed.scheduler.after(ms(1), |_| ()).unwrap();
    }
    bed.clock.advance(ms(1));
    assert_eq!(bed.scheduler.stats().queue_full, 15);
    gate.open();
    bed.settle();
    assert_eq!(bed.scheduler.stats().succeeded, 26);
}

#[test]
fn of_what_is_queued_and_replaced_again_and_again_the_last_runs() {
    let bed = Bed::workers(1);
    let gate = bed.occupy_worker();
    let record = bed.record();
    bed.scheduler.after(ms(1), record.note("kept")).unwrap();
    for _ in 0..20 {
        for id in 0..500 {
            let task = bed.scheduler.task(id.to_string()).after(Duration::ZERO);
            let task = task.on_conflict(OnConflict::Replace);
            task.run(record.note("last")).unwrap();
        }
        bed.clock.advance(ms(1));
    }
    let stats = bed.scheduler.stats();
    assert_eq!((stats.queued, stats.cancelled), (501, 9_500));
    gate.open();
    bed.settle();
    assert_eq!(record.times("last").len(), 500);
    assert_eq!(record.times("kept").len(), 1);
}

#[test] // HP-01
fn a_panic_is_a_failed_run_and_the_next_ones_come() {
    let bed = Bed::workers(1);
    let handler = |context: &Context| assert_ne!(context.run(), 1, "of the test");
    let task = bed.scheduler.every(ms(10), handler).unwrap();
    bed.walk(20, ms(10));
    let info = task.info();
    assert_eq!((info.runs, info.failed, info.succeeded), (20, 1, 19));
    assert!(info.last_error.unwrap().contains("of the test"));
    assert_eq!(bed.scheduler.stats().panicked, 1);
}

#[test] // HP-03
fn a_handler_that_hangs_holds_one_worker_only() {
    let bed = Bed::workers(4);
    let (gate, keeper) = gate();
    let hangs = move |context: &Context| keeper.pass(context);
    bed.scheduler.after(ms(1), hangs).unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..1_000 {
        let done = done.clone();
        let count = move |_: &Context| {
            done.fetch_add(1, Ordering::SeqCst);
        };
        bed.scheduler.after(ms(5), count).unwrap();
    }
    bed.clock.advance(ms(5));
    gate.wait_started();
    while done.load(Ordering::SeqCst) < 1_000 {
        std::thread::yield_now();
    }
    gate.open();
}

#[test]
fn outcomes_decide_how_a_task_ends() {
    let bed = Bed::inline();
    let good = bed.scheduler.after(ms(1), |_| Ok::<(), &str>(()));
    let bad = bed.scheduler.after(ms(1), |_| Err::<(), _>("no paper"));
    let said = bed
        .scheduler
        .after(ms(1), |_| Outcome::Failure("said so".into()));
    bed.clock.run_for(ms(1));
    assert_eq!(good.unwrap().wait(), TaskState::Succeeded);
    let bad = bad.unwrap();
    assert_eq!(bad.wait(), TaskState::Failed);
    assert_eq!(bad.info().last_error.as_deref(), Some("no paper"));
    assert_eq!(said.unwrap().wait(), TaskState::Failed);
}

#[test]
fn the_context_tells_the_run() {
    let bed = Bed::workers(1);
    let start = bed.clock.wall();
    let (sent, got) = std::sync::mpsc::channel();
    let handler = move |context: &Context| {
        let id = context.id().to_owned();
        sent.send((id, context.run(), context.nominal(), context.lateness()))
            .unwrap();
    };
    let task = bed.scheduler.task("x").every(ms(10)).run(handler).unwrap();
    bed.jump(ms(10));
    bed.jump(ms(13));
    assert_eq!(got.recv(), Ok(("x".into(), 1, start + ms(10), ms(0))));
    assert_eq!(got.recv(), Ok(("x".into(), 2, start + ms(20), ms(3))));
    assert_eq!(
        task.info().last_run.map(|run| run.started),
        Some(start + ms(23))
    );
}

#[test]
fn what_was_written_before_is_seen_by_the_handler_and_what_it_wrote_after_wait() {
    let bed = Bed::workers(2);
    for n in 0..200 {
        let cell = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        // Relaxed, so that only the scheduler orders them.
        cell.0.store(n, Ordering::Relaxed);
        let inside = cell.clone();
        let handler = move |_: &Context| {
            let seen = inside.0.load(Ordering::Relaxed);
            inside.1.store(seen + 1, Ordering::Relaxed);
        };
        let task = bed.scheduler.after(Duration::ZERO, handler).unwrap();
        assert_eq!(task.wait(), TaskState::Succeeded);
        assert_eq!(cell.1.load(Ordering::Relaxed), n + 1);
    }
}

#[test] // RE-02
fn a_handler_may_cancel_replace_list_add_and_wait() {
    for kind in [Schedule::after(ms(10)), Schedule::every(ms(10))] {
        let bed = Bed::workers(1);
        let record = bed.record();
        let (scheduler, notes) = (bed.scheduler.clone(), record.clone());
        let handler = move |context: &Context| {
            let own = scheduler.handle(context.id()).unwrap();
            assert_eq!(own.wait(), TaskState::Running, "does not wait for itself");
            assert!(scheduler.wait_idle_timeout(HANG), "nor here");
            assert_eq!(scheduler.tasks(&TaskFilter::all()).len(), 1);
            let _ = scheduler.cancel(context.id());
            let again = scheduler.task("x").after(ms(5));
            again.run(notes.note("again")).unwrap();
            let replaced = scheduler
                .task("x")
                .after(ms(7))
                .on_conflict(OnConflict::Replace);
            replaced.run(notes.note("replaced")).unwrap();
            scheduler.after(ms(1), notes.note("other")).unwrap();
            let _ = scheduler.stats();
        };
        bed.scheduler.task("x").schedule(kind).run(handler).unwrap();
        bed.walk(100, ms(1));
        assert_eq!(record.times("other"), [11]);
        assert_eq!(record.times("replaced"), [17]);
        assert_eq!(record.len(), 2);
        assert_eq!(bed.scheduler.stats().panicked, 0);
    }
}

#[test] // RE-04
fn a_chain_that_adds_itself_neither_grows_the_stack_nor_starves_others() {
    fn link(scheduler: &Scheduler, left: &Arc<AtomicUsize>) {
        if left.fetch_sub(1, Ordering::SeqCst) > 1 {
            let (next, count) = (scheduler.clone(), left.clone());
            let added = scheduler.after(Duration::ZERO, move |_| link(&next, &count));
            added.unwrap();
        }
    }
    let bed = Bed::inline();
    let record = bed.record();
    let left = Arc::new(AtomicUsize::new(size(30_000, 100_000)));
    bed.scheduler.after(ms(50), record.note("after")).unwrap();
    bed.scheduler.every(ms(10), record.note("every")).unwrap();
    link(&bed.scheduler, &left);
    bed.clock.run_for(ms(100));
    assert_eq!(left.load(Ordering::SeqCst), 0);
    assert_eq!(record.times("after"), [50]);
    assert_eq!(record.times("every").len(), 10);
}

#[test]
fn a_captured_value_whose_drop_calls_back_or_panics_harms_nothing() {
    struct Bomb(Scheduler);
    impl Drop for Bomb {
        fn drop(&mut self) {
            let _ = self.0.tasks(&TaskFilter::all());
            panic!("of the test");
        }
    }
    let bed = Bed::workers(1);
    let bomb = Bomb(bed.scheduler.clone());
    let task = bed.scheduler.after(ms(1), move |_| {
        let _ = &bomb;
    });
    bed.jump(ms(1));
    assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
    let record = bed.record();
    bed.scheduler.after(ms(1), record.note("next")).unwrap();
    bed.jump(ms(1));
    assert_eq!(record.len(), 1);
}

#[test]
fn an_executor_that_drops_runs_has_refused_them() {
    struct Refuses;
    impl Executor for Refuses {
        fn execute(&self, jobs: &mut Vec<Job>) {
            jobs.pop();
        }
    }
    let bed = Bed::with(|builder| builder.executor(Refuses));
    let record = bed.record();
    let once = bed.scheduler.after(ms(10), record.note("x")).unwrap();
    let every = bed.scheduler.every(ms(10), record.note("x")).unwrap();
    bed.jump(ms(10));
    bed.jump(ms(10));
    assert_eq!(once.wait_timeout(HANG), Some(TaskState::Skipped));
    assert_eq!(
        (every.info().state, every.info().skipped),
        (TaskState::Scheduled, 2)
    );
    assert_eq!(record.len(), 0);
}

#[test]
fn an_executor_that_panics_does_not_end_the_engine() {
    struct Panics;
    impl Executor for Panics {
        fn execute(&self, jobs: &mut Vec<Job>) {
            if jobs.len() == 2 {
                panic!("of the test");
            }
            InlineExecutor.execute(jobs);
        }
    }
    let bed = Bed::with(|builder| builder.executor(Panics));
    let record = bed.record();
    bed.scheduler.after(ms(1), record.note("x")).unwrap();
    bed.scheduler.after(ms(1), record.note("x")).unwrap();
    bed.scheduler.after(ms(2), record.note("y")).unwrap();
    bed.clock.run_for(ms(2));
    assert_eq!(record.names(), ["y"]);
}
