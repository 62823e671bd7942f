//! Names: unique among live tasks, and free again afterwards.

use wheel_runtime::{
    CancelOutcome, Context, OnConflict, Retry, SubmitError, TaskFilter, TaskState,
};

use crate::bed::{Bed, HANG, gate, ms};

#[test] // DU-01
fn a_second_task_of_the_same_id_is_refused() {
    let bed = Bed::inline();
    let record = bed.record();
    let add = || bed.scheduler.task("x").every(ms(50)).run(record.note("x"));
    add().unwrap();
    let refused = add().unwrap_err();
    assert_eq!(refused, SubmitError::DuplicateId("x".into()));
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.len(), 20);
    assert_eq!(bed.scheduler.tasks(&TaskFilter::all()).len(), 1);
}

#[test]
fn replace_cancels_the_old_task_and_keep_returns_it() {
    let bed = Bed::inline();
    let record = bed.record();
    let add = |name: &str, on_conflict| {
        let task = bed.scheduler.task("x").after(ms(10));
        task.on_conflict(on_conflict)
            .run(record.note(name))
            .unwrap()
    };
    let old = add("old", OnConflict::Refuse);
    let kept = add("kept", OnConflict::Keep);
    assert_eq!(kept.info().state, TaskState::Scheduled);
    let new = add("new", OnConflict::Replace);
    assert_eq!(old.info().state, TaskState::Cancelled);
    assert_eq!(kept.info().state, TaskState::Cancelled);
    bed.clock.run_for(ms(10));
    assert_eq!(record.names(), ["new"]);
    assert_eq!(new.info().state, TaskState::Succeeded);
}

#[test]
fn a_replaced_task_whose_drop_panics_does_not_keep_the_new_one_from_running() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("of the test");
        }
    }
    let bed = Bed::inline();
    let (record, bomb) = (bed.record(), Bomb);
    let old = move |_: &Context| {
        let _ = &bomb;
    };
    bed.scheduler.task("x").after(ms(5)).run(old).unwrap();
    let new = bed.scheduler.task("x").on_conflict(OnConflict::Replace);
    new.after(ms(10)).run(record.note("new")).unwrap();
    bed.clock.run_for(ms(20));
    assert_eq!(record.times("new"), [10]);
}

#[test] // HD-02
fn the_id_of_a_cancelled_task_belongs_to_the_new_one_alone() {
    let bed = Bed::inline();
    let record = bed.record();
    let add = |name: &str, delay| {
        let task = bed.scheduler.task("x").after(ms(delay));
        task.run(record.note(name)).unwrap()
    };
    let old = add("a", 60);
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    add("b", 150);
    assert_eq!(
        old.cancel(),
        CancelOutcome::NotFound,
        "a handle names its own task"
    );
    bed.clock.run_for(ms(500));
    assert_eq!(record.times("b"), [150]);
    assert_eq!(record.len(), 1);
}

#[test] // DU-09
fn an_id_runs_again_after_it_completed_and_after_it_was_cancelled() {
    let bed = Bed::inline();
    let record = bed.record();
    let add = || {
        let task = bed.scheduler.task("x").after(ms(100));
        task.run(record.note("x")).unwrap()
    };
    add();
    bed.clock.run_for(ms(100));
    add();
    bed.clock.run_for(ms(50));
    assert_eq!(bed.scheduler.cancel("x"), CancelOutcome::Cancelled);
    add();
    bed.clock.run_for(ms(1_000));
    assert_eq!(record.times("x"), [100, 250]);
}

#[test] // DU-08
fn an_id_is_free_again_however_its_task_ended() {
    type End = fn(&Context) -> Result<(), &'static str>;
    let bed = Bed::inline();
    let ends: [End; 3] = [
        |_| Ok(()),
        |_| Err("out of paper"),
        |_| panic!("out of ink"),
    ];
    for (end, state) in
        ends.into_iter()
            .zip([TaskState::Succeeded, TaskState::Failed, TaskState::Failed])
    {
        let task = bed.scheduler.task("x").after(ms(1)).run(end).unwrap();
        bed.clock.run_for(ms(1));
        assert_eq!(task.info().state, state);
    }
    let once = Retry::fixed(ms(1)).max_attempts(1);
    let dead = bed.scheduler.task("x").after(ms(1)).retry(once);
    let dead = dead.run(|_| Err("for good")).unwrap();
    bed.clock.run_for(ms(1));
    assert_eq!(dead.info().state, TaskState::Dead);
    bed.scheduler.task("x").after(ms(1)).run(|_| ()).unwrap();
}

