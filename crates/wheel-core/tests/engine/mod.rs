//! The engines of this crate as the testkit sees them.

use wheel_core::{Config, InsertError, LevelSnapshot, Progress, Snapshot, Tick, TickLength};
use wheel_testkit::{Places, Refused, Setup, Step};

mod local;
mod shared;

pub(crate) use local::Local;
pub(crate) use shared::Shared;

fn config(setup: &Setup) -> Config {
    let tick_length = setup.scale.tick_length();
    let tick_length = TickLength::new(tick_length).expect("it divides a millisecond");
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

fn places(snapshot: &Snapshot) -> Places {
    let slots = snapshot.levels.iter().flat_map(LevelSnapshot::slots);
    Places {
        slots: slots
            .map(|(begins, len)| (begins.get(), len as usize))
            .collect(),
        elsewhere: snapshot.overdue + snapshot.overflow + snapshot.put_off + snapshot.intake,
        live: snapshot.live,
        vacant: snapshot.vacant,
    }
}
