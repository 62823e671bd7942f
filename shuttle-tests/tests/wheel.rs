//! Three users and the driver of one wheel.

use wheel_shuttle_tests::explore::explore;
use wheel_shuttle_tests::wheel::{Dues, End, Plan, play};
use wheel_testkit::Random;

const PLAN: Plan = Plan {
    users: 3,
    phases: 2,
    ops: 100,
    dues: Dues::Any,
    max_timers: None,
    far_heap: false,
    end: End::Close,
};

fn any_end(random: &mut Random) -> End {
    random.choose(&[End::Close, End::Cancel])
}

#[test]
fn every_value_leaves_once_and_never_early() {
    explore("every_value_leaves_once_and_never_early", |mut random| {
        let end = any_end(&mut random);
        play(Plan { end, ..PLAN }, random);
    });
}

#[test]
fn a_close_in_the_midst_of_it_loses_nothing() {
    explore("a_close_in_the_midst_of_it_loses_nothing", |random| {
        let end = End::Midway;
        play(Plan { end, ..PLAN }, random);
    });
}

#[test]
fn a_wheel_that_is_often_full_lets_nobody_in_too_many() {
    explore(
        "a_wheel_that_is_often_full_lets_nobody_in_too_many",
        |mut random| {
            let plan = Plan {
                max_timers: Some(random.between(1, 20) as usize),
                end: any_end(&mut random),
                ..PLAN
            };
            play(plan, random);
        },
    );
}

#[test]
fn far_timers_come_back_from_the_heap_in_time() {
    explore(
        "far_timers_come_back_from_the_heap_in_time",
        |mut random| {
            let plan = Plan {
                dues: random.choose(&[Dues::Far, Dues::Any]),
                far_heap: true,
                end: any_end(&mut random),
                ..PLAN
            };
            play(plan, random);
        },
    );
}

#[test]
fn a_driver_that_sleeps_is_woken_for_whatever_is_earlier() {
    explore(
        "a_driver_that_sleeps_is_woken_for_whatever_is_earlier",
        |mut random| {
            let plan = Plan {
                phases: 12,
                ops: 12,
                dues: random.choose(&[Dues::Soon, Dues::Any]),
                end: any_end(&mut random),
                ..PLAN
            };
            play(plan, random);
        },
    );
}

#[test]
fn timeouts_of_one_length_are_armed_anew_in_place() {
    explore(
        "timeouts_of_one_length_are_armed_anew_in_place",
        |mut random| {
            let plan = Plan {
                ops: 150,
                dues: Dues::OneLength,
                end: any_end(&mut random),
                ..PLAN
            };
            play(plan, random);
        },
    );
}

#[test]
fn what_a_thread_leaves_behind_is_the_next_one_s() {
    explore(
        "what_a_thread_leaves_behind_is_the_next_one_s",
        |mut random| {
            let plan = Plan {
                users: 4,
                phases: 10,
                ops: 10,
                end: any_end(&mut random),
                ..PLAN
            };
            play(plan, random);
        },
    );
}
