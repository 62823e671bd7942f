//! Who listens hears of everything that happens to a task, in order, and keeps nobody waiting.

use std::collections::HashMap;
use std::sync::mpsc::channel;
use std::time::Duration;

use wheel_runtime::{
    Context, Event, EventKind, EventReceiver, NoEvent, OnConflict, Outcome, Overlap, ResumeFrom,
    Retry, Schedule, TaskState,
};

use crate::bed::{Bed, HANG, gate, ms};

/// What has come until now.
pub(crate) fn all(events: &mut EventReceiver) -> Vec<Event> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

/// A word for each.
pub(crate) fn words(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| match &event.kind {
        EventKind::Started { run, attempt, .. } => format!("started {run}.{attempt}"),
        EventKind::AttemptFailed { run, attempt, .. } => format!("failed {run}.{attempt}"),
        EventKind::Snoozed { run, attempt, .. } => format!("snoozed {run}.{attempt}"),
        EventKind::Finished { run, outcome, .. } => format!("finished {run} {outcome:?}"),
        EventKind::Dead { run, .. } => format!("dead {run}"),
        EventKind::Hung { run, attempt, .. } => format!("hung {run}.{attempt}"),
        EventKind::CameBack { run, attempt, .. } => format!("came back {run}.{attempt}"),
        EventKind::Skipped {
            occurrences, why, ..
        } => format!("skipped {occurrences} {why:?}"),
        EventKind::Misfired { run, .. } => format!("misfired {run}"),
        EventKind::Ended { state, .. } => format!("ended {state:?}"),
        EventKind::Lost { events, .. } => format!("lost {events}"),
        other => format!("{other:?}").to_lowercase(),
    };
    events.iter().map(word).collect()
}

#[test]
fn a_task_is_told_of_from_its_start_to_its_end() {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events();
    let due = bed.clock.wall() + ms(10);
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    bed.clock.run_for(ms(10));
    let told = all(&mut events);
    assert_eq!(
        words(&told),
        [
            "added",
            "started 1.1",
            "finished 1 Succeeded",
            "ended Succeeded"
        ]
    );
    assert!(told.iter().all(|event| event.task.as_deref() == Some("#1")));
    assert!(told.iter().all(|event| event.serial == 1));
    assert_eq!((told[0].at, told[1].at), (due - ms(10), due));
    let EventKind::Started {
        nominal,
        due: was_due,
        late,
        missed,
        ..
    } = told[1].kind
    else {
        panic!("{told:?}")
    };
    assert_eq!(
        (nominal, was_due, late, missed),
        (due, due, Duration::ZERO, 0)
    );
}

#[test]
fn each_attempt_that_fails_says_when_the_next_one_is_due_and_the_last_one_names_its_letter() {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events();
    let retry = Retry::fixed(ms(50)).max_attempts(2);
    bed.tried(retry, |_| Err("no paper"));
    let start = bed.clock.wall();
    bed.clock.run_for(ms(100));
    let told = all(&mut events);
    assert_eq!(
        words(&told),
        [
            "added",
            "started 1.1",
            "failed 1.1",
            "started 1.2",
            "finished 1 Dead",
            "dead 1",
            "ended Dead"
        ]
    );
    let EventKind::AttemptFailed { error, next_at, .. } = &told[2].kind else {
        panic!("{told:?}")
    };
    assert_eq!((&**error, *next_at), ("no paper", start + ms(60)));
    assert_eq!(told[3].at, *next_at);
    let EventKind::Dead { letter, .. } = told[5].kind else {
        panic!("{told:?}")
    };
    assert_eq!(letter, bed.scheduler.dead_letters().list()[0].id);
}

