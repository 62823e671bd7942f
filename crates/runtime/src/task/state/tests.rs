//! Every step of a task in every state, and what refuses it.

use super::*;

type Step = fn(&mut State, Ticket) -> Result<(), Refused>;

/// Every step, under the names that the document has.
const STEPS: [(&str, Step); 15] = [
    ("queue", |state, _| state.queue(1).map(|_| ())),
    ("queue_kept", |state, _| state.queue_kept(1).map(|_| ())),
    ("start", |state, ticket| state.start(ticket).map(|_| ())),
    ("give_back", |state, ticket| state.give_back(ticket)),
    ("time_out", |state, ticket| {
        state.time_out(ticket).map(|_| ())
    }),
    ("retry", |state, ticket| state.retry(ticket).map(|_| ())),
    ("queue_again", |state, ticket| state.queue_again(ticket)),
    ("finish, more to come", |state, ticket| {
        state.finish(ticket, Next::MoreToCome).map(|_| ())
    }),
    ("finish, nothing to come", |state, ticket| {
        let next = Next::Nothing(End::Succeeded);
        state.finish(ticket, next).map(|_| ())
    }),
    ("give_way", |state, _| {
        let before = described(state);
        state.give_way(&[]);
        let has_changed = described(state) != before;
        has_changed.then_some(()).ok_or(Refused::Busy)
    }),
    ("withdraw", |state, _| {
        let before = described(state);
        state.withdraw();
        let has_changed = described(state) != before;
        has_changed.then_some(()).ok_or(Refused::Busy)
    }),
    ("pause", |state, _| state.pause()),
    ("resume", |state, _| state.resume()),
    ("end", |state, _| state.end(End::Skipped)),
    ("cancel", |state, _| match state.cancel() {
        Met::Waiting { .. } | Met::Running { .. } => Ok(()),
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
        after(&["queue", "start", "give_way"]),
        after(&["queue", "start", "cancel"]),
        after(&["queue", "start", "time_out"]),
        after(&["queue", "start", "time_out", "give_way"]),
        after(&["queue", "start", "time_out", "cancel"]),
        after(&["queue", "start", "retry"]),
        after(&["pause"]),
        after(&["end"]),
    ]
}

/// What the document calls the state.
fn described(state: &State) -> &'static str {
    let [run] = state.runs.as_slice() else {
        return match state.standing {
            Standing::Active => "scheduled",
            Standing::Paused => "paused",
            Standing::Closing => unreachable!("it would have ended"),
            Standing::Ended(_) => "ended",
        };
    };
    match (state.standing, run) {
        (Standing::Active, Run::Queued { kept: Kept::No, .. }) => "queued",
        (
            Standing::Active,
            Run::Queued {
                kept: Kept::Yes, ..
            },
        ) => "queued, kept",
        (Standing::Active, Run::Running { is_told: false, .. }) => "running",
        (Standing::Active, Run::Running { is_told: true, .. }) => "running, told",
        (Standing::Active, Run::Settling { is_told: false, .. }) => "settling",
        (Standing::Active, Run::Settling { is_told: true, .. }) => "settling, told",
        (Standing::Active, Run::Retrying { .. }) => "retrying",
        (Standing::Paused, Run::Queued { .. }) => "queued, paused",
        (Standing::Paused, Run::Running { .. }) => "running, paused",
        (Standing::Paused, Run::Settling { .. }) => "settling, paused",
        (Standing::Paused, Run::Retrying { .. }) => "retrying, paused",
        (Standing::Closing, Run::Settling { .. }) => "settling, cancelled",
        (Standing::Closing, _) => "running, cancelled",
        (Standing::Ended(_), _) => unreachable!("an ended task has no run"),
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
        "time_out",
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
    let first = state.queue(1).unwrap();
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
        let ticket = state.queue(1).unwrap();
        state.start(ticket).unwrap();
        assert_eq!(state.finish(ticket, Next::MoreToCome), Ok(None));
        assert_eq!(state.name(), TaskState::Scheduled);
    }
    let ticket = state.queue(1).unwrap();
    state.start(ticket).unwrap();
    let end = state.finish(ticket, Next::Nothing(End::Succeeded));
    assert_eq!(end, Ok(Some(End::Succeeded)));
    assert!(state.name().has_ended());
}

