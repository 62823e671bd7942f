//! The driver thread: fire what is due, hand it over, sleep until the next due tick.
//!
//! The thread owns the wheel's `Driver`, the waiter and the sink; nobody else touches them. It does
//! not keep the engine alive. A pass fires a bounded number of timers and then looks at the clock
//! and the stop flag again, so that a flood of due timers delays neither.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use wheel_core::{Budget, Driver};
use wheel_sync::thread;

use super::brink::{Brink, Placing};
use super::exit::Exit;
use super::snapshot::{EngineSnapshot, Requests};
use super::stats::Counters;
use super::wait::{Line, Until, Waiter};
use super::wall::{self, WallTimers};
use super::{DueTimer, Held, Sink};
use crate::clock::{Clock, Moment};
use crate::panics::discard;

/// Timers per pass: a batch that an executor takes at once, and some tens of microseconds of work.
const PASS: usize = 1024;

pub(super) struct Run<T, S> {
    pub(super) clock: Clock,
    pub(super) placing: Placing,
    pub(super) driver: Driver<Held<T>>,
    pub(super) brink: Brink<T>,
    pub(super) wall: Arc<WallTimers<T>>,
    pub(super) line: Arc<Line>,
    pub(super) exit: Arc<Exit<T>>,
    pub(super) counters: Arc<Counters>,
    pub(super) requests: Arc<Requests>,
    pub(super) waiter: Waiter,
    pub(super) sink: S,
}

/// What one look at the engine found.
struct Pass {
    fired: usize,
    more: bool,
}

impl<T: Send + 'static, S: Sink<T>> Run<T, S> {
    /// The whole life of the thread.
    pub(super) fn run(mut self) {
        self.waiter.begin();
        let mut unfired = Vec::new();
        let ended = catch_unwind(AssertUnwindSafe(|| self.drive(&mut unfired)));
        // Whatever ended the loop, from here on inserts are refused and every value leaves once.
        self.line.stop();
        self.requests.close();
        unfired.extend(self.driver.close().map(|held| held.value));
        unfired.extend(self.brink.take_all());
        unfired.append(&mut self.wall.close());
        discard(self.exit.leave(unfired));
        // Movers of a manual clock stop waiting for this driver.
        drop(self.waiter);
        // The user's executor and hook are in it. What unwound out of this thread would be dropped
        // by the system, which ends the process if that panics again.
        discard([self.sink]);
        self.exit.go();
        if let Err(panic) = ended {
            resume_unwind(panic);
        }
    }

    fn drive(&mut self, unfired: &mut Vec<T>) {
        let mut last = Moment::ZERO;
        let mut offset = None;
        while !self.line.is_stopped() {
            let now = self.clock.now();
            // A reading that went back is taken as it is: what is inserted from now on counts from
            // it, and would be early by the latest one. What fired before does not come back, for
            // the wheel itself never goes back.
            if now < last {
                self.counters.clock_jumped();
            }
            last = now;
            let wheel = self.fire_wheel(now, unfired);
            let brink = self.fire_brink();
            let wall = self.fire_wall(&mut offset, unfired);
            if wheel.fired + brink.fired + wall.fired > 0 {
                self.sink.flush();
                self.waiter.note_fired();
            }
            let asked = self.requests.answer(|| self.look());
            if wheel.more || brink.more || wall.more || asked {
                continue;
            }
            self.sink.caught_up();
            // From here on earlier inserts ring the bell, and a ring before the sleep is kept.
            let next = self.driver.next_due();
            if self.driver.is_behind() && self.clock.as_manual().is_some() {
                // The next tick, which is soon enough by any other clock, may never come.
                thread::yield_now();
                continue;
            }
            let tick = self.placing.tick;
            let until = Until {
                moment: next.map_or(Moment::NEVER, |at| Moment::of_tick(at, tick)),
                exact: self.brink.next_due(),
                wall_ms: self.wall.next_due_ms(),
            };
            if self.waiter.wait(&self.clock, until) {
                self.counters.woke_up();
            }
        }
    }

    /// What it holds, between two passes.
    fn look(&self) -> EngineSnapshot {
        EngineSnapshot {
            wheel: self.driver.snapshot(),
            tick: Duration::from_nanos(u64::from(self.placing.tick.as_nanos())),
            wall: self.wall.len(),
            at_hand: self.brink.len(),
        }
    }

    fn fire_wheel(&mut self, now: Moment, unfired: &mut Vec<T>) -> Pass {
        let (placing, tick) = (self.placing, self.placing.tick);
        let (sink, line, clock) = (&mut self.sink, &self.line, &self.clock);
        let (counters, brink) = (&self.counters, &mut self.brink);
        let mut held = 0;
        let fire = |fired: wheel_core::Fired<Held<T>>| {
            let Held { due, value } = fired.value;
            if line.is_stopped() {
                unfired.push(value);
                return;
            }
            if placing.waits_for(due, fired.due, now) {
                brink.hold(due, value);
                held += 1;
                return;
            }
            let tick_start = Moment::of_tick(fired.due, tick);
            let due = if placing.was_asked(due, fired.due) {
                due
            } else {
                tick_start
            };
            let at = clock.now_about().max(now);
            counters.fired(at.since(due.max(tick_start)));
            sink.fire(DueTimer {
                value,
                due,
                now: at,
            });
        };
        let progress = self
            .driver
            .advance(now.tick_floor(tick), Budget::new(PASS), fire);
        Pass {
            fired: progress.fired - held,
            more: progress.more,
        }
    }

    /// Each at its own instant. What is here when the engine is stopped never fires.
    fn fire_brink(&mut self) -> Pass {
        let mut fired = 0;
        while fired < PASS && self.brink.next_due().is_some() && !self.line.is_stopped() {
            let now = self.clock.now();
            let Some((due, value)) = self.brink.pop_due(now) else {
                break;
            };
            self.counters.fired(now.since(due));
            self.sink.fire(DueTimer { value, due, now });
            fired += 1;
        }
        Pass {
            fired,
            more: fired == PASS,
        }
    }

    fn fire_wall(&mut self, offset: &mut Option<i128>, unfired: &mut Vec<T>) -> Pass {
        let mut pass = Pass {
            fired: 0,
            more: false,
        };
        if self.wall.is_empty() {
            *offset = None;
            return pass;
        }
        let wall_ns = self.notice_step(offset);
        while let Some((due_ms, value)) = self.wall.pop_due(wall::ms_floor(wall_ns)) {
            if self.line.is_stopped() {
                unfired.push(value);
                continue;
            }
            let late_ns = wall_ns - wall::nanos_of_ms(due_ms);
            let late = Duration::from_nanos(u64::try_from(late_ns).unwrap_or(u64::MAX));
            let now = self.clock.now();
            self.counters.fired(late);
            self.sink.fire(DueTimer {
                value,
                due: now.before(late),
                now,
            });
            pass.fired += 1;
            if pass.fired == PASS {
                pass.more = true;
                break;
            }
        }
        pass
    }

    /// Reads the wall clock, and counts a jump if it has moved against the monotonic one since the
    /// last look.
    fn notice_step(&self, offset: &mut Option<i128>) -> i128 {
        const STEP_NS: u128 = 500_000_000;
        let now = self.clock.now();
        let wall_ns = crate::clock::unix_nanos(self.clock.wall());
        let new = wall_ns - i128::from(now.as_nanos());
        let old = offset.replace(new).unwrap_or(new);
        if new.abs_diff(old) >= STEP_NS {
            self.counters.clock_jumped();
        }
        wall_ns
    }
}
