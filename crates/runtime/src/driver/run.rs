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
use crate::clock::{Clock, ClockJump, ClockJumpKind, JumpWatch, Moment};
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
    pub(super) watch: JumpWatch,
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
        let mut visit = None;
        while !self.line.is_stopped() {
            let now = self.clock.now();
            if now < last {
                self.go_back(last, now);
            }
            if let Some(at) = visit.take()
                && now >= at
            {
                self.counters.visited(now.since(at));
            }
            last = now;
            let wheel = self.fire_wheel(now, unfired);
            let brink = self.fire_brink();
            let wall = self.fire_wall(now, unfired);
            if wheel.fired + brink.fired + wall.fired > 0 {
                self.sink.flush();
                self.waiter.note_fired();
            }
            let asked = self.requests.answer(|| self.look());
            if wheel.more || brink.more || wall.more || asked {
                // There is something to do at the next tick as well.
                visit = Some(self.tick_after(now));
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
            // What had passed before this pass began came late by itself.
            visit = Some(until.moment).filter(|&at| at > now && at != Moment::NEVER);
            if self.waiter.wait(&self.clock, until) {
                self.counters.woke_up();
            }
        }
    }

    /// A reading that went back is taken as it is: what is inserted from now on counts from it, and
    /// would be early by the latest one. What fired before does not come back, for the wheel itself
    /// never goes back.
    fn go_back(&mut self, last: Moment, now: Moment) {
        self.watch.begin_again(&self.clock, now);
        self.tell_jump(ClockJump {
            kind: ClockJumpKind::MonotonicBack,
            by: last.since(now),
        });
    }

    /// When the next tick begins.
    fn tick_after(&self, now: Moment) -> Moment {
        let tick = self.placing.tick;
        Moment::of_tick(now.tick_floor(tick).saturating_add(1), tick)
    }

    /// What it holds, between two passes.
    fn look(&self) -> EngineSnapshot {
        EngineSnapshot {
            wheel: self.driver.snapshot(),
            tick: self.placing.tick.duration(1),
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

    fn fire_wall(&mut self, now: Moment, unfired: &mut Vec<T>) -> Pass {
        let mut pass = Pass {
            fired: 0,
            more: false,
        };
        if self.wall.is_empty() {
            if self.watch.is_due(&self.clock, now) {
                self.look_at_clocks(now);
            }
            return pass;
        }
        let wall_ns = self.look_at_clocks(now);
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

    /// Reads the clocks, and tells if one has moved against another since the last look. Returns what
    /// the wall clock says.
    fn look_at_clocks(&mut self, now: Moment) -> i128 {
        let look = self.watch.look(&self.clock, now);
        for jump in look.jumps.into_iter().flatten() {
            self.tell_jump(jump);
        }
        look.wall_ns
    }

    fn tell_jump(&mut self, jump: ClockJump) {
        self.counters.clock_jumped(jump);
        self.sink.clock_jumped(jump);
    }
}
