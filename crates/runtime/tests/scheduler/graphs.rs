//! Tasks that belong together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wheel_runtime::{
    Context, GraphBuilder, GraphError, GraphHandle, Misfire, Outcome, Retry, Schedule, SubmitError,
    TaskFilter, TaskState, TriggerOutcome, When, WhenNodeFails,
};

use crate::bed::{Bed, HANG, Record, gate, ms, size};

use TaskState::{Cancelled, Failed, Skipped, Succeeded};

fn noting<'s>(graph: GraphBuilder<'s>, record: &Record, names: &[&str]) -> GraphBuilder<'s> {
    let add = |graph: GraphBuilder<'s>, name: &&str| graph.node(*name, record.note(name));
    names.iter().fold(graph, add)
}

fn states(graph: &GraphHandle) -> Vec<(String, TaskState)> {
    let nodes = graph.info().nodes;
    nodes
        .into_iter()
        .map(|node| (node.name, node.state))
        .collect()
}

/// `a` fails; `b` waits for it, `c` for `b`; `d` for nobody, after 1 s; `e` in case `a` fails.
fn with_failure(bed: &Bed, policy: WhenNodeFails) -> GraphHandle {
    let graph = bed.scheduler.graph("g").on_failure(policy);
    let was_here = AtomicBool::new(false);
    let snooze = move |_: &Context| match was_here.swap(true, Ordering::SeqCst) {
        true => Outcome::Success,
        false => Outcome::Snooze(ms(1_000)),
    };
    let graph = graph.node("a", |_| Err("no paper")).node("d", snooze);
    let graph = ["b", "c", "e"]
        .into_iter()
        .fold(graph, |graph, name| graph.node(name, |_| ()));
    let graph = graph.chain(["a", "b", "c"]).edge("a", "e", When::Failed);
    graph.start().unwrap()
}

#[test]
fn nodes_run_when_those_before_them_have() {
    let bed = Bed::workers(4);
    let record = bed.record();
    let graph = noting(bed.scheduler.graph("g"), &record, &["d", "b", "c", "a"]);
    let graph = graph.chain(["a", "b", "d"]).chain(["a", "c", "d"]);
    let graph = graph.after(ms(10)).start().unwrap();
    assert_eq!(graph.info().state, TaskState::Scheduled);
    assert_eq!(graph.info().next_due, Some(bed.clock.wall() + ms(10)));
    bed.jump(ms(10));
    assert_eq!(graph.wait_timeout(HANG), Some(Succeeded));
    let names = record.names();
    assert_eq!((names[0].as_str(), names[3].as_str()), ("a", "d"));
    assert_eq!(graph.info().succeeded, 1);
    assert_eq!(bed.scheduler.history().get("g/c").unwrap().state, Succeeded);
}

#[test]
fn what_becomes_of_the_rest_is_a_policy() {
    let ended = |policy| {
        let bed = Bed::inline();
        let graph = with_failure(&bed, policy);
        bed.clock.run_for(ms(2_000));
        assert_eq!(graph.wait_timeout(HANG), Some(Failed));
        let info = graph.info();
        assert_eq!((info.runs, info.failed, info.state), (1, 1, Failed));
        assert!(bed.scheduler.wait_empty_timeout(HANG));
        let states: Vec<TaskState> = info.nodes.iter().map(|node| node.state).collect();
        states
    };
    // a, d, b, c, e
    assert_eq!(
        ended(WhenNodeFails::SkipDependents),
        [Failed, Succeeded, Skipped, Skipped, Succeeded]
    );
    assert_eq!(
        ended(WhenNodeFails::CancelRest),
        [Failed, Cancelled, Cancelled, Skipped, Cancelled]
    );
    assert_eq!(
        ended(WhenNodeFails::Continue),
        [Failed, Succeeded, Succeeded, Succeeded, Succeeded]
    );
}

#[test]
fn a_node_has_the_policies_of_a_task() {
    let bed = Bed::inline();
    let record = bed.record();
    let notes = record.clone();
    let graph = bed.scheduler.graph("g").node_with(
        "a",
        |task| task.retry(Retry::fixed(ms(10)).max_attempts(3)),
        move |run: &Context| {
            notes.add("a");
            match run.attempt() {
                3 => Ok(()),
                _ => Err("no paper"),
            }
        },
    );
    let graph = noting(graph, &record, &["b"]).chain(["a", "b"]);
    let graph = graph.start().unwrap();
    bed.clock.run_for(ms(15));
    assert_eq!(graph.node("a").unwrap().state, TaskState::Retrying);
    assert_eq!(bed.scheduler.get("g/b").unwrap().waits_for, ["g/a"]);
    bed.clock.run_for(ms(15));
    assert_eq!(record.times("a"), [0, 10, 20]);
    assert_eq!(record.times("b"), [20]);
    assert_eq!(graph.wait(), Succeeded);
}

