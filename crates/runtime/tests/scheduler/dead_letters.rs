//! Runs that were given up: kept within a bound, replayed, purged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use wheel_runtime::{
    CancelOutcome, Context, GaveUp, InlineExecutor, Outcome, ReplayError, Retry, Scheduler,
    TaskState,
};

use crate::bed::{Bed, gate, ms};

fn twice() -> Retry {
    Retry::fixed(ms(5)).max_attempts(2)
}

/// A task that is dead 6 ms after it was added.
fn dead(bed: &Bed, id: &str) {
    let builder = bed.scheduler.task(id).after(ms(1)).retry(twice());
    builder.run(|_| Err("no paper")).unwrap();
    bed.clock.run_for(ms(6));
}

fn ids(bed: &Bed) -> Vec<String> {
    let letters = bed.scheduler.dead_letters().list();
    letters.into_iter().map(|letter| letter.task).collect()
}

#[test]
fn a_letter_tells_what_happened() {
    let bed = Bed::inline();
    let start = bed.clock.wall();
    let kinds = [
        (
            "attempts",
            Retry::fixed(ms(5)).max_attempts(2),
            GaveUp::OutOfAttempts,
            2,
        ),
        (
            "time",
            Retry::fixed(ms(5)).max_elapsed(ms(12)),
            GaveUp::OutOfTime,
            3,
        ),
        (
            "kind",
            Retry::fixed(ms(5)).retry_if(|_| false),
            GaveUp::NotRetryable,
            1,
        ),
        ("word", Retry::fixed(ms(5)), GaveUp::Permanent, 1),
    ];
    for (id, retry, _, _) in &kinds {
        let handler = |run: &Context| match run.id() {
            "word" => Outcome::Permanent("no".into()),
            _ => Outcome::Failure("no".into()),
        };
        let builder = bed.scheduler.task(*id).after(ms(10)).retry(retry.clone());
        builder.run(handler).unwrap();
    }
    bed.clock.run_for(ms(100));
    let letters = bed.scheduler.dead_letters().list();
    for (id, _, gave_up, attempts) in kinds {
        let letter = letters.iter().find(|letter| letter.task == id).unwrap();
        assert_eq!((letter.run, letter.nominal), (1, start + ms(10)));
        assert_eq!(
            (letter.last.gave_up, letter.last.attempts),
            (gave_up, attempts)
        );
        assert_eq!((letter.last.error.as_str(), letter.replays), ("no", 0));
        assert_eq!(letter.last.first_start, start + ms(10));
        assert_eq!(letter.last.at, start + ms(10 + 5 * u64::from(attempts - 1)));
        assert!(letter.earlier.is_empty());
    }
}

#[test] // RB-07
fn each_replay_has_all_attempts_and_the_letter_comes_back_with_its_history() {
    let bed = Bed::inline();
    let calls = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&calls);
    let handler = move |run: &Context| {
        assert_eq!(run.id(), "print");
        Err(format!(
            "call {}",
            counts.fetch_add(1, Ordering::Relaxed) + 1
        ))
    };
    let retry = Retry::fixed(ms(5)).max_attempts(3);
    bed.scheduler
        .task("print")
        .after(ms(1))
        .retry(retry)
        .run(handler)
        .unwrap();
    bed.clock.run_for(ms(100));
    let letter = bed.scheduler.dead_letters().list().remove(0);
    for replay in 1..=3 {
        let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
        assert_eq!(again.id(), "print");
        assert_eq!(bed.scheduler.stats().dead_letters, 0);
        bed.clock.run_for(ms(100));
        assert_eq!(again.wait(), TaskState::Dead);
        assert_eq!(calls.load(Ordering::Relaxed), 3 * (replay + 1));
        let letters = bed.scheduler.dead_letters().list();
        assert_eq!((letters.len(), letters[0].id), (1, letter.id));
        assert_eq!(letters[0].replays, u64::from(replay));
        assert_eq!(letters[0].nominal, letter.nominal);
        let all = letters[0].earlier.iter().chain([&letters[0].last]);
        let errors: Vec<String> = all.map(|death| death.error.clone()).collect();
        let wanted: Vec<String> = (1..=replay + 1)
            .map(|n| format!("call {}", 3 * n))
            .collect();
        assert_eq!(errors, wanted);
    }
    let stats = bed.scheduler.stats();
    assert_eq!((stats.runs, stats.dead, stats.retried), (4, 4, 8));
    // The history is bounded as well.
    for _ in 0..20 {
        bed.scheduler.dead_letters().replay(letter.id).unwrap();
        bed.clock.run_for(ms(100));
    }
    let letters = bed.scheduler.dead_letters().list();
    assert_eq!((letters[0].earlier.len(), letters[0].replays), (15, 23));
    assert_eq!(letters[0].last.error, "call 72");
}

