//! Faults of the futures of `wheel-runtime`: those on an engine, those that wait for a token, and runs
//! whose handlers are futures.

use super::{Fault, Notice};

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "a sleep whose timer has gone is over, whatever the clock says",
        file: "crates/runtime/src/timers/futures/sleep.rs",
        find: "            Stage::New | Stage::Armed(..) => match",
        replace: "            Stage::Armed(..) => Ok(()),\n            Stage::New => match",
        notice: Notice::Model("future_or_fire", "while_the_engine_is_closed"),
    },
    Fault {
        name: "another waker is not registered",
        file: "crates/runtime/src/timers/futures/sleep.rs",
        find: "        if whose == Whose::of(waker) {\n",
        replace: "        if whose == Whose::of(waker) || self.due != Moment::ZERO {\n",
        notice: Notice::Model("future_or_fire", "a_waker_that_changes_while_the_timer"),
    },
    Fault {
        name: "another waker that comes too late is taken as registered",
        file: "crates/runtime/src/timers/futures/sleep.rs",
        find: "        let is_pending = replaced.is_ok();\n",
        replace: "        let is_pending = true;\n",
        notice: Notice::Model("future_or_fire", "a_waker_that_changes_while_the_timer"),
    },
    Fault {
        name: "a close wakes no future",
        file: "crates/runtime/src/timers/futures/wake.rs",
        find: "impl Drop for WakeUp {\n    fn drop(&mut self) {\n        if let Some(waker) = self.0.take() {\n            waker.wake();\n",
        replace: "impl Drop for WakeUp {\n    fn drop(&mut self) {\n        if let Some(waker) = self.0.take() {\n            drop(waker);\n",
        notice: Notice::Model("future_or_fire", "a_first_poll_that_meets_a_close"),
    },
    Fault {
        name: "a sleep that is dropped leaves its timer",
        file: "crates/runtime/src/timers/futures/sleep.rs",
        find: "    fn drop(&mut self) {\n        self.disarm();\n",
        replace: "    fn drop(&mut self) {\n",
        notice: Notice::Test("wheel-runtime", "futures", "wherever_a_future"),
    },
    Fault {
        name: "a future that is done in time leaves its timer",
        file: "crates/runtime/src/timers/futures/timeout.rs",
        find: "            this.sleep.disarm();\n",
        replace: "",
        notice: Notice::Test("wheel-runtime", "futures", "whoever_keeps_it"),
    },
    Fault {
        name: "ticks that were missed move the grid",
        file: "crates/runtime/src/timers/futures/interval.rs",
        find: "        self.sleep.move_to(self.later(latest, 1));\n",
        replace: "        self.sleep.move_to(now.after(self.period));\n",
        notice: Notice::Test("wheel-runtime", "futures", "ticks_keep_their_grid"),
    },
    Fault {
        name: "who awaits a token looks at it only before it is among those to be woken",
        file: "crates/runtime/src/task/awaiting.rs",
        find: "        // Set meanwhile, by somebody who has found nobody to wake.\n        if this.token.is_cancelled() {\n            return Poll::Ready(());\n        }\n",
        replace: "",
        notice: Notice::Model("future_or_fire", "a_token_that_is_set"),
    },
    Fault {
        name: "a run that its runtime drops goes on for ever",
        file: "crates/runtime/src/task/away.rs",
        find: "        run.end(Gone::With(Outcome::Failure(error.to_owned())));\n",
        replace: "        drop((run.going, error));\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "wherever_a_runtime_drops"),
    },
    Fault {
        name: "a future whose time is over goes on",
        file: "crates/runtime/src/task/away.rs",
        find: "        self.attempt.limit().passed(now).is_some()\n",
        replace: "        self.attempt.limit().passed(now).is_some() && false\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "a_future_whose_time_is_over"),
    },
    Fault {
        name: "a poll is outside of the span of its attempt",
        file: "crates/runtime/src/task/traced.rs",
        find: "            let entered = contain(|| span.map(|span| span.clone().entered()));\n",
        replace: "            let entered = contain(|| span.and(None));\n",
        notice: Notice::Test("wheel-runtime", "traced", "each_poll_of_a_future"),
    },
    Fault {
        name: "a future whose time is over is not woken",
        file: "crates/runtime/src/task/over_time.rs",
        find: "            Woken::Threads => Some(token),\n",
        replace: "            Woken::Threads => None,\n",
        notice: Notice::Test("wheel-runtime", "scheduler", "is_woken_and_no_worker"),
    },
    Fault {
        name: "a worker is replaced that a future does not hold",
        file: "crates/runtime/src/task/over_time.rs",
        find: "self.core.pool_here().filter(|_| !is_away)",
        replace: "self.core.pool_here().filter(|_| !is_away || true)",
        notice: Notice::Test("wheel-runtime", "scheduler", "is_woken_and_no_worker"),
    },
];