#[test]
fn nodes_are_for_the_instant_of_the_graph_however_late_they_are() {
    let bed = Bed::inline();
    let start = bed.clock.wall();
    let (sent, seen) = std::sync::mpsc::channel();
    let hour = ms(3_600_000);
    let slow = Retry::fixed(hour / 60);
    let tell = move |run: &Context| {
        let line = (run.id().to_owned(), run.attempt(), run.nominal());
        sent.send(line).unwrap();
        match (run.id(), run.attempt()) {
            ("g/a", 1) => Err("not yet"),
            _ => Ok(()),
        }
    };
    let graph = bed.scheduler.graph("g").every(hour);
    let graph = graph.node_with("a", |task| task.retry(slow), tell.clone());
    let graph = graph.node_with("b", |task| task.misfire(Misfire::Skip).deadline(hour), tell);
    graph.chain(["a", "b"]).start().unwrap();
    let of_run = |nominal| {
        let line = |id: &str, attempt| (id.to_owned(), attempt, nominal);
        [line("g/a", 1), line("g/a", 2), line("g/b", 1)]
    };
    // Two are found due together, the later of them half an hour late.
    bed.clock.advance(hour * 5 / 2);
    bed.clock.run_for(hour / 4);
    assert_eq!(
        seen.try_iter().collect::<Vec<_>>(),
        of_run(start + hour * 2)
    );
    for wall in [start + hour * 10, start] {
        bed.clock.set_wall(wall);
        bed.clock.run_for(hour);
    }
    let runs = [of_run(start + hour * 3), of_run(start + hour * 4)];
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), runs.concat());
}

#[test]
fn each_occurrence_is_one_run_of_all_nodes_for_its_nominal_instant() {
    let bed = Bed::workers(2);
    let start = bed.clock.wall();
    let (sent, got) = std::sync::mpsc::channel();
    let graph = ["a", "b"]
        .into_iter()
        .fold(bed.scheduler.graph("g"), |graph, name| {
            let sent = sent.clone();
            graph.node(name, move |run: &Context| {
                sent.send((run.id().to_owned(), run.nominal())).unwrap();
            })
        });
    let graph = graph.chain(["a", "b"]).every(ms(10)).start().unwrap();
    for k in 1..=5 {
        bed.jump(ms(10));
        let seen: Vec<_> = got.try_iter().collect();
        let nominal = start + ms(10) * k;
        assert_eq!(seen, [("g/a".into(), nominal), ("g/b".into(), nominal)]);
        let info = graph.info();
        assert_eq!((info.runs, info.nominal), (u64::from(k), Some(nominal)));
    }
    graph.cancel();
    assert_eq!(
        graph.wait_timeout(HANG),
        Some(Succeeded),
        "so did the last run"
    );
    assert!(bed.scheduler.wait_empty_timeout(HANG));
}

#[test]
fn an_occurrence_during_a_run_is_skipped_and_no_worker_waits() {
    let bed = Bed::workers(1);
    let (gate, keeper) = gate();
    let graph = bed.scheduler.graph("g").node_with(
        "a",
        |task| task.retry(Retry::fixed(ms(25)).max_attempts(2)),
        move |run: &Context| match run.attempt() {
            1 => Err("no paper"),
            _ => {
                keeper.pass(run);
                Ok(())
            }
        },
    );
    let graph = graph.every(ms(10)).start().unwrap();
    bed.walk(3, ms(10));
    assert_eq!((graph.info().runs, graph.info().skipped), (1, 2));
    let other = bed.scheduler.after(Duration::ZERO, |_| ()).unwrap();
    assert_eq!(
        other.wait_timeout(HANG),
        Some(Succeeded),
        "no worker is held"
    );
    bed.clock.advance(ms(5));
    gate.wait_started();
    gate.open();
    bed.settle();
    bed.jump(ms(10));
    assert_eq!((graph.info().runs, graph.info().skipped), (2, 2));
}

#[test]
fn it_may_be_triggered_paused_and_given_another_schedule() {
    let bed = Bed::inline();
    let record = bed.record();
    let graph = noting(bed.scheduler.graph("g"), &record, &["a"]);
    let graph = graph.cron("0 2 * * *").start().unwrap();
    assert_eq!(bed.scheduler.trigger("g"), TriggerOutcome::Triggered);
    bed.clock.run_for(ms(1));
    assert_eq!(record.len(), 1);
    let _ = bed.scheduler.pause("g");
    assert_eq!(graph.info().state, TaskState::Paused);
    let _ = bed.scheduler.resume("g", wheel_runtime::ResumeFrom::Now);
    bed.scheduler
        .reschedule("g", Schedule::every(ms(10)))
        .unwrap();
    bed.clock.run_for(ms(100));
    assert_eq!(record.len(), 11);
}