#[test] // HD-07
fn a_used_id_never_runs_early() {
    let bed = Bed::inline();
    let record = bed.record();
    for round in 0..2_000_u64 {
        let short = bed.scheduler.task("x").after(ms(1));
        short.run(|_| ()).unwrap();
        if round % 2 == 0 {
            bed.clock.run_for(ms(round % 3));
        }
        let _ = bed.scheduler.cancel("x");
        let due = bed.clock.now() + ms(20);
        let clock = bed.clock.clone();
        let late = record.clone();
        let handler = move |_: &Context| match clock.now() == due {
            true => late.add("exact"),
            false => late.add("off"),
        };
        bed.scheduler.task("x").after(ms(20)).run(handler).unwrap();
        bed.clock.run_for(ms(20));
    }
    assert_eq!(record.times("exact").len(), 2_000);
    assert_eq!(record.len(), 2_000);
}

#[test] // DU-06
fn many_threads_replacing_one_id_that_is_due_do_not_deadlock() {
    let bed = Bed::workers(2);
    let record = bed.record();
    let wall = bed.clock.wall();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let task = bed.scheduler.task("x").at(wall);
                    let task = task.on_conflict(OnConflict::Replace);
                    task.run(record.note("x")).unwrap();
                }
            });
        }
    });
    bed.settle();
    assert!((1..=1_600).contains(&record.len()), "{}", record.len());
    assert_eq!(bed.scheduler.get("x"), None);
    assert!(bed.scheduler.wait_empty_timeout(HANG));
}

#[test]
fn names_that_look_like_numbers_and_empty_ones_are_refused() {
    let bed = Bed::inline();
    for id in ["", "#17"] {
        let refused = bed.scheduler.task(id).after(ms(1)).run(|_| ());
        assert_eq!(refused.unwrap_err(), SubmitError::InvalidId(id.into()));
    }
    let nothing = bed.scheduler.task("x").run(|_| ());
    assert_eq!(nothing.unwrap_err(), SubmitError::NoSchedule);
}

#[test]
fn tasks_without_a_name_are_found_by_their_number() {
    let bed = Bed::inline();
    let (one, two) = (
        bed.scheduler.after(ms(10), |_| ()),
        bed.scheduler.after(ms(20), |_| ()),
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_ne!(one.id(), two.id());
    assert_eq!(bed.scheduler.get(two.id()).unwrap().next_in, Some(ms(20)));
    assert_eq!(bed.scheduler.cancel(one.id()), CancelOutcome::Cancelled);
    assert_eq!(bed.scheduler.get(one.id()), None);
}

#[test] // HD-08
fn a_listing_gives_each_id_its_own_due() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let busy = move |context: &Context| keeper.pass(context);
    bed.scheduler.task("busy").after(ms(1)).run(busy).unwrap();
    bed.clock.advance(ms(1));
    gate.wait_started();
    let delays = [
        2,
        900,
        1_100,
        61_000,
        3_599_000,
        3_601_000,
        86_399_000,
        86_401_000,
        1 << 40,
        1 << 43,
    ];
    for delay in delays {
        let task = bed.scheduler.task(format!("t-{delay}"));
        task.after(ms(delay)).run(|_| ()).unwrap();
    }
    for delay in [900_u64, 3_601_000, 1 << 43] {
        let _ = bed.scheduler.cancel(&format!("t-{delay}"));
    }
    let listed = bed.scheduler.tasks(&TaskFilter::all().id_prefix("t-"));
    assert_eq!(listed.len(), 7);
    for task in listed {
        let delay = task.id["t-".len()..].parse().unwrap();
        assert_eq!(task.next_in, Some(ms(delay)));
    }
    let running = bed
        .scheduler
        .tasks(&TaskFilter::all().state(TaskState::Running));
    assert_eq!(running.len(), 1);
    assert_eq!(running[0].id, "busy");
    gate.open();
}
