//! What the tests stand on: a scheduler on a manual clock, a record of what ran, and gates for
//! handlers.
//!
//! `inline` runs handlers on the driver thread, so that `run_for` gives exact times. `workers` runs
//! them on threads, where each step of the clock is followed by a wait for the runs.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wheel_runtime::{
    Context, InlineExecutor, IntoOutcome, ManualClock, Retry, Scheduler, SchedulerBuilder,
    TaskHandle,
};

/// Long enough to say "it hangs".
pub(crate) const HANG: Duration = Duration::from_secs(30);

/// `large` where `WHEEL_STRESS` is set, else `small`: the size at which others met a case, where
/// that takes long.
pub(crate) fn size(small: usize, large: usize) -> usize {
    match std::env::var_os("WHEEL_STRESS") {
        Some(_) => large,
        None => small,
    }
}

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(crate) struct Bed {
    pub(crate) clock: ManualClock,
    pub(crate) scheduler: Scheduler,
}

impl Bed {
    /// Handlers run on the driver thread, one after the other.
    pub(crate) fn inline() -> Bed {
        Bed::with(|builder| builder.executor(InlineExecutor))
    }

    pub(crate) fn workers(workers: usize) -> Bed {
        Bed::with(|builder| builder.workers(workers))
    }

    pub(crate) fn with(setting: impl FnOnce(SchedulerBuilder) -> SchedulerBuilder) -> Bed {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone());
        Bed {
            scheduler: setting(builder).build().unwrap(),
            clock,
        }
    }

    /// Jumps, and waits for the runs.
    pub(crate) fn jump(&self, step: Duration) {
        self.clock.advance(step);
        self.settle();
    }

    /// Goes on in steps, and waits for the runs of each.
    pub(crate) fn walk(&self, steps: u64, step: Duration) {
        (0..steps).for_each(|_| self.jump(step));
    }

    /// Waits for the runs that are due.
    pub(crate) fn settle(&self) {
        assert!(self.scheduler.wait_idle_timeout(HANG), "runs hang");
    }

    /// A task "x", due after 10 ms, that is tried again.
    pub(crate) fn tried<F, O>(&self, retry: Retry, handler: F) -> TaskHandle
    where
        F: Fn(&Context) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        let task = self.scheduler.task("x").after(ms(10)).retry(retry);
        task.run(handler).unwrap()
    }

    /// Keeps one worker busy until the gate opens; returns when it is.
    pub(crate) fn occupy_worker(&self) -> Gate {
        let (gate, keeper) = gate();
        let busy = move |context: &Context| keeper.pass(context);
        self.scheduler.after(Duration::ZERO, busy).unwrap();
        gate.wait_started();
        gate
    }

    /// The same, on the clock as it stands.
    pub(crate) fn occupy_at_once(&self) -> Gate {
        let (gate, keeper) = gate();
        let busy = move |context: &Context| keeper.pass(context);
        self.scheduler.after(Duration::ZERO, busy).unwrap();
        self.clock.advance(Duration::ZERO);
        gate.wait_started();
        gate
    }

    /// A record of the times at which handlers ran.
    pub(crate) fn record(&self) -> Record {
        Record {
            clock: self.clock.clone(),
            entries: Arc::default(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Record {
    clock: ManualClock,
    entries: Arc<Mutex<Vec<(String, u64)>>>,
}

impl Record {
    /// A handler that notes its name and the time in ms.
    pub(crate) fn note(&self, name: &str) -> impl Fn(&Context) + Send + Sync + 'static {
        let (record, name) = (self.clone(), name.to_owned());
        move |_| record.add(&name)
    }

    pub(crate) fn add(&self, name: &str) {
        let now = u64::try_from(self.clock.now().as_millis()).unwrap();
        self.entries.lock().unwrap().push((name.to_owned(), now));
    }

    pub(crate) fn times(&self, name: &str) -> Vec<u64> {
        let entries = self.entries.lock().unwrap();
        let of_name = entries.iter().filter(|(n, _)| n == name);
        of_name.map(|(_, at)| *at).collect()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.entries.lock().unwrap();
        entries.iter().map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.lock().unwrap().len()
    }
}

/// Handlers that go through it say that they have started, then wait to be let through, one at a
/// time.
pub(crate) struct Gate {
    started: Receiver<u64>,
    open: Sender<()>,
}

/// The handler's side.
#[derive(Clone)]
pub(crate) struct Gatekeeper {
    started: Sender<u64>,
    opened: Arc<Mutex<Receiver<()>>>,
}

pub(crate) fn gate() -> (Gate, Gatekeeper) {
    let (started, has_started) = channel();
    let (open, opened) = channel();
    let gate = Gate {
        started: has_started,
        open,
    };
    let keeper = Gatekeeper {
        started,
        opened: Arc::new(Mutex::new(opened)),
    };
    (gate, keeper)
}

impl Gate {
    /// Waits until a run stands at the gate, and returns its number.
    pub(crate) fn wait_started(&self) -> u64 {
        self.started.recv_timeout(HANG).expect("no run came")
    }

    /// Lets one run through, be it there already or not.
    pub(crate) fn open(&self) {
        self.open.send(()).unwrap();
    }
}

impl Gatekeeper {
    pub(crate) fn pass(&self, context: &Context) {
        let _ = self.started.send(context.run());
        // An error means that the test is over.
        let _ = self.opened.lock().unwrap().recv_timeout(HANG);
    }
}
