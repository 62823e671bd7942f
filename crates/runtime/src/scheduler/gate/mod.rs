//! The gate: runs that may not go yet, because as many of their key go already or because their key
//! has no token left. They wait here, before a worker is taken.
//!
//! ```text
//!  due --> admit --> lane of the concurrency key --slot free--\
//!             \----> lane of the rate key <--------------------+   (or done)
//!                       token there, and slot free: takes both --> ready --> executor
//!                       token there, slot taken: back to the other lane, the token stays
//! ```
//!
//! Invariants, whenever nothing is being served: who waits in the lane of a concurrency key waits
//! for a slot, and none is free; who waits in the lane of a rate key waits for a token, and a timer
//! is set for that. A run takes both at once or none, so nobody holds one while waiting for the
//! other. A key that nobody uses is forgotten: a concurrency key with its last run, a rate key when
//! its bucket is full again.
//!
//! Ground rules: all of it is plain memory of the driver thread, and takes no lock: of tasks it only
//! tries them. A run that was cancelled takes nothing; one whose lock is taken is looked at again in
//! the next pass.

mod waiting;
mod watch;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use wheel_sync::RandomState;

use super::limits::{AtOnce, Limits, Often, Permit};
use super::sink::Fire;
use crate::clock::Moment;
use crate::driver::Engine;
use crate::policy::Bucket;
use crate::task::WaitingRun;
use waiting::{Lane, Place, Waiter, Waiting};
pub(super) use watch::Watch;

/// Runs that one pass looks at to drop those that are void.
const SWEPT: usize = 1024;

pub(super) struct Gate {
    slots: HashMap<Arc<str>, Slots, RandomState>,
    tokens: HashMap<Arc<str>, Tokens, RandomState>,
    waiting: Waiting,
    lanes: u64,
    arrivals: u64,
    ageing_ns: u64,
    /// How late the driver may be for a token without the next one being put off.
    slack: Duration,
    came: Vec<Arc<Limits>>,
    ready: Vec<Ready>,
    /// With a run in front whose task had its lock taken.
    busy: Vec<(Engine<Fire>, Arc<Limits>)>,
    swept_to: Option<Place>,
    watch: Arc<Watch>,
}

/// A run that may go.
pub(super) struct Ready {
    pub(super) run: WaitingRun,
    pub(super) found: Moment,
}

/// What a concurrency key has.
struct Slots {
    lane: Lane,
    at_most: u32,
    taken: u32,
}

/// What a rate key has.
struct Tokens {
    lane: Lane,
    bucket: Bucket,
    /// When the engine will come back.
    armed: Option<Moment>,
    /// Somebody has waited for the next token.
    is_awaited: bool,
}

/// Comes when a rate key has a token, or is full again; and sets the next one.
pub(crate) struct TokenTimer {
    engine: Engine<Fire>,
    limits: Arc<Limits>,
}

impl TokenTimer {
    pub(super) fn keys(&self) -> [Option<&str>; 2] {
        self.limits.keys()
    }
}

/// What may be said of a run that waits.
enum Standing {
    Wanted,
    Void,
    Unknown,
}

impl Gate {
    pub(super) fn new(ageing: Duration, slack: Duration, watch: Arc<Watch>) -> Gate {
        Gate {
            slots: HashMap::default(),
            tokens: HashMap::default(),
            waiting: Waiting::default(),
            lanes: 0,
            arrivals: 0,
            ageing_ns: u64::try_from(ageing.as_nanos()).unwrap_or(u64::MAX),
            slack,
            came: Vec::new(),
            ready: Vec::new(),
            busy: Vec::new(),
            swept_to: None,
            watch,
        }
    }

    /// A run that was found due comes to the gate; `settle` says whether it may go.
    pub(super) fn admit(&mut self, run: WaitingRun, limits: Arc<Limits>, found: Moment) {
        // What was said last holds.
        if let Some(often) = &limits.rate {
            self.tokens(often).bucket.set_rate(often.rate);
        }
        let lane = match (&limits.concurrency, &limits.rate) {
            (Some(at_once), _) => {
                let slots = self.slots(at_once);
                slots.at_most = at_once.at_most.get();
                slots.lane
            }
            (None, Some(often)) => self.tokens(often).lane,
            (None, None) => {
                self.ready.push(Ready { run, found });
                return;
            }
        };
        self.arrivals += 1;
        let place = Place {
            lane,
            class: Reverse(run.priority()),
            due_ns: run.occasion.due.as_nanos(),
            arrival: self.arrivals,
        };
        self.came.push(Arc::clone(&limits));
        self.waiting.add(place, Waiter { run, found, limits });
    }