#[test]
fn a_cancel_ends_what_goes_on_and_what_is_to_come() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    let graph = bed.scheduler.graph("g");
    let graph = graph.node("a", move |run: &Context| keeper.pass(run));
    let graph = graph.node("b", |_| ()).edge("a", "b", When::Finished);
    let graph = graph.every(ms(10)).start().unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    graph.cancel();
    assert_eq!(graph.info().state, TaskState::Running);
    assert_eq!(graph.wait_timeout(ms(1)), None);
    gate.open();
    assert_eq!(graph.wait_timeout(HANG), Some(Cancelled));
    let [a, b] = ["a", "b"].map(str::to_owned);
    assert_eq!(states(&graph), [(a, Cancelled), (b, Cancelled)]);
    assert!(bed.scheduler.wait_empty_timeout(HANG));
}

#[test]
fn a_shutdown_ends_it() {
    let bed = Bed::inline();
    let recurs = bed.scheduler.graph("g").node("a", |_| ()).every(ms(10));
    let recurs = recurs.start().unwrap();
    let graph = bed
        .scheduler
        .graph("h")
        .node("a", |_| Outcome::Snooze(HANG));
    let graph = graph.node("b", |_| ()).chain(["a", "b"]).start().unwrap();
    bed.clock.run_for(ms(5));
    let report = bed.scheduler.shutdown(ms(0)).unwrap();
    let mut named: Vec<_> = report.pending.iter().map(|task| task.id.as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ["g", "h/a", "h/b"]);
    assert_eq!(recurs.wait_timeout(HANG), Some(Cancelled));
    assert_eq!(graph.wait_timeout(HANG), Some(Cancelled));
}

