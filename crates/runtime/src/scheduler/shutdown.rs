//! The end of a scheduler, in numbered steps.
//!
//! 1. Nothing new is accepted.
//! 2. The engine is stopped: nothing becomes due any more.
//! 3. Every task that has no run going ends as cancelled, and is named in the report.
//! 4. Runs that are going may end within the grace. One that fails there is not tried again, and is
//!    named in the report as interrupted.
//!    So may handlers that hang: their runs are over, but their threads are not.
//! 5. Those that have not are told to stop by their tokens, and are named in the report.
//! 6. The threads go home; those whose run has not ended go when it does.
//!
//! The first caller does steps 1 to 3; each caller waits in step 4 with its own grace. A caller in
//! a handler does not wait for its own run. Dropping the last handle does the same without waiting
//! anywhere.
//!
//! The driver may be in the middle of a pass at step 2. That harms nothing: each task is ended
//! under its own lock, and what the driver finds due afterwards is void.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::activity::Caller;
use super::core::Core;
use super::dead_letters::Replay;
use super::events::EventKind;
#[cfg(feature = "serde")]
use super::kinds::UnresolvedTask;
use super::undone::{Named, Undone};
use crate::clock::Patience;
use crate::task::{
    Excuse, Leftovers, Stopped, Task, TaskInfo, is_inside_run_of_core, is_inside_run_of_task,
};

/// What a shutdown left undone: each task as it stood before. A task is named once at most: in `cut`
/// if it belongs there, whatever else it waited for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Tasks that waited until they were due, the earliest first; those that recur are among them,
    /// and those whose run waited for another attempt.
    pub pending: Vec<TaskInfo>,
    /// Tasks that were due and waited for a worker.
    pub queued: Vec<TaskInfo>,
    /// Tasks whose run failed, or was snoozed, within the grace, and would have been tried again.
    pub interrupted: Vec<TaskInfo>,
    /// Definitions whose kind was not registered, so that they were no tasks yet.
    #[cfg(feature = "serde")]
    pub unresolved: Vec<UnresolvedTask>,
    /// Tasks whose run was still going when the grace was over, and those with a handler that
    /// [hangs](crate::Scheduler::hung). Their tokens are set.
    pub cut: Vec<TaskInfo>,
}

/// The grace was over before every run had ended. The scheduler is shut down all the same; threads
/// whose run goes on end when it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownTimeout {
    /// What was left undone; `cut` names what was still going.
    pub report: ShutdownReport,
}

impl Core {
    /// Shuts down, waiting for runs that are going for `grace` of real time at most.
    pub(super) fn shutdown(&self, grace: Duration) -> Result<ShutdownReport, ShutdownTimeout> {
        let patience = Patience::new(grace);
        let caller = self.caller();
        let mut undone = self.seal();
        if caller == Caller::Outside {
            // Steps 1 to 3 of another caller.
            self.activity
                .wait_until(patience, || self.closing.is_sealed());
        }
        let going = self.wait_for_runs(caller, patience); // Step 4.
        // Those that hang have been told, and have the grace as well.
        let are_back =
            self.hung.are_back() || self.activity.wait_until(patience, || self.hung.are_back());
        if going > 0 {
            undone.cut = self.interrupt_runs(); // Step 5.
        }
        if !are_back {
            undone.cut.extend(self.hung.tasks());
        }
        undone.interrupted = std::mem::take(&mut *self.interrupted.lock());
        let report = undone.into_report();
        // Step 6. All runs have ended or been given up. Whoever may wait does so for some
        // instructions of each thread.
        if caller == Caller::Outside && going == 0 && are_back {
            let moment = Duration::from_secs(1);
            self.send_workers_home(moment);
            self.engine.close_within(Patience::new(moment));
        } else {
            self.send_workers_home(Duration::ZERO);
        }
        // What goes on all the same is told to nobody: who listens is not to wait for it.
        self.events.close();
        if report.cut.is_empty() {
            Ok(report)
        } else {
            Err(ShutdownTimeout { report })
        }
    }

    /// Shuts down without waiting.
    pub(super) fn abandon(&self) {
        self.seal();
        self.interrupt_runs();
        self.ended.close();
        self.send_workers_home(Duration::ZERO);
    }

    /// Steps 1 to 3, for the first caller.
    fn seal(&self) -> Undone {
        let mut undone = Undone::default();
        if !self.closing.begin() {
            return undone; // Step 1 and the rest were somebody else's.
        }
        self.events.tell_of_scheduler(EventKind::ShuttingDown);
        // Step 2. What the engine holds are only references to tasks, which the registry has as
        // well.
        self.engine.stop();
        // Step 3.
        let mut dropped_last = Vec::new();
        for task in self.registry.all() {
            let serial = task.id.serial;
            let (stopped, leftovers) = task.stop();
            match stopped {
                Stopped::Pending(info) => undone.pending.push(Named { serial, info }),
                Stopped::Queued(info) => undone.queued.push(Named { serial, info }),
                Stopped::Running | Stopped::Ended => {}
            }
            dropped_last.push(leftovers);
        }
        undone
            .pending
            .sort_by_key(|Named { info, .. }| (info.next_due.is_none(), info.next_due));
        self.closing.seal();
        self.activity.tell();
        // What handlers captured may call for a shutdown itself, and that waits for the seal.
        dropped_last.into_iter().for_each(Leftovers::discard);
        self.dead.close().into_iter().for_each(Replay::discard);
        #[cfg(feature = "serde")]
        {
            self.kinds.close().discard();
            undone.unresolved = self.kinds.unresolved();
        }
        undone
    }

    /// Sets the tokens of all runs that are going, but for the caller's own, and names them.
    fn interrupt_runs(&self) -> Vec<Named> {
        let going: Vec<Arc<Task>> = self.leaving.lock().values().cloned().collect();
        let mut cut = Vec::new();
        for task in going {
            if is_inside_run_of_task(&task) {
                continue;
            }
            let named = Named::of(&task);
            // One that ends or fails in this very moment is over, and named elsewhere if at all.
            if task.interrupt() {
                cut.push(named);
            }
        }
        cut
    }

    fn send_workers_home(&self, grace: Duration) {
        for pool in self.pools() {
            // Who is still busy has been named in the report.
            let _ = pool.shutdown(grace);
        }
    }

    pub(super) fn caller(&self) -> Caller {
        let own = Excuse::of_caller();
        let is_inside = is_inside_run_of_core(self) && !self.hung.voids(own);
        if is_inside || self.engine.is_driver_thread() {
            Caller::InsideRun(own)
        } else {
            Caller::Outside
        }
    }
}

impl fmt::Display for ShutdownTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = &self.report.cut;
        let runs = if cut.len() == 1 { "run" } else { "runs" };
        write!(
            f,
            "the grace was over with {} {runs} still going:",
            cut.len()
        )?;
        const NAMED: usize = 5;
        for (n, task) in cut.iter().take(NAMED).enumerate() {
            let comma = if n == 0 { "" } else { "," };
            write!(f, "{comma} {}", task.id)?;
        }
        if cut.len() > NAMED {
            write!(f, " and {} more", cut.len() - NAMED)?;
        }
        Ok(())
    }
}

impl std::error::Error for ShutdownTimeout {}
