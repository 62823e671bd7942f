//! A clock that is moved by hand, under several engines at once.

use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use wheel_runtime::{InlineExecutor, ManualClock, Scheduler, Timers};

use crate::bed::{Bed, ms};

#[test]
fn advance_to_next_goes_to_what_is_next_on_any_engine() {
    let clock = ManualClock::new();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    let build = || {
        let builder = Scheduler::builder().clock(clock.clone());
        builder.executor(InlineExecutor).build().unwrap()
    };
    let (one, other) = (build(), build());
    let (sent, ran) = channel();
    let tell = |name: &'static str| {
        let sent = sent.clone();
        move || sent.send(name).unwrap()
    };
    let far = 400 * 24 * ms(3_600_000);
    let (a, b, c, d) = (tell("a"), tell("b"), tell("c"), tell("d"));
    one.after(ms(7), move |_| b()).unwrap();
    timers.after(ms(3), a).unwrap();
    other.at(clock.wall() + ms(10), move |_| c()).unwrap();
    other.after(far, move |_| d()).unwrap();
    let mut steps = Vec::new();
    while let Some(step) = clock.advance_to_next() {
        steps.push((step, ran.try_iter().collect::<Vec<_>>()));
    }
    let wanted = [
        (ms(3), vec!["a"]),
        (ms(4), vec!["b"]),
        (ms(3), vec!["c"]),
        (far - ms(10), vec!["d"]),
    ];
    assert_eq!(steps, wanted);
    assert_eq!(clock.now(), far);
}

#[test]
fn advance_to_next_hands_over_all_that_is_due_then_and_passes_what_was_cancelled() {
    let bed = Bed::inline();
    let record = bed.record();
    let add = |id: &str, delay| {
        bed.scheduler
            .task(id)
            .after(delay)
            .run(record.note(id))
            .unwrap()
    };
    // Apart by less than a coarse slot, and by more.
    let gone = [5, 90, 70_000, 5_000_000].map(|n| add(&format!("gone-{n}"), ms(n)));
    for n in 0..10 {
        add(&format!("task-{n}"), ms(4_000_000));
    }
    for task in &gone {
        let _ = task.cancel();
    }
    assert_eq!(bed.clock.advance_to_next(), Some(ms(4_000_000)));
    assert_eq!(record.len(), 10);
    assert_eq!(bed.clock.advance_to_next(), None);
    add("again", ms(1));
    assert_eq!(bed.clock.advance_to_next(), Some(ms(1)));
}

#[test]
fn advance_to_next_finds_nothing_where_nothing_is_ever_due() {
    let clock = ManualClock::new();
    assert_eq!(clock.advance_to_next(), None);
    let bed = Bed::inline();
    bed.scheduler.after(Duration::MAX, |_| ()).unwrap();
    assert_eq!(bed.clock.advance_to_next(), None);
    assert_eq!(bed.clock.now(), Duration::ZERO);
    bed.clock.advance(Duration::MAX);
    assert_eq!(bed.clock.advance_to_next(), None);
}

#[test]
fn advance_to_next_from_a_callback_moves_nothing() {
    let bed = Bed::inline();
    let (clock, (sent, got)) = (bed.clock.clone(), channel());
    bed.scheduler.after(ms(9), |_| ()).unwrap();
    let ask = move |_: &_| sent.send((clock.advance_to_next(), clock.now())).unwrap();
    bed.scheduler.after(ms(5), ask).unwrap();
    bed.clock.run_for(ms(6));
    assert_eq!(got.try_recv(), Ok((None, ms(5))));
}

#[test]
fn what_is_due_already_is_handed_over_before_the_next() {
    let bed = Bed::inline();
    let record = bed.record();
    bed.scheduler
        .after(Duration::ZERO, record.note("now"))
        .unwrap();
    bed.scheduler.after(ms(4), record.note("next")).unwrap();
    assert_eq!(bed.clock.advance_to_next(), Some(ms(4)));
    assert_eq!(record.names(), ["now", "next"]);
}

#[test]
fn under_run_for_engines_meet_each_instant_in_order() {
    let clock = ManualClock::new();
    let (sent, ran) = channel();
    let engines: Vec<_> = (0..3_u64)
        .map(|n| {
            let builder = Scheduler::builder().clock(clock.clone());
            let scheduler = builder.executor(InlineExecutor).build().unwrap();
            let (sent, at) = (sent.clone(), clock.clone());
            let every = scheduler.task("tick").every(ms(2 + n));
            every
                .run(move |_| sent.send((at.now(), n)).unwrap())
                .unwrap();
            scheduler
        })
        .collect();
    clock.run_for(ms(600));
    let ran: Vec<_> = ran.try_iter().collect();
    assert!(ran.is_sorted_by_key(|(at, _)| *at));
    for n in 0..3 {
        let times: Vec<_> = ran
            .iter()
            .filter(|run| run.1 == n)
            .map(|run| run.0)
            .collect();
        let wanted: Vec<_> = (1..=600 / (2 + n)).map(|k| ms(k * (2 + n))).collect();
        assert_eq!(times, wanted);
    }
    drop(engines);
}

#[test]
fn under_run_for_what_follows_the_wall_clock_is_met_where_that_is_set_on_the_way() {
    let bed = Bed::inline();
    let (record, clock) = (bed.record(), bed.clock.clone());
    let begun = clock.wall();
    let set = move |_: &_| clock.set_wall(begun + ms(1_000));
    bed.scheduler.after(ms(100), set).unwrap();
    let at = |at: SystemTime, name| bed.scheduler.at(at, record.note(name)).unwrap();
    at(begun + ms(50), "before");
    at(begun + ms(1_020), "after");
    bed.clock.run_for(ms(200));
    assert_eq!(
        (record.times("before"), record.times("after")),
        (vec![50], vec![120])
    );
}