#[test]
fn a_replay_that_succeeds_leaves_nothing_and_has_the_key_of_the_first_run() {
    let bed = Bed::inline();
    let (seen, keys) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(std::sync::Mutex::new(Vec::new())),
    );
    let (sees, notes) = (Arc::clone(&seen), Arc::clone(&keys));
    let handler = move |run: &Context| {
        notes.lock().unwrap().push(run.idempotency_key());
        if sees.fetch_add(1, Ordering::Relaxed) < 2 {
            Err("no paper")
        } else {
            Ok(())
        }
    };
    // Without a name: its number is its id again.
    let task = bed
        .scheduler
        .unnamed()
        .after(ms(1))
        .retry(twice())
        .run(handler)
        .unwrap();
    bed.clock.run_for(ms(1000));
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(letter.task, task.id());
    let again = bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(1));
    assert_eq!(
        (again.id(), again.wait()),
        (task.id(), TaskState::Succeeded)
    );
    assert!(bed.scheduler.dead_letters().list().is_empty());
    let keys = keys.lock().unwrap();
    assert_eq!(keys.len(), 3);
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    let missing = bed.scheduler.dead_letters().replay(letter.id).unwrap_err();
    assert_eq!(missing, ReplayError::NotFound);
    // Its handle is that of another task; the first one stays as it was.
    assert_eq!(task.wait(), TaskState::Dead);
}

#[test]
fn the_run_of_a_live_task_is_replayed_beside_its_schedule_and_never_twice_at_once() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    let (is_broken, now) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU32::new(0)));
    let (broken, inside) = (Arc::clone(&is_broken), Arc::clone(&now));
    let handler = move |run: &Context| {
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
        let outcome = if broken.load(Ordering::SeqCst) == 1 {
            Err("no paper")
        } else {
            keeper.pass(run);
            Ok(())
        };
        inside.fetch_sub(1, Ordering::SeqCst);
        outcome
    };
    let builder = bed.scheduler.task("print").every(ms(100));
    let task = builder
        .retry(Retry::fixed(ms(5)).max_attempts(1))
        .run(handler)
        .unwrap();
    bed.walk(2, ms(100));
    is_broken.store(0, Ordering::SeqCst);
    let letters = bed.scheduler.dead_letters().list();
    let runs: Vec<u64> = letters.iter().map(|letter| letter.run).collect();
    assert_eq!(runs, [1, 2]);
    let replay = |letter: usize| bed.scheduler.dead_letters().replay(letters[letter].id);
    let again = replay(0).unwrap();
    assert_eq!(again.id(), "print");
    gate.wait_started();
    let busy = replay(1).unwrap_err();
    assert_eq!(busy, ReplayError::Busy);
    assert!(busy.may_succeed_later());
    assert_eq!(bed.scheduler.stats().dead_letters, 1);
    // Due meanwhile, and left out.
    bed.clock.advance(ms(100));
    gate.open();
    bed.settle();
    assert_eq!((task.info().runs, task.info().skipped), (3, 1));
    replay(1).unwrap();
    gate.open();
    bed.settle();
    assert_eq!(
        (task.info().runs, task.info().state),
        (4, TaskState::Scheduled)
    );
    assert_eq!(task.info().next_in, Some(ms(100)));
    assert_eq!(bed.scheduler.stats().dead_letters, 0);
}