    /// Lets go who may go of those that have come: after the pass, so that what it found goes in due
    /// order.
    pub(super) fn settle(&mut self, now: Moment) {
        for limits in std::mem::take(&mut self.came) {
            self.look(&limits, now);
        }
    }

    /// A run of this concurrency key is over.
    pub(super) fn freed(&mut self, limits: &Arc<Limits>, now: Moment) {
        let at_once = limits.concurrency.as_ref();
        let slots = at_once.and_then(|at_once| self.slots.get_mut(&at_once.key));
        let slots = slots.expect("a key with a permit is not forgotten");
        slots.taken -= 1;
        self.look(limits, now);
    }

    /// A timer of this rate key has fired.
    pub(super) fn tokens_came(&mut self, timer: TokenTimer, now: Moment) {
        let TokenTimer { engine, limits } = timer;
        let often = limits.rate.as_ref();
        let tokens = often.and_then(|often| self.tokens.get_mut(&often.key));
        let (Some(tokens), Some(often)) = (tokens, often) else {
            return;
        };
        tokens.armed = tokens.armed.filter(|armed| *armed > now);
        self.look(&limits, now);
        // Also if those that waited have turned out to be void, so that nobody here has an engine.
        self.await_tokens(&often.key, now, Some((engine, Arc::clone(&limits))));
        #[cfg(test)]
        self.watch.set_keys(self.slots.len() + self.tokens.len());
    }

    /// Lets go who may go, of the keys that these limits name.
    pub(super) fn look(&mut self, limits: &Arc<Limits>, now: Moment) {
        if let Some(at_once) = &limits.concurrency {
            self.serve_slots(&at_once.key, now);
        }
        if let Some(often) = &limits.rate {
            self.serve_tokens(&often.key, now);
        }
        self.watch.set_waiting(self.waiting.len());
        #[cfg(test)]
        self.watch.set_keys(self.slots.len() + self.tokens.len());
    }

    /// Looks at some of those that wait, and drops the ones that are void. Whether there are more to
    /// look at.
    pub(super) fn sweep(&mut self) -> bool {
        let is_void = |run: &WaitingRun| matches!(Standing::of(run), Standing::Void);
        let (voids, last) = self.waiting.voids(self.swept_to, SWEPT, is_void);
        for place in voids {
            self.waiting.remove(place).run.forget();
        }
        self.watch.set_waiting(self.waiting.len());
        self.swept_to = last;
        last.is_some()
    }

    /// The runs that may go.
    pub(super) fn take_ready(&mut self) -> Vec<Ready> {
        std::mem::take(&mut self.ready)
    }

    /// What is to be looked at again in the next pass.
    pub(super) fn take_busy(&mut self) -> Vec<(Engine<Fire>, Arc<Limits>)> {
        std::mem::take(&mut self.busy)
    }

    fn serve_slots(&mut self, key: &Arc<str>, now: Moment) {
        while let Some(slots) = self.slots.get_mut(key) {
            if slots.taken >= slots.at_most {
                return;
            }
            let lane = slots.lane;
            let Some(place) = self.first_wanted(lane) else {
                break;
            };
            let waiter = self.waiting.remove(place);
            let limits = Arc::clone(&waiter.limits);
            match &limits.rate {
                None => self.let_go(waiter),
                // Both or none: that is decided there.
                Some(often) => {
                    let lane = self.tokens(often).lane;
                    self.waiting.add(Place { lane, ..place }, waiter);
                    self.serve_tokens(&often.key, now);
                }
            }
        }
        let lane_of = self.slots.get(key).filter(|slots| slots.taken == 0);
        if lane_of.is_some_and(|slots| self.waiting.is_empty(slots.lane)) {
            self.slots.remove(key);
        }
    }

