//! Labels are seen wherever the task is: in its runs, in listings, and in what is kept of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{Context, PoolSpec, Priority, Retry, TaskFilter, TaskState};

use crate::bed::{Bed, ms};

fn labels_of(run: &Context) -> Vec<String> {
    let labels = run.labels();
    labels
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

#[test]
fn a_run_sees_the_labels_of_its_task_in_each_attempt_and_in_its_children() {
    let bed = Bed::inline();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let inside = Arc::clone(&seen);
    let task = bed
        .scheduler
        .task("x")
        .after(ms(1))
        .retry(Retry::fixed(ms(1)));
    let task = task
        .label("env", "old")
        .label("part", "a")
        .label("env", "canary");
    let task = task.run(move |run: &Context| {
        let child = run.child(Duration::from_secs(1));
        assert_eq!(child.label("part"), Some("a"));
        assert_eq!((run.label("env"), run.label("nv")), (Some("canary"), None));
        inside.lock().unwrap().push(labels_of(&child.clone()));
        if run.attempt() < 2 {
            Err("again")
        } else {
            Ok(())
        }
    });
    bed.clock.run_for(ms(10));
    assert_eq!(task.unwrap().wait(), TaskState::Succeeded);
    assert_eq!(*seen.lock().unwrap(), [["env=canary", "part=a"]; 2]);
}

#[test]
fn a_task_without_labels_shows_none() {
    let bed = Bed::inline();
    let task = bed.scheduler.task("x").after(ms(1)).run(|run: &Context| {
        assert_eq!((run.label("env"), run.labels().count()), (None, 0));
    });
    let task = task.unwrap();
    bed.clock.run_for(ms(1));
    assert_eq!(task.wait(), TaskState::Succeeded);
    let info = task.info();
    assert_eq!((info.labels.len(), info.pool), (0, None));
    assert_eq!(info.priority, Priority::Normal);
}

#[test]
fn a_listing_shows_labels_priority_and_pool_and_is_narrowed_down_by_labels() {
    let pools = |builder: wheel_runtime::SchedulerBuilder| {
        let canary = PoolSpec::named("canary").label("env", "canary");
        builder.workers(1).pool(canary).pool(PoolSpec::named("own"))
    };
    let bed = Bed::with(pools);
    let task = |id| bed.scheduler.task(id).after(ms(1));
    let by_label = task("a").label("env", "canary").label("part", "x");
    by_label.priority(Priority::High).run(|_| ()).unwrap();
    task("b")
        .label("env", "canary")
        .pool("own")
        .run(|_| ())
        .unwrap();
    task("c").label("env", "stable").run(|_| ()).unwrap();
    task("d").run(|_| ()).unwrap();

    let listed = |filter: TaskFilter| {
        let infos = bed.scheduler.tasks(&filter).into_iter();
        infos.map(|info| info.id).collect::<Vec<_>>()
    };
    let all = TaskFilter::all;
    assert_eq!(listed(all().label("env", "canary")), ["a", "b"]);
    assert_eq!(
        listed(all().label("env", "canary").label("part", "x")),
        ["a"]
    );
    assert_eq!(listed(all().label("env", "canary").id_prefix("b")), ["b"]);
    assert!(listed(all().label("env", "")).is_empty());
    assert!(listed(all().label("canary", "env")).is_empty());

    let info = |id| bed.scheduler.get(id).unwrap();
    assert_eq!(info("a").labels["part"], "x");
    assert_eq!(info("a").priority, Priority::High);
    assert_eq!(info("a").pool.as_deref(), Some("canary"));
    assert_eq!(info("b").pool.as_deref(), Some("own"));
    assert_eq!(info("c").pool, None);
    bed.jump(ms(1));
    let ended = bed.scheduler.history().get("a").unwrap();
    assert_eq!(ended.labels["env"], "canary");
}

#[test]
fn nodes_of_a_graph_carry_theirs() {
    let bed = Bed::inline();
    let graph = bed.scheduler.graph("g").node_with(
        "a",
        |task| task.label("env", "canary"),
        |run: &Context| assert_eq!(labels_of(run), ["env=canary"]),
    );
    let graph = graph.node("b", |run: &Context| assert_eq!(run.label("env"), None));
    let graph = graph.chain(["a", "b"]).after(ms(1)).start().unwrap();
    bed.clock.run_for(ms(10));
    assert_eq!(graph.wait(), TaskState::Succeeded);
    let a = bed.scheduler.history().get("g/a").unwrap();
    assert_eq!(a.labels["env"], "canary");
}

#[test]
fn hooks_and_dead_letters_have_them_and_a_replay_sees_them() {
    let bed = Bed::inline();
    let wanted = BTreeMap::from([("env".to_owned(), "canary".to_owned())]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (failed, dead) = (Arc::clone(&seen), Arc::clone(&seen));
    let task = bed.scheduler.task("x").after(ms(1)).label("env", "canary");
    let task = task.retry(Retry::fixed(ms(1)).max_attempts(1));
    let task = task.on_failure(move |failure| failed.lock().unwrap().push(failure.labels.clone()));
    let task = task.on_dead(move |letter| dead.lock().unwrap().push(letter.labels.clone()));
    task.run(|run: &Context| Err(labels_of(run).join(",")))
        .unwrap();
    bed.clock.run_for(ms(5));
    assert_eq!(*seen.lock().unwrap(), [wanted.clone(), wanted.clone()]);
    let letter = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(
        (letter.labels, letter.last.error.as_str()),
        (wanted, "env=canary")
    );
    bed.scheduler.dead_letters().replay(letter.id).unwrap();
    bed.clock.run_for(ms(5));
    let again = bed.scheduler.dead_letters().list().remove(0);
    assert_eq!(
        (again.replays, again.last.error.as_str()),
        (1, "env=canary")
    );
}
