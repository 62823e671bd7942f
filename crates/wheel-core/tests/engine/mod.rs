//! The engines of this crate as the testkit sees them.

use std::time::Duration;

use wheel_core::{Config, InsertError, Progress, Tick, TickLength};
use wheel_testkit::{Refused, Scale, Setup, Step};

mod local;
mod shared;

pub(crate) use local::Local;
pub(crate) use shared::Shared;

fn config(setup: &Setup) -> Config {
    let tick_length = match setup.scale {
        Scale::Millisecond => TickLength::MILLISECOND,
        Scale::TenMicroseconds => {
            TickLength::new(Duration::from_micros(10)).expect("10 us divide a millisecond")
        }
    };
    let config = Config::new()
        .tick_length(tick_length)
        .start(Tick::new(setup.start));
    match setup.max_timers {
        Some(max_timers) => config.max_timers(max_timers),
        None => config,
    }
}

fn refused(error: InsertError<u64>) -> Refused {
    match error {
        InsertError::Full(value) => Refused::Full(value),
        InsertError::Closed(value) => Refused::Closed(value),
        other => panic!("an insert failed for a reason that the testkit does not know: {other:?}"),
    }
}

fn step(done: Progress) -> Step {
    Step {
        fired: done.fired,
        moved: done.moved,
        more: done.more,
    }
}
