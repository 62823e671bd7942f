//! Tasks of a kind, whose handler a breaker leaves alone while it keeps failing.

use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{Breaker, Context, Kind, Scheduler, SubmitError, TaskBuilder, TaskHandle};

use crate::ledger::{Ledger, Notes, Temper};

pub(crate) fn register(scheduler: &Scheduler, ledger: &Arc<Ledger>) {
    let ledger = Arc::clone(ledger);
    let handler = move |run: &Context, number: u64| {
        ledger.attempt(number, Temper::Moody, &ledger.errand(number), run)
    };
    let breaker = Breaker::after(5).half_open_after(Duration::from_secs(600));
    let kind = Kind::new("errand", handler).breaker(breaker);
    scheduler.register_kind(kind).unwrap();
}

/// Task number `number`, which writes into `notes`.
pub(crate) fn submit(
    task: TaskBuilder<'_>,
    number: u64,
    (ledger, notes): (&Ledger, &Notes),
) -> Result<TaskHandle, SubmitError> {
    ledger.add_errand(number, notes);
    task.kind("errand", &number).submit()
}