#[test]
fn there_is_as_much_room_for_runs_as_is_said() {
    let mut state = State::new();
    let first = state.queue(3).unwrap();
    let second = state.queue(3).unwrap();
    state.start(second).unwrap();
    assert_eq!(state.queue(2), Err(Refused::Busy));
    let third = state.queue_kept(3).unwrap();
    assert_eq!((state.runs(), state.fresh()), (3, 1));
    assert_eq!(state.name(), TaskState::Running);
    // The task goes on until the last of them is over, and ends as that one does.
    let over = Next::Nothing(End::Succeeded);
    assert_eq!(state.finish(second, over), Ok(None));
    assert_eq!(state.name(), TaskState::Queued);
    state.start(first).unwrap();
    assert_eq!(state.finish(first, over), Ok(None));
    let end = state.finish(third, Next::Nothing(End::Dead));
    assert_eq!(end, Ok(Some(End::Dead)));
}

#[test]
fn a_cancel_ends_what_waits_at_once_and_what_runs_when_it_returns() {
    for mut waiting in specimens() {
        let queued = usize::from(waiting.name() == TaskState::Queued);
        if waiting.name() == TaskState::Running || waiting.name().has_ended() {
            continue;
        }
        assert!(matches!(waiting.cancel(), Met::Waiting { queued: n } if n == queued));
        assert_eq!(waiting.name(), TaskState::Cancelled);
    }
    let mut state = State::new();
    let [running, _, retrying] = [0; 3].map(|_| state.queue(3).unwrap());
    state.start(retrying).unwrap();
    state.retry(retrying).unwrap();
    let token = state.start(running).unwrap();
    let Met::Running { tokens, queued: 1 } = state.cancel() else {
        panic!("one run waits, one is going");
    };
    assert_eq!(tokens.len(), 1);
    tokens[0].cancel();
    assert!(token.is_cancelled());
    assert!(matches!(state.cancel(), Met::Cancelled));
    assert_eq!((state.name(), state.runs()), (TaskState::Running, 1));
    assert_eq!(state.queue(3), Err(Refused::Cancelled));
    assert_eq!(state.retry(running), Err(Refused::Cancelled));
    let end = state.finish(running, Next::MoreToCome);
    assert_eq!(end, Ok(Some(End::Cancelled)));
}

#[test]
fn a_run_that_is_told_to_give_way_is_not_tried_again_but_its_task_goes_on() {
    let mut state = State::new();
    let running = state.queue(1).unwrap();
    state.start(running).unwrap();
    assert_eq!(state.give_way(&[]).0.len(), 1);
    assert_eq!(state.give_way(&[]).0.len(), 0, "it is told once");
    assert!(state.is_told(running));
    assert_eq!(state.retry(running), Err(Refused::Cancelled));
    assert_eq!(state.finish(running, Next::MoreToCome), Ok(None));
    assert_eq!(state.name(), TaskState::Scheduled);
    let retrying = state.queue(1).unwrap();
    state.start(retrying).unwrap();
    state.retry(retrying).unwrap();
    assert!(state.give_way(&[]).0.is_empty());
    assert_eq!(state.runs(), 0);
}

#[test]
fn runs_of_a_paused_task_take_the_same_steps() {
    for place in 0..specimens().len() {
        for (name, step) in STEPS {
            let take = |is_paused: bool| {
                let mut state = specimens().swap_remove(place);
                let was_paused = state.is_paused();
                if is_paused && state.pause().is_err() || state.runs() == 0 {
                    return None;
                }
                let ticket = state.tickets;
                let answer = step(&mut state, ticket);
                Some((
                    was_paused,
                    answer,
                    format!("{:?}", state.runs),
                    state.name().has_ended(),
                ))
            };
            if !["pause", "resume", "give_way"].contains(&name) && take(true).is_some() {
                assert_eq!(take(true), take(false), "{name}");
            }
        }
    }
}

#[test]
fn a_run_that_is_kept_is_given_back_to_nobody() {
    let mut kept = specimens().swap_remove(2);
    assert_eq!(kept.take_back(), 0);
    assert_eq!(kept.give_back(kept.tickets), Err(Refused::Kept));
    let mut waits = specimens().swap_remove(1);
    assert_eq!(waits.take_back(), 1);
    assert_eq!(waits.name(), TaskState::Scheduled);
}
