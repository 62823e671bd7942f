//! What went wrong in other engines, stated once for every engine of this project.
//!
//! Each case is a function that plays a short scene to a [`Subject`] and panics when the outcome is
//! wrong. The macro [`engine_cases!`](crate::engine_cases) makes a test of each, for an engine that
//! `build` makes from a [`Setup`]:
//!
//! ```text
//! wheel_testkit::engine_cases!(|setup| MyEngine::new(setup));
//! ```
//!
//! An engine with a limit also calls [`keys::the_limit_is_exact`].
//!
//! A tick stands for a millisecond. The value of each timer is the tick it is due at.

pub mod far;
pub mod keys;
pub mod levels;
pub mod numbers;

use crate::stream::{Scale, Setup};
use crate::subject::{Step, Subject};

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;

/// Makes a test of every case for one engine. `$build` is a function from `&Setup` to a
/// [`Subject`].
#[macro_export]
macro_rules! engine_cases {
    ($build:expr) => {
        $crate::engine_cases! { @tests $build;
            numbers: timers_are_exact_where_a_counter_would_wrap, // OV-06
            numbers: a_first_delay_beyond_31_bits_is_exact, // OV-11
            numbers: a_multiple_of_a_turn_is_not_rounded_up, // EA-03
            numbers: the_past_fires_at_the_next_advance, // ZP-03
            numbers: what_is_due_at_the_end_of_time_stays_pending, // OV-01, OV-05
            levels: an_engine_older_than_its_span_takes_near_timers, // OV-07
            levels: a_far_timer_does_not_hide_the_next_second, // OV-07
            levels: timers_around_the_turn_of_the_span_are_exact, // LV-01
            levels: timers_around_the_turn_of_the_span_can_be_cancelled, // LV-01
            levels: a_jump_into_a_coarse_slot_delivers_what_is_due_in_it, // LV-03
            levels: one_call_after_a_stall_delivers_everything_in_order, // LV-07
            levels: a_timer_that_is_added_again_and_again_does_not_drift, // LV-09
            levels: a_full_turn_from_the_last_slot_is_exact, // LV-11
            levels: a_jump_costs_what_is_due_and_not_what_passed, // CK-03
            levels: time_that_goes_back_makes_nothing_early_or_twice,
            keys: timers_due_right_now_can_be_reset_and_cancelled, // HD-05
            keys: an_overdue_timer_can_be_moved_and_cancelled, // HD-03
            keys: the_earliest_timer_can_be_moved_later, // LV-12
            keys: nothing_is_left_after_everything_was_cancelled, // MG-05
            far: timers_beyond_the_span_do_not_fire_a_lap_early, // LV-04
            far: years_away_is_accepted_and_exact, // OV-08
            far: hundreds_of_far_timers_keep_their_own_due_tick, // EA-05
        }
    };
    (@tests $build:expr; $($file:ident: $case:ident,)+) => {$(
        #[test]
        fn $case() {
            $crate::cases::$file::$case($build);
        }
    )+};
}

/// An engine on the stage: its time, and what fired so far.
struct Scene<S> {
    subject: S,
    now: u64,
    /// When each timer fired, and the due tick that is its value.
    fired: Vec<(u64, u64)>,
}

impl<S: Subject> Scene<S> {
    fn at(start: u64, build: impl Fn(&Setup) -> S) -> Scene<S> {
        Scene::with_limit(start, None, build)
    }

    fn with_limit(start: u64, max_timers: Option<usize>, build: impl Fn(&Setup) -> S) -> Scene<S> {
        let subject = build(&Setup {
            scale: Scale::Millisecond,
            start,
            max_timers,
        });
        Scene {
            subject,
            now: start,
            fired: Vec::new(),
        }
    }

    /// Adds a timer that is due at a tick.
    fn add(&mut self, due: u64) -> S::Key {
        self.subject
            .insert(due, due)
            .expect("there is room and the engine is open")
    }

    /// Adds a timer that is due that many ticks from now.
    fn after(&mut self, ticks: u64) -> S::Key {
        self.add(self.now + ticks)
    }

    /// One call without a limit, in which everything that is due must fire. Returns the due ticks
    /// of what fired.
    fn advance(&mut self, now: u64) -> Vec<u64> {
        let before = self.fired.len();
        let step = self.step(now, usize::MAX);
        assert!(
            !step.more,
            "an unlimited advance to {now} left work: {step:?}"
        );
        self.fired[before..].iter().map(|&(_, due)| due).collect()
    }

    fn step(&mut self, now: u64, budget: usize) -> Step {
        self.now = now;
        let fired = &mut self.fired;
        self.subject.advance(now, budget, &mut |due, value| {
            assert_eq!(
                due, value,
                "fired with another due tick than it was inserted with"
            );
            assert!(due <= now, "due at {due}, fired early, at {now}");
            fired.push((now, due));
        })
    }

    /// Advances tick by tick.
    fn walk(&mut self, until: u64) {
        while self.now < until {
            self.advance(self.now + 1);
        }
    }

    /// Advances tick by tick around each of the ticks, and in strides between them.
    fn walk_around(&mut self, ticks: &[u64]) {
        for &tick in ticks {
            while self.now.saturating_add(2_000) < tick {
                self.advance((self.now + 997).min(tick - 1_500));
            }
            self.walk(tick.saturating_add(3));
        }
    }

    /// Every timer in the list, and no other, fired on the very tick it was due at.
    fn assert_fired_exactly(&self, dues: &[u64]) {
        let exact: Vec<(u64, u64)> = dues.iter().map(|&due| (due, due)).collect();
        assert_eq!(self.fired, exact, "(fired at, due at) is wrong");
    }
}
