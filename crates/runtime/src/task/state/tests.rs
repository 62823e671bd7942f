//! Every step of a task in every state, and what refuses it.

use super::*;

type Step = fn(&mut State, Ticket) -> Result<(), Refused>;

/// Every step, under the names that the document has.
const STEPS: [(&str, Step); 10] = [
    ("queue", |state, _| state.queue().map(|_| ())),
    ("queue_kept", |state, _| state.queue_kept().map(|_| ())),
    ("start", |state, ticket| state.start(ticket).map(|_| ())),
    ("give_back", |state, ticket| state.give_back(Some(ticket))),
    ("retry", |state, ticket| state.retry(ticket).map(|_| ())),
    ("queue_again", |state, ticket| state.queue_again(ticket)),
    ("finish, more to come", |state, ticket| {
        state.finish(ticket, Next::MoreToCome).map(|_| ())
    }),
    ("finish, nothing to come", |state, ticket| {
        let next = Next::Nothing(End::Succeeded);
        state.finish(ticket, next).map(|_| ())
    }),
    ("end", |state, _| state.end(End::Skipped)),
    ("cancel", |state, _| match state.cancel() {
        Met::Waiting | Met::Running(_) => Ok(()),
        Met::Cancelled => Err(Refused::Cancelled),
        Met::Ended => Err(Refused::Ended),
    }),
];

/// A task in each of its states, with the ticket of its attempt.
fn specimens() -> Vec<State> {
    let after = |steps: &[&str]| {
        let mut state = State::new();
        for name in steps {
            let ticket = state.tickets;
            let step = STEPS.iter().find(|(step, _)| step == name).unwrap().1;
            step(&mut state, ticket).unwrap();
        }
        state
    };
    vec![
        after(&[]),
        after(&["queue"]),
        after(&["queue_kept"]),
        after(&["queue", "start"]),
        after(&["queue", "start", "cancel"]),
        after(&["queue", "start", "retry"]),
        after(&["end"]),
    ]
}

/// What the document calls the state.
fn described(state: &State) -> &'static str {
    match state.phase {
        Phase::Scheduled => "scheduled",
        Phase::Queued { kept: Kept::No, .. } => "queued",
        Phase::Queued {
            kept: Kept::Yes, ..
        } => "queued, kept",
        Phase::Running {
            cancelled: false, ..
        } => "running",
        Phase::Running {
            cancelled: true, ..
        } => "running, cancelled",
        Phase::Retrying(_) => "retrying",
        Phase::Ended(_) => "ended",
    }
}

#[test]
fn the_document_has_every_step_and_no_other() {
    let mut table = String::from("| state | step | becomes |\n|---|---|---|\n");
    for (place, specimen) in specimens().iter().enumerate() {
        for (name, step) in STEPS {
            let mut state = specimens().swap_remove(place);
            let ticket = state.tickets;
            if step(&mut state, ticket).is_ok() {
                let (from, to) = (described(specimen), described(&state));
                table.push_str(&format!("| {from} | `{name}` | {to} |\n"));
            }
        }
    }
    table.push('\n');
    let document = include_str!("../../../../../docs/TASK_STATES.md");
    assert!(
        document.contains(&table),
        "docs/TASK_STATES.md needs this table:\n{table}"
    );
}

#[test]
fn a_step_that_is_refused_changes_nothing() {
    for place in 0..specimens().len() {
        for (name, step) in STEPS {
            let mut state = specimens().swap_remove(place);
            let (before, tickets) = (described(&state), state.tickets);
            if step(&mut state, tickets).is_err() {
                assert_eq!(
                    (described(&state), state.tickets),
                    (before, tickets),
                    "{name}"
                );
            }
        }
    }
}

#[test] // HD-02
fn an_old_ticket_moves_nothing() {
    let with_tickets = [
        "start",
        "give_back",
        "retry",
        "queue_again",
        "finish, more to come",
    ];
    for place in 0..specimens().len() {
        for (name, step) in STEPS {
            let mut state = specimens().swap_remove(place);
            let before = described(&state);
            let old = state.tickets.wrapping_sub(1);
            if with_tickets.contains(&name) {
                let refused = step(&mut state, old);
                let wanted = [Err(Refused::OldTicket), Err(Refused::Ended)];
                assert!(wanted.contains(&refused), "{before}, {name}: {refused:?}");
                assert_eq!(described(&state), before);
            }
        }
    }
}

#[test]
fn each_attempt_has_a_ticket_of_its_own() {
    let mut state = State::new();
    let first = state.queue().unwrap();
    state.start(first).unwrap();
    let second = state.retry(first).unwrap();
    assert_ne!(first, second);
    // What the first attempt still has to say is of no interest.
    assert_eq!(state.check_over(first), Err(Refused::OldTicket));
    state.queue_again(second).unwrap();
    assert_eq!(state.start(first).unwrap_err(), Refused::OldTicket);
    state.start(second).unwrap();
    let late = state.finish(first, Next::Nothing(End::Succeeded));
    assert_eq!(late, Err(Refused::OldTicket));
    let end = state.finish(second, Next::Nothing(End::Dead));
    assert_eq!(end, Ok(Some(End::Dead)));
    assert_eq!(state.name(), TaskState::Dead);
}

#[test]
fn a_task_goes_round_and_ends() {
    let mut state = State::new();
    for _ in 0..2 {
        let ticket = state.queue().unwrap();
        state.start(ticket).unwrap();
        assert_eq!(state.finish(ticket, Next::MoreToCome), Ok(None));
        assert_eq!(state.name(), TaskState::Scheduled);
    }
    let ticket = state.queue().unwrap();
    state.start(ticket).unwrap();
    let end = state.finish(ticket, Next::Nothing(End::Succeeded));
    assert_eq!(end, Ok(Some(End::Succeeded)));
    assert!(state.name().has_ended());
}

#[test]
fn a_second_run_is_refused_while_one_waits_or_goes() {
    for (mut state, refused) in specimens().into_iter().zip([
        None,
        Some(Refused::Busy),
        Some(Refused::Busy),
        Some(Refused::Busy),
        Some(Refused::Busy),
        Some(Refused::Busy),
        Some(Refused::Ended),
    ]) {
        assert_eq!(state.queue().err(), refused);
    }
}

#[test]
fn a_cancel_before_the_run_ends_the_task_and_during_it_marks_the_run() {
    let [
        mut scheduled,
        mut queued,
        _,
        mut running,
        _,
        mut retrying,
        _,
    ] = <[State; 7]>::try_from(specimens()).unwrap();
    for waiting in [&mut scheduled, &mut queued, &mut retrying] {
        assert!(matches!(waiting.cancel(), Met::Waiting));
        assert_eq!(waiting.name(), TaskState::Cancelled);
    }
    assert!(matches!(running.cancel(), Met::Running(_)));
    assert!(matches!(running.cancel(), Met::Cancelled));
    assert_eq!(running.name(), TaskState::Running);
    let end = running.finish(running.tickets, Next::MoreToCome);
    assert_eq!(end, Ok(Some(End::Cancelled)));
}

#[test]
fn a_run_that_is_kept_is_given_back_to_nobody() {
    let mut kept = specimens().swap_remove(2);
    assert_eq!(kept.give_back(None), Err(Refused::Kept));
    assert_eq!(kept.give_back(Some(kept.tickets)), Err(Refused::Kept));
    let mut waits = specimens().swap_remove(1);
    assert_eq!(waits.give_back(None), Ok(()));
    assert_eq!(waits.name(), TaskState::Scheduled);
}