#[test]
fn a_replay_of_a_task_without_a_name_has_its_number_and_is_another_task() {
    let bed = Bed::inline();
    let task = bed.scheduler.unnamed().every(ms(100)).count(2);
    let task = task.retry(twice()).run(|_| Err("no paper")).unwrap();
    bed.clock.run_for(ms(300));
    let letters = bed.scheduler.dead_letters().list();
    let again = bed.scheduler.dead_letters().replay(letters[0].id).unwrap();
    assert_eq!(again.id(), task.id());
    bed.settle(); // It waits for its second attempt, and is found by its number.
    let found = bed.scheduler.get(task.id()).unwrap();
    assert_eq!(found.state, TaskState::Retrying);
    let replay_second = || bed.scheduler.dead_letters().replay(letters[1].id);
    let taken = ReplayError::DuplicateId(task.id().to_owned());
    assert_eq!(replay_second().unwrap_err(), taken);
    assert_eq!(task.info().runs, 2);
    bed.clock.run_for(ms(100));
    assert_eq!(again.wait(), TaskState::Dead);
    replay_second().unwrap();
}

#[test]
fn a_replay_does_not_take_the_id_of_another_task_and_the_letter_keeps_its_place() {
    let bed = Bed::inline();
    ["a", "b", "c"].iter().for_each(|id| dead(&bed, id));
    let letter = bed.scheduler.dead_letters().list()[1].clone();
    let other = bed.scheduler.task("b").after(ms(1000)).run(|_| ()).unwrap();
    let taken = bed.scheduler.dead_letters().replay(letter.id).unwrap_err();
    assert_eq!(taken, ReplayError::DuplicateId("b".into()));
    assert_eq!(ids(&bed), ["a", "b", "c"]);
    assert_eq!(other.cancel(), CancelOutcome::Cancelled);
    bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(ids(&bed), ["a", "c", "b"]);
}

#[test]
fn a_replay_counts_against_the_limit_of_tasks() {
    let bed = Bed::with(|builder| builder.executor(InlineExecutor).max_tasks(1));
    dead(&bed, "a");
    let letter = bed.scheduler.dead_letters().list()[0].id;
    let other = bed.scheduler.task("b").after(ms(1000)).run(|_| ()).unwrap();
    let full = bed.scheduler.dead_letters().replay(letter).unwrap_err();
    assert_eq!(full, ReplayError::Full);
    assert_eq!(ids(&bed), ["a"]);
    let _ = other.cancel();
    bed.scheduler.dead_letters().replay(letter).unwrap();
    let refused = bed
        .scheduler
        .task("b")
        .after(ms(1))
        .run(|_| ())
        .unwrap_err();
    assert!(refused.may_succeed_later());
    bed.clock.run_for(ms(100));
    assert_eq!(ids(&bed), ["a"]);
}

#[test]
fn beyond_the_bound_the_oldest_goes_and_is_counted() {
    let bed = Bed::with(|builder| builder.executor(InlineExecutor).dead_letters(3));
    for id in ["a", "b", "c", "d", "e"] {
        dead(&bed, id);
    }
    assert_eq!(ids(&bed), ["c", "d", "e"]);
    let stats = bed.scheduler.stats();
    assert_eq!(
        (stats.dead, stats.dead_letters, stats.dead_letters_dropped),
        (5, 3, 2)
    );
    let none = Bed::with(|builder| builder.executor(InlineExecutor).dead_letters(0));
    dead(&none, "a");
    assert!(ids(&none).is_empty());
    let stats = none.scheduler.stats();
    assert_eq!(
        (stats.dead, stats.dead_letters, stats.dead_letters_dropped),
        (1, 0, 1)
    );
    let refused = Scheduler::builder()
        .dead_letters(usize::MAX)
        .build()
        .unwrap_err();
    assert!(refused.to_string().contains("dead_letters"), "{refused}");
}

