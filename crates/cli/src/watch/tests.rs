//! What a page shows of a picture.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use wheel_runtime::{ManualClock, Scheduler, TaskState};

use super::{Picture, Row};
use crate::live::Standing;
use crate::record::{Outcome, Punctuality, Record};

fn text(picture: &Picture, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| picture.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn picture(tasks: usize) -> Picture {
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone()).workers(1);
    let scheduler = builder.build().unwrap();
    for n in 0..10 {
        let after = Duration::from_secs(10 * n);
        scheduler.after(after, |_| ()).unwrap();
    }
    clock.advance(Duration::from_millis(5));
    let record = Record::new(tasks);
    record.started(0, 1, Punctuality::Due, Duration::from_micros(300));
    record.ended(0, Outcome::Failed("exit status 3".into()));
    let tallies = record.tallies().into_iter().enumerate();
    Picture {
        standing: Standing {
            pending: tasks,
            running: 1,
            counts: record.total(),
            next: None,
            lateness: record.lateness(),
        },
        engine: scheduler.snapshot().ok(),
        lateness: record.lateness_bars(),
        rows: tallies
            .map(|(n, tally)| Row {
                id: format!("task-{n}"),
                state: if n == 1 {
                    TaskState::Running
                } else {
                    TaskState::Scheduled
                },
                next_in: Some(Duration::from_secs(n as u64 + 1)),
                tally,
            })
            .collect(),
    }
}

#[test]
fn the_dials_the_lateness_and_the_tasks_are_on_one_page() {
    let page = text(&picture(3), 120, 40);
    for part in [
        " ms 0 ",
        " s 9 ",
        " min 0 ",
        " hour 0 ",
        "live 9",
        " at 6 of ",
        "to   500 us",
        "lateness",
        "p50 300 us",
        "tasks 3",
        "task-0",
        "exit status 3",
        "next in",
        "3.0s",
        "running 1",
    ] {
        assert!(page.contains(part), "{part:?} is not on\n{page}");
    }
    assert!(
        page.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)),
        "no dial:\n{page}"
    );
    let place = |id| page.find(id).unwrap();
    assert!(
        place("task-1") < place("task-0"),
        "who runs comes first:\n{page}"
    );
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let page = text(&picture(1_000), 100, 30);
    assert!(
        page.contains("tasks 1000, 99") && page.contains(" not shown"),
        "{page}"
    );
}

#[test]
fn a_driver_that_does_not_answer_is_no_reason_not_to_draw() {
    let mut picture = picture(1);
    picture.engine = None;
    let page = text(&picture, 100, 30);
    assert!(
        page.contains("does not answer") && page.contains("task-0"),
        "{page}"
    );
}

#[test]
fn any_size_of_a_terminal_will_do() {
    let picture = picture(2);
    for columns in [1, 2, 7, 20, 80, 300] {
        for lines in [1, 2, 5, 24, 100] {
            let _ = text(&picture, columns, lines);
        }
    }
}