    fn serve_tokens(&mut self, key: &Arc<str>, now: Moment) {
        let mut engine = None;
        while let Some(tokens) = self.tokens.get(key) {
            let (lane, is_there) = (tokens.lane, tokens.bucket.has_token(now));
            let slack = if tokens.is_awaited {
                self.slack
            } else {
                Duration::ZERO
            };
            if !is_there {
                break;
            }
            let Some(place) = self.first_wanted(lane) else {
                break;
            };
            let waiter = self.waiting.remove(place);
            if let Some(at_once) = &waiter.limits.concurrency {
                let slots = self.slots(at_once);
                if slots.taken >= slots.at_most {
                    let lane = slots.lane;
                    self.waiting.add(Place { lane, ..place }, waiter);
                    continue;
                }
            }
            let tokens = self.tokens.get_mut(key).expect("it was just there");
            tokens.bucket.take(now, slack);
            engine = Some((waiter.run.engine(), Arc::clone(&waiter.limits)));
            self.let_go(waiter);
        }
        self.await_tokens(key, now, engine);
    }

    /// Sets a timer for the next token if somebody waits for it, else for when the key can be
    /// forgotten.
    fn await_tokens(
        &mut self,
        key: &Arc<str>,
        now: Moment,
        last: Option<(Engine<Fire>, Arc<Limits>)>,
    ) {
        let Some(tokens) = self.tokens.get_mut(key) else {
            return;
        };
        let first = self.waiting.first(tokens.lane, self.ageing_ns);
        tokens.is_awaited = first.is_some();
        let at = if first.is_some() {
            tokens.bucket.next()
        } else {
            tokens.bucket.full()
        };
        if at <= now {
            // Full, or somebody in front is looked at again in the next pass.
            if first.is_none() {
                self.tokens.remove(key);
            }
            return;
        }
        if tokens.armed.is_some_and(|armed| armed <= at) {
            return;
        }
        let first = first.map(|(_, waiter)| (waiter.run.engine(), Arc::clone(&waiter.limits)));
        if let Some((engine, limits)) = first.or(last) {
            tokens.armed = Some(at);
            let timer = TokenTimer {
                engine: engine.clone(),
                limits,
            };
            // A closed engine is being shut down with all its tasks.
            let _ = engine.at_moment(at, Fire::Tokens(Box::new(timer)));
        }
    }

    /// The place of the first one of a lane that is still wanted; those in front of it that are void
    /// are dropped. `None` also if the first one's task has its lock taken.
    fn first_wanted(&mut self, lane: Lane) -> Option<Place> {
        loop {
            let (place, waiter) = self.waiting.first(lane, self.ageing_ns)?;
            match Standing::of(&waiter.run) {
                Standing::Wanted => return Some(place),
                Standing::Void => self.waiting.remove(place).run.forget(),
                Standing::Unknown => {
                    let busy = (waiter.run.engine(), Arc::clone(&waiter.limits));
                    self.busy.push(busy);
                    return None;
                }
            }
        }
    }

    /// Takes its slot, if it needs one; it is free.
    fn let_go(&mut self, waiter: Waiter) {
        let Waiter {
            mut run,
            found,
            limits,
        } = waiter;
        if let Some(at_once) = &limits.concurrency {
            self.slots(at_once).taken += 1;
            run.permit = Some(Permit::new(run.engine(), limits));
        }
        self.ready.push(Ready { run, found });
    }

    fn slots(&mut self, at_once: &AtOnce) -> &mut Slots {
        let lanes = &mut self.lanes;
        let entry = self.slots.entry(Arc::clone(&at_once.key));
        entry.or_insert_with(|| Slots {
            lane: new_lane(lanes),
            at_most: at_once.at_most.get(),
            taken: 0,
        })
    }

    fn tokens(&mut self, often: &Often) -> &mut Tokens {
        let lanes = &mut self.lanes;
        let entry = self.tokens.entry(Arc::clone(&often.key));
        entry.or_insert_with(|| Tokens {
            lane: new_lane(lanes),
            bucket: Bucket::new(often.rate),
            armed: None,
            is_awaited: false,
        })
    }
}

impl Standing {
    fn of(run: &WaitingRun) -> Standing {
        match run.is_wanted() {
            Some(true) => Standing::Wanted,
            Some(false) => Standing::Void,
            None => Standing::Unknown,
        }
    }
}

fn new_lane(lanes: &mut u64) -> Lane {
    *lanes += 1;
    *lanes
}

#[cfg(test)]
mod tests;