#[test]
fn a_letter_holds_its_handler_until_it_goes() {
    let bed = Bed::with(|builder| builder.executor(InlineExecutor).dead_letters(2));
    let held = Arc::new(());
    let add = |id: &str| {
        let holds = Arc::clone(&held);
        let builder = bed.scheduler.task(id).after(ms(1)).retry(twice());
        let task = builder.run(move |_| {
            let _ = &holds;
            Err("no")
        });
        bed.clock.run_for(ms(10));
        assert_eq!(task.unwrap().wait(), TaskState::Dead);
    };
    ["a", "b", "c"].into_iter().for_each(add);
    assert_eq!(Arc::strong_count(&held), 1 + 2);
    assert_eq!(bed.scheduler.dead_letters().purge(), 2);
    assert_eq!(Arc::strong_count(&held), 1);
    assert!(ids(&bed).is_empty());
    assert_eq!(bed.scheduler.stats().dead_letters_dropped, 1);
    add("d");
    assert_eq!(Arc::strong_count(&held), 1 + 1);
    bed.scheduler.shutdown(Duration::ZERO).unwrap();
    assert_eq!(Arc::strong_count(&held), 1);
    // What is known stays.
    let letters = bed.scheduler.dead_letters().list();
    assert_eq!((letters.len(), letters[0].task.as_str()), (1, "d"));
    let refused = bed
        .scheduler
        .dead_letters()
        .replay(letters[0].id)
        .unwrap_err();
    assert_eq!(refused, ReplayError::ShuttingDown);
    assert_eq!(bed.scheduler.dead_letters().list(), letters);
}

#[test]
fn a_run_that_dies_within_the_grace_of_a_shutdown_is_listed_and_holds_nothing() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let held = Arc::new(());
    let holds = Arc::clone(&held);
    let handler = move |run: &Context| {
        let _ = &holds;
        keeper.pass(run);
        Err("no paper")
    };
    let builder = bed.scheduler.task("x").after(ms(1));
    builder
        .retry(Retry::fixed(ms(1)).max_attempts(1))
        .run(handler)
        .unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    std::thread::scope(|scope| {
        let shutdown = scope.spawn(|| bed.scheduler.shutdown(crate::bed::HANG));
        while bed.scheduler.get("x").is_some() {
            std::thread::yield_now();
        }
        gate.open();
        let report = shutdown.join().unwrap().unwrap();
        assert!(report.interrupted.is_empty());
    });
    assert_eq!(ids(&bed), ["x"]);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_replay_that_is_cancelled_before_it_begins_is_gone() {
    let bed = Bed::workers(1);
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(twice().max_attempts(1));
    let task = task.run(|_| Err("no")).unwrap();
    bed.jump(ms(1));
    assert_eq!(task.wait(), TaskState::Dead);
    let gate = bed.occupy_worker();
    let letter = bed.scheduler.dead_letters().list()[0].id;
    let again = bed.scheduler.dead_letters().replay(letter).unwrap();
    bed.clock.advance(ms(0));
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    gate.open();
    bed.settle();
    assert_eq!(again.wait(), TaskState::Cancelled);
    let stats = bed.scheduler.stats();
    // It never began, so it is not given up either.
    assert_eq!((stats.dead_letters, stats.abandoned, stats.dead), (0, 0, 1));
}

#[test]
fn threads_that_replay_and_purge_at_once_run_each_letter_once_or_drop_it() {
    let bed = Bed::workers(4);
    let ran = Arc::new(AtomicU64::new(0));
    let letters = 200;
    for n in 0..letters {
        let counts = Arc::clone(&ran);
        let builder = bed.scheduler.task(format!("t{n}")).after(ms(1));
        let handler = move |run: &Context| {
            counts.fetch_add(1, Ordering::Relaxed);
            if run.last_error().is_none() {
                Err("no")
            } else {
                Ok(())
            }
        };
        builder.retry(twice().max_attempts(1)).run(handler).unwrap();
    }
    bed.jump(ms(1));
    let ids: Vec<_> = bed
        .scheduler
        .dead_letters()
        .list()
        .iter()
        .map(|l| l.id)
        .collect();
    assert_eq!(ids.len(), letters);
    let (replayed, purged) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for id in &ids {
                    if bed.scheduler.dead_letters().replay(*id).is_ok() {
                        replayed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        scope.spawn(|| {
            std::thread::yield_now();
            let count = bed.scheduler.dead_letters().purge() as u64;
            purged.fetch_add(count, Ordering::Relaxed);
        });
    });
    bed.clock.advance(ms(0));
    bed.settle();
    let purged = purged.load(Ordering::Relaxed) + bed.scheduler.dead_letters().purge() as u64;
    let replayed = replayed.load(Ordering::Relaxed);
    assert_eq!(replayed + purged, letters as u64);
    assert_eq!(ran.load(Ordering::Relaxed), letters as u64 + replayed);
}