#[test] // DP-04
fn what_is_wrong_is_named_before_anything_starts() {
    let bed = Bed::inline();
    let record = bed.record();
    let graph = || noting(bed.scheduler.graph("g"), &record, &["a", "b", "c"]);
    let error = |graph: GraphBuilder<'_>| graph.start().unwrap_err();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(error(bed.scheduler.graph("g")), GraphError::Empty);
    assert_eq!(error(graph().node("", |_| ())), GraphError::EmptyName);
    let twice = graph().node("b", |_| ());
    assert_eq!(error(twice), GraphError::DuplicateNode("b".into()));
    let unknown = graph().chain(["a", "x"]);
    assert_eq!(error(unknown), GraphError::UnknownNode("x".into()));
    let own = graph().edge("b", "b", When::Finished);
    assert_eq!(error(own), GraphError::Cycle(names(&["b", "b"])));
    let circle = error(graph().chain(["a", "b", "c", "a"]));
    assert_eq!(circle, GraphError::Cycle(names(&["a", "b", "c", "a"])));
    assert_eq!(
        circle.to_string(),
        "edge: the nodes go in a circle: a -> b -> c -> a"
    );
    let tail = graph().chain(["a", "b", "c", "b"]);
    assert_eq!(error(tail), GraphError::Cycle(names(&["b", "c", "b"])));
    let node = |describe: fn(wheel_runtime::TaskBuilder<'_>) -> wheel_runtime::TaskBuilder<'_>| {
        bed.scheduler
            .graph("g")
            .node_with("a", describe, |_| ())
            .start()
    };
    let has_own = Err(GraphError::NodeSchedule("a".into()));
    assert_eq!(node(|task| task.every(ms(1))).map(drop), has_own);
    assert_eq!(node(|task| task.count(1)).map(drop), has_own);
    assert_eq!(
        node(|task| task.depends_on("x", When::Failed)).map(drop),
        has_own
    );
    let policy = node(|task| task.retry(Retry::fixed(ms(1)).max_attempts(0)));
    assert!(matches!(policy, Err(GraphError::Node(..))), "{policy:?}");
    let zero = error(graph().every(ms(0)));
    assert!(
        matches!(zero, GraphError::Submit(SubmitError::Schedule(_))),
        "{zero}"
    );
    bed.scheduler.task("g/b").after(HANG).run(|_| ()).unwrap();
    let taken = GraphError::Submit(SubmitError::DuplicateId("g/b".into()));
    assert_eq!(error(graph()), taken);
    bed.clock.run_for(ms(10));
    assert_eq!(record.len(), 0);
    assert_eq!(bed.scheduler.tasks(&TaskFilter::all()).len(), 1);
}

#[test]
fn a_run_that_does_not_fit_starts_no_node() {
    let bed = Bed::with(|builder| builder.workers(1).max_tasks(3));
    let record = bed.record();
    let graph = noting(bed.scheduler.graph("g"), &record, &["a", "b", "c"]);
    let graph = graph.every(ms(10)).start().unwrap();
    bed.jump(ms(10));
    let info = graph.info();
    assert_eq!((record.len(), info.runs, info.failed), (0, 1, 1));
    assert_eq!(bed.scheduler.tasks(&TaskFilter::all()).len(), 1);
    let why = bed.scheduler.get("g").unwrap().last_error.unwrap();
    assert_eq!(why, "g/c: there are too many live tasks");
}

#[test]
fn ten_thousand_in_a_chain_and_in_a_fan() {
    let nodes = size(10_000, 100_000);
    for is_chain in [true, false] {
        let bed = Bed::workers(2);
        let name = |n: usize| n.to_string();
        let graph = (0..nodes).fold(bed.scheduler.graph("g"), |graph, n| {
            graph.node(name(n), |_| ())
        });
        let graph = match is_chain {
            true => graph.chain((0..nodes).map(name)),
            false => (1..nodes - 1).fold(graph, |graph, n| {
                graph.chain(["0".to_owned(), name(n), name(nodes - 1)])
            }),
        };
        let graph = graph.start().unwrap();
        assert_eq!(graph.wait_timeout(HANG), Some(Succeeded));
        assert_eq!(bed.scheduler.stats().succeeded, nodes as u64 + 1);
        let graph = bed.scheduler.graph("h");
        let graph = graph.node("0", |_| Err("no paper"));
        let graph = (1..nodes).fold(graph, |graph, n| graph.node(name(n), |_| ()));
        let graph = graph.chain((0..nodes).map(name));
        let graph = graph.start().unwrap();
        assert_eq!(graph.wait_timeout(HANG), Some(Failed));
        let closed = (0..nodes).fold(bed.scheduler.graph("i"), |graph, n| {
            graph.node(name(n), |_| ())
        });
        let closed = closed
            .chain((0..nodes).map(name))
            .chain([name(nodes - 1), name(0)]);
        assert!(
            matches!(closed.start(), Err(GraphError::Cycle(names)) if names.len() == nodes + 1)
        );
    }
}

#[test]
fn the_picture_quotes_what_must_be_quoted_and_shows_states() {
    let bed = Bed::inline();
    let names = [
        "say \"hi\"",
        "back\\slash\\",
        "two\nlines",
        "a&b <x>",
        "nul\0",
    ];
    let graph = names
        .into_iter()
        .fold(bed.scheduler.graph("g\"}\\"), |graph, name| {
            graph.node(name, |_| Err("no"))
        });
    let graph = graph.edge(names[0], names[1], When::Failed);
    let graph = graph.chain([names[1], names[2]]).start().unwrap();
    bed.clock.run_for(ms(1));
    assert_eq!(
        graph.to_dot(),
        r#"digraph "g\"}\\" {
  node [shape=box, style=filled];
  n0 [label="say \"hi\"\nfailed", fillcolor="salmon"];
  n1 [label="back\\slash\\\nfailed", fillcolor="salmon"];
  n2 [label="two\nlines\nskipped", fillcolor="lightgray"];
  n3 [label="a&amp;b <x>\nfailed", fillcolor="salmon"];
  n4 [label="nul�\nfailed", fillcolor="salmon"];
  n0 -> n1 [label="failed", style=dashed];
  n1 -> n2;
}
"#
    );
}

#[test]
fn what_nodes_captured_is_dropped_with_the_graph() {
    let bed = Bed::inline();
    let held = Arc::new(());
    let inside = held.clone();
    let graph = bed.scheduler.graph("g");
    let graph = graph.node("a", move |_: &Context| drop(inside.clone()));
    let graph = graph.every(ms(10)).start().unwrap();
    bed.clock.run_for(ms(50));
    graph.cancel();
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn the_id_of_a_graph_stands_for_the_task_that_starts_its_runs() {
    let bed = Bed::workers(2);
    let (gate, keeper) = gate();
    let graph = bed.scheduler.graph("g");
    let graph = graph.node("a", move |run: &Context| keeper.pass(run));
    let graph = graph.after(ms(10)).start().unwrap();
    let after = bed.scheduler.task("x").depends_on("g", When::Succeeded);
    let after = after.run(|_| ()).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    assert_eq!(after.wait_timeout(HANG), Some(Succeeded));
    assert_eq!(graph.info().state, TaskState::Running);
    gate.open();
    assert_eq!(graph.wait_timeout(HANG), Some(Succeeded));
}
