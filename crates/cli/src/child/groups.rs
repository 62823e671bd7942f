//! The registry of process groups: whoever is in it lives, and can be told to end.

use std::collections::HashMap;
use std::io;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, test_kill_process_group,
    waitid, waitpgid,
};
use wheel_sync::{Arc, Condvar, Mutex};

use super::follow::Running;

/// What a run was told by `wheel`, if anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Forced {
    /// It ended by itself.
    No,
    /// It got SIGTERM.
    Terminated,
    /// It got SIGKILL, because SIGTERM did not end it within the grace or because a second signal
    /// came.
    Killed,
}

/// How far the end has come. Only ever goes forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Open,
    Terminating,
    Killing,
}

/// All programs that run; shared by the workers and the main thread.
#[derive(Debug, Clone)]
pub(crate) struct Children {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something has left the registry.
    left: Condvar,
    grace: Duration,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Programs between the look at `phase` and their entry in `groups`.
    starting: usize,
    groups: HashMap<Pid, Forced>,
    swept: Option<Instant>,
    /// Programs that ran when the end began.
    ran_at_end: usize,
}

impl Children {
    /// A registry whose groups have `grace` between SIGTERM and SIGKILL.
    pub(crate) fn new(grace: Duration) -> Children {
        let state = State {
            phase: Phase::Open,
            starting: 0,
            groups: HashMap::new(),
            swept: None,
            ran_at_end: 0,
        };
        Children {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                left: Condvar::new(),
                grace,
            }),
        }
    }

    pub(crate) fn grace(&self) -> Duration {
        self.shared.grace
    }

    /// Starts a program in a process group of its own. `None`: the end has begun, nothing is
    /// started any more.
    ///
    /// # Errors
    ///
    /// What the system says when it cannot start the program.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Option<Running>> {
        {
            let mut state = self.shared.state.lock();
            if state.phase != Phase::Open {
                return Ok(None);
            }
            state.starting += 1;
        }
        let spawned = command.spawn();
        let mut state = self.shared.state.lock();
        state.starting -= 1;
        let child = match spawned {
            Ok(child) => child,
            Err(error) => {
                self.shared.left.notify_all();
                return Err(error);
            }
        };
        let group = Pid::from_child(&child);
        state.groups.insert(group, Forced::No);
        // The end may have begun while the program was being started: then it was not there to be
        // told.
        match state.phase {
            Phase::Open => {}
            Phase::Terminating => tell(&mut state, group, Forced::Terminated),
            Phase::Killing => tell(&mut state, group, Forced::Killed),
        }
        drop(state);
        Ok(Some(Running::new(self.clone(), child, group)))
    }

    /// Starts nothing any more and sends SIGTERM to all. Returns how many programs ran when the end
    /// began; a second call tells nobody and returns the same.
    pub(crate) fn terminate(&self) -> usize {
        let mut state = self.shared.state.lock();
        if state.phase == Phase::Open {
            state.ran_at_end = state.groups.len();
        }
        state.tell_all(Phase::Terminating, Forced::Terminated);
        state.ran_at_end
    }

    /// Starts nothing any more and sends SIGKILL to all that is left. Returns how many that are.
    pub(crate) fn kill(&self) -> usize {
        let mut state = self.shared.state.lock();
        state.tell_all(Phase::Killing, Forced::Killed);
        state.groups.len()
    }

    /// Waits until no program is left, at most this long. Returns how many are left.
    pub(crate) fn wait_empty(&self, at_most: Duration) -> usize {
        let begun = Instant::now();
        let mut state = self.shared.state.lock();
        loop {
            let left = state.groups.len() + state.starting;
            let rest = at_most.saturating_sub(begun.elapsed());
            if left == 0 || rest.is_zero() {
                return left;
            }
            state = self.shared.left.wait_timeout(state, rest);
        }
    }

    /// Programs that run now.
    pub(crate) fn len(&self) -> usize {
        self.shared.state.lock().groups.len()
    }

    /// Tells one group to end. Does nothing when it is gone.
    pub(super) fn force(&self, group: Pid, forced: Forced) {
        let mut state = self.shared.state.lock();
        if state.groups.contains_key(&group) {
            tell(&mut state, group, forced);
        }
    }

    /// Tells one group to end, unless it was told already or has ended. Returns whether it was told.
    pub(super) fn stop(&self, group: Pid) -> bool {
        let mut state = self.shared.state.lock();
        if state.groups.get(&group) != Some(&Forced::No) {
            return false;
        }
        tell(&mut state, group, Forced::Terminated);
        true
    }

    /// Reaps the first process of a group, which has ended. `Some`: with it the whole group was
    /// gone.
    pub(super) fn reap(
        &self,
        group: Pid,
        child: &mut Child,
    ) -> io::Result<(std::process::ExitStatus, Forced, bool)> {
        let mut state = self.shared.state.lock();
        let status = child.wait()?;
        let forced = state.groups.get(&group).copied().unwrap_or(Forced::No);
        let gone = self.remove_if_gone(&mut state, group);
        Ok((status, forced, gone))
    }

    /// Whether nothing of a group is left, whose first process has been reaped; it then leaves the
    /// registry.
    pub(super) fn is_gone(&self, group: Pid) -> bool {
        let mut state = self.shared.state.lock();
        self.remove_if_gone(&mut state, group)
    }

    /// Gives up on a group that not even SIGKILL can end (it belongs to another user, or hangs in
    /// the kernel).
    pub(super) fn give_up(&self, group: Pid) {
        self.shared.state.lock().groups.remove(&group);
        self.shared.left.notify_all();
    }

    /// Calls `sweep` with what must not be reaped by others, at most once in a while and never
    /// while a program is being started.
    pub(super) fn sweep(&self, pause: Duration, sweep: impl FnOnce(&dyn Fn(Pid) -> bool)) {
        let mut state = self.shared.state.lock();
        let rested = state.swept.is_none_or(|last| last.elapsed() >= pause);
        if rested && state.starting == 0 {
            state.swept = Some(Instant::now());
            sweep(&|pid| state.groups.contains_key(&pid));
        }
    }

    fn remove_if_gone(&self, state: &mut State, group: Pid) -> bool {
        // Where `wheel` adopts orphans, the dead of the group are its own children: without this
        // they would stay.
        while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
        if test_kill_process_group(group) == Err(rustix::io::Errno::SRCH) {
            state.groups.remove(&group);
            self.shared.left.notify_all();
            return true;
        }
        false
    }
}

impl State {
    fn tell_all(&mut self, phase: Phase, forced: Forced) {
        self.phase = self.phase.max(phase);
        // Nobody is told twice: to some programs a second SIGTERM means more than one.
        let untold = self.groups.iter().filter(|(_, told)| **told < forced);
        let untold: Vec<Pid> = untold.map(|(group, _)| *group).collect();
        for group in untold {
            tell(self, group, forced);
        }
    }
}

/// Sends the signal and writes it down. A group that is gone already says so with an error, which
/// changes nothing.
fn tell(state: &mut State, group: Pid, forced: Forced) {
    // A program that has just ended by itself was not cut; what it has left behind gets the signal
    // all the same.
    if let Some(told) = state.groups.get_mut(&group)
        && !has_ended(group)
    {
        *told = (*told).max(forced);
    }
    let _ = match forced {
        Forced::No => Ok(()),
        Forced::Terminated => kill_process_group(group, Signal::TERM)
            // A stopped process sees SIGTERM only when it goes on.
            .and_then(|()| kill_process_group(group, Signal::CONT)),
        Forced::Killed => kill_process_group(group, Signal::KILL),
    };
}

/// Whether the first process of a group has ended, reaped or not.
fn has_ended(first: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(first), look), Ok(None))
}
