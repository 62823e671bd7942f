//! The judge over what threads have seen lets a sound history pass and catches each kind of fault.

use wheel_testkit::Notes;

/// One timer that was inserted as 1, reset to 2 and fired, one that was cancelled, one refused, one
/// unfired.
fn sound() -> Notes<u32> {
    Notes {
        inserted: vec![(1, 10, 100), (3, 20, 101), (4, 30, 102)],
        reset: vec![(1, 2, 15)],
        cancelled: vec![(3, 101)],
        refused: vec![103],
        fired: vec![(2, 15, 100)],
        unfired: vec![102],
    }
}

fn judge(notes: &Notes<u32>) -> usize {
    notes.judge(|_| true)
}

#[test]
fn a_sound_history_passes_and_every_insert_is_counted() {
    assert_eq!(judge(&sound()), 4);
    assert!(sound().pending().is_empty());
}

#[test]
fn what_has_not_ended_is_pending_under_its_last_key() {
    let mut notes = sound();
    notes.fired.clear();
    let pending: Vec<_> = notes.pending().into_iter().collect();
    assert_eq!(pending, [(100, (2, 15))]);
}

#[test]
#[should_panic(expected = "has ended 0 times")]
fn a_lost_value_is_caught() {
    let mut notes = sound();
    notes.unfired.clear();
    judge(&notes);
}

#[test]
#[should_panic(expected = "has ended 2 times")]
fn a_value_that_left_twice_is_caught() {
    let mut notes = sound();
    notes.cancelled.push((4, 102));
    judge(&notes);
}

#[test]
#[should_panic(expected = "100 has ended 2 times")]
fn a_value_that_left_twice_is_caught_before_the_end() {
    let mut notes = sound();
    notes.cancelled.push((2, 100));
    notes.pending();
}

#[test]
#[should_panic(expected = "fired as what it was before")]
fn a_timer_that_fired_at_its_old_due_tick_is_caught() {
    let mut notes = sound();
    notes.fired = vec![(2, 10, 100)];
    judge(&notes);
}

#[test]
#[should_panic(expected = "cancelled by an old key")]
fn a_cancel_by_an_old_key_is_caught() {
    let mut notes = sound();
    notes.fired.clear();
    notes.cancelled.push((1, 100));
    judge(&notes);
}

#[test]
#[should_panic(expected = "was given out twice")]
fn a_key_of_two_timers_is_caught() {
    let mut notes = sound();
    notes.inserted.push((3, 40, 104));
    judge(&notes);
}

#[test]
#[should_panic(expected = "a key was reset twice")]
fn a_key_that_two_threads_have_reset_is_caught() {
    let mut notes = sound();
    notes.reset.push((1, 5, 16));
    judge(&notes);
}

#[test]
#[should_panic(expected = "what nobody inserted has ended")]
fn a_value_out_of_nowhere_is_caught() {
    let mut notes = sound();
    notes.unfired.push(999);
    judge(&notes);
}

#[test]
#[should_panic(expected = "a stale key was good: 2")]
fn a_stale_key_that_does_something_is_caught() {
    sound().judge(|key| key != 2);
}