#[test]
fn a_run_that_is_given_up_between_two_attempts_is_finished_all_the_same() {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events();
    let task = bed.tried(Retry::fixed(ms(50)), |_| Err("no paper"));
    bed.clock.run_for(ms(10));
    let _ = task.cancel();
    let told = words(&all(&mut events));
    let wanted = [
        "added",
        "started 1.1",
        "failed 1.1",
        "finished 1 Cancelled",
        "ended Cancelled",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn what_the_user_does_to_a_task_is_told_in_its_order() {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events();
    let scheduler = &bed.scheduler;
    let snooze = |run: &Context| match run.run() {
        1 => Outcome::Snooze(ms(5)),
        _ => Outcome::Success,
    };
    scheduler.task("x").every(ms(10)).run(snooze).unwrap();
    scheduler.pause("x");
    bed.clock.run_for(ms(20));
    scheduler.resume("x", ResumeFrom::Now);
    scheduler.reschedule("x", Schedule::every(ms(30))).unwrap();
    bed.clock.run_for(ms(30));
    let _ = scheduler.cancel("x");
    scheduler.shutdown(HANG).unwrap();
    let told = words(&all(&mut events));
    let wanted = [
        "added",
        "paused",
        "resumed",
        "skipped 2 Paused",
        "rescheduled",
        "started 1.1",
        "snoozed 1.1",
        "finished 1 Cancelled",
        "ended Cancelled",
        "shuttingdown",
    ];
    assert_eq!(told, wanted);
    assert_eq!(events.try_recv(), Err(NoEvent::Ended));
}

#[test]
fn what_is_left_out_or_late_says_why() {
    let bed = Bed::with(|builder| builder.workers(1).misfire_threshold(ms(15)));
    let mut events = bed.scheduler.events();
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").every(ms(10));
    task.run(move |run: &Context| keeper.pass(run)).unwrap();
    bed.clock.advance(ms(10));
    gate.wait_started();
    bed.clock.advance(ms(10));
    gate.open();
    bed.settle();
    gate.open();
    bed.jump(ms(30));
    let told = words(&all(&mut events));
    let wanted = [
        "added",
        "started 1.1",
        "skipped 1 Overlap",
        "finished 1 Succeeded",
        "misfired 2",
        "started 2.1",
        "finished 2 Succeeded",
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_handler_that_hangs_is_told_of_and_so_is_its_return() {
    let bed = Bed::workers(1);
    let mut events = bed.scheduler.events();
    let (gate, keeper) = gate();
    let task = bed.scheduler.task("x").after(ms(0)).timeout(ms(5));
    let task = task.run(move |run: &Context| keeper.pass(run)).unwrap();
    bed.clock.advance(ms(0));
    gate.wait_started();
    bed.clock.advance(ms(5));
    assert_eq!(task.wait_timeout(HANG), Some(TaskState::TimedOut));
    gate.open();
    bed.scheduler.shutdown(HANG).unwrap();
    let told: Vec<String> = words(&events.by_ref().collect::<Vec<_>>());
    let wanted = [
        "added",
        "started 1.1",
        "hung 1.1",
        "finished 1 TimedOut",
        "ended TimedOut",
    ];
    assert_eq!(told[..5], wanted);
    assert!(told[5..].contains(&"came back 1.1".to_owned()), "{told:?}");
}

#[test]
fn who_is_too_slow_is_told_how_many_events_it_has_lost_and_who_is_not_loses_none() {
    let bed = Bed::inline();
    let mut slow = bed.scheduler.events_bounded(3);
    let mut quick = bed.scheduler.events_bounded(100);
    for _ in 0..2 {
        bed.scheduler.after(ms(10), |_| ()).unwrap();
        bed.clock.run_for(ms(10));
    }
    let told = all(&mut slow);
    let wanted = ["added", "started 1.1", "finished 1 Succeeded", "lost 5"];
    assert_eq!(words(&told), wanted);
    assert_eq!((slow.dropped(), quick.dropped()), (5, 0));
    assert_eq!(all(&mut quick).len(), 8);
    // It goes on, and a later loss is told in its place.
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    bed.clock.run_for(ms(10));
    slow.try_recv().unwrap();
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    let told = words(&all(&mut slow));
    assert_eq!(
        told,
        ["started 1.1", "finished 1 Succeeded", "lost 1", "added"]
    );
    assert_eq!(slow.dropped(), 6);
}

#[test]
fn no_room_at_all_counts_as_room_for_one() {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events_bounded(0);
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    assert_eq!(words(&all(&mut events)), ["added"]);
}

#[test]
fn who_comes_hears_nothing_of_before_also_in_the_place_of_one_who_has_gone() {
    let bed = Bed::inline();
    let mut receivers: Vec<EventReceiver> = (0..20).map(|_| bed.scheduler.events()).collect();
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    drop(receivers.drain(5..15));
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    let mut late: Vec<EventReceiver> = (0..20).map(|_| bed.scheduler.events_bounded(1)).collect();
    bed.scheduler.after(ms(10), |_| ()).unwrap();
    for events in &mut receivers {
        assert_eq!(all(events).len(), 3);
    }
    for events in &mut late {
        let told = all(events);
        assert_eq!((told.len(), told[0].serial), (1, 3));
        assert_eq!(events.dropped(), 0);
    }
}

#[test]
fn who_waits_is_woken_by_the_next_event_and_by_the_end() {
    let bed = Bed::workers(1);
    let mut events = bed.scheduler.events();
    assert_eq!(events.recv_timeout(ms(1)), Err(NoEvent::NotYet));
    std::thread::scope(|scope| {
        let (sent, heard) = channel();
        scope.spawn(move || {
            while let Some(event) = events.recv() {
                sent.send(event).unwrap();
            }
        });
        for _ in 0..100 {
            bed.scheduler.after(Duration::ZERO, |_| ()).unwrap();
            let event = heard.recv_timeout(HANG).expect("nobody wakes it");
            assert_eq!(event.kind, EventKind::Added);
            bed.jump(ms(0));
            for _ in 0..3 {
                heard.recv_timeout(HANG).expect("nobody wakes it");
            }
        }
        bed.scheduler.shutdown(HANG).unwrap();
        assert_eq!(
            heard.recv_timeout(HANG).unwrap().kind,
            EventKind::ShuttingDown
        );
        assert!(heard.recv_timeout(HANG).is_err(), "the end is not told");
    });
}

#[test]
fn a_receiver_keeps_no_scheduler_alive_and_ends_with_it() {
    let bed = Bed::workers(1);
    let mut events = bed.scheduler.events();
    bed.scheduler.every(ms(10), |_| ()).unwrap();
    drop(bed.scheduler);
    let told = words(&events.by_ref().collect::<Vec<_>>());
    assert_eq!(told, ["added", "shuttingdown", "ended Cancelled"]);
    assert_eq!(events.try_recv(), Err(NoEvent::Ended));
}

#[test]
fn tasks_that_had_the_same_id_are_told_apart() {
    let bed = Bed::inline();
    let mut events = bed.scheduler.events();
    for _ in 0..2 {
        let task = bed.scheduler.task("x").after(ms(10));
        task.on_conflict(OnConflict::Replace).run(|_| ()).unwrap();
    }
    let told: Vec<_> = all(&mut events)
        .iter()
        .map(|event| (event.serial, words(std::slice::from_ref(event)).remove(0)))
        .collect();
    let of = |serial, word: &str| {
        told.iter()
            .position(|told| *told == (serial, word.to_owned()))
    };
    assert!(of(1, "added") < of(1, "ended Cancelled"), "{told:?}");
    assert!(of(2, "added").is_some() && told.len() == 3, "{told:?}");
}

/// What was said last of a task, and of its run.
#[derive(Default)]
struct Life {
    is_added: bool,
    has_ended: bool,
    /// The run that is going, and its attempt.
    going: Option<(u64, u32)>,
    is_in_attempt: bool,
    runs: u64,
}

impl Life {
    fn hear(&mut self, kind: &EventKind) {
        assert!(!self.has_ended, "after its end: {kind:?}");
        assert!(self.is_added || *kind == EventKind::Added, "{kind:?}");
        match *kind {
            EventKind::Added => self.is_added = true,
            EventKind::Started { run, attempt, .. } => {
                assert!(!self.is_in_attempt);
                match self.going {
                    None => assert_eq!((run, attempt), (self.runs + 1, 1)),
                    Some(before) => assert_eq!((run, attempt), (before.0, before.1 + 1)),
                }
                self.going = Some((run, attempt));
                (self.runs, self.is_in_attempt) = (run, true);
            }
            EventKind::AttemptFailed { run, attempt, .. } => {
                assert_eq!(self.going, Some((run, attempt)));
                assert!(std::mem::take(&mut self.is_in_attempt));
            }
            EventKind::Finished { run, .. } => {
                assert_eq!(self.going.take().map(|going| going.0), Some(run));
                self.is_in_attempt = false;
            }
            EventKind::Ended { .. } => {
                assert_eq!(self.going, None);
                self.has_ended = true;
            }
            _ => {}
        }
    }
}

#[test]
fn every_receiver_hears_of_each_task_in_its_order_whoever_tells() {
    const TASKS: usize = 30;
    let bed = Bed::workers(3);
    let receivers: Vec<EventReceiver> = (0..3)
        .map(|_| bed.scheduler.events_bounded(1_000_000))
        .collect();
    std::thread::scope(|scope| {
        for (number, events) in receivers.into_iter().enumerate() {
            scope.spawn(move || {
                // One goes before it has heard all.
                let limit = if number == 0 { 50 } else { usize::MAX };
                let mut lives: HashMap<u64, Life> = HashMap::new();
                for event in events.take(limit) {
                    if event.task.is_some() {
                        let life = lives.entry(event.serial).or_default();
                        life.hear(&event.kind);
                    }
                }
                if number > 0 {
                    assert_eq!(lives.len(), TASKS);
                    assert!(lives.values().all(|life| life.has_ended && life.runs > 3));
                }
            });
        }
        for n in 0..TASKS {
            let task = bed.scheduler.task(format!("task {n}")).every(ms(3));
            let task = task.overlap(Overlap::QueueOne);
            let retry = Retry::fixed(ms(1)).max_attempts(3);
            let fails = move |run: &Context| match (run.run() + u64::from(run.attempt())) % 3 {
                0 => Err("no paper"),
                _ => Ok(()),
            };
            task.retry(retry).run(fails).unwrap();
        }
        bed.walk(50, ms(1));
        for n in 0..TASKS / 2 {
            let _ = bed.scheduler.cancel(&format!("task {n}"));
        }
        bed.walk(10, ms(1));
        bed.scheduler.shutdown(HANG).unwrap();
    });
}

#[test]
fn a_shutdown_whose_grace_is_over_ends_the_listening() {
    let bed = Bed::workers(1);
    let events = bed.scheduler.events();
    let busy = bed.occupy_at_once();
    let (sent, ended) = std::sync::mpsc::channel();
    let listener = std::thread::spawn(move || {
        let told = events.into_iter().count();
        sent.send(told).unwrap();
    });
    bed.scheduler.shutdown(Duration::ZERO).unwrap_err();
    // The run goes on, and the handle is still there.
    assert!(ended.recv_timeout(HANG).unwrap() >= 2);
    busy.open();
    listener.join().unwrap();
}
