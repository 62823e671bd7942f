//! Tells when a process has ended, together with its pipes, without a thread per process.
//!
//! On Linux a pidfd becomes readable then, so one `poll` watches everything. Elsewhere, and on
//! kernels without pidfds, the wait is cut into short pieces with a look at the process after each.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// How often to look where there is no pidfd.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Watches one child process that nobody else reaps.
#[derive(Debug)]
pub(super) struct ExitWatch {
    pid: Pid,
    pidfd: Option<OwnedFd>,
}

impl ExitWatch {
    pub(super) fn new(pid: Pid) -> ExitWatch {
        ExitWatch {
            pid,
            pidfd: pidfd(pid),
        }
    }

    /// Waits until one of the pipes can be read, the process has ended or the time is over. Returns
    /// which pipes can be read.
    pub(super) fn wait(
        &self,
        pipes: &[&OwnedFd],
        at_most: Option<Duration>,
    ) -> io::Result<Vec<bool>> {
        let mut fds: Vec<PollFd<'_>> = pipes
            .iter()
            .map(|pipe| PollFd::new(*pipe, PollFlags::IN))
            .collect();
        let mut at_most = at_most;
        match &self.pidfd {
            Some(pidfd) => fds.push(PollFd::new(pidfd, PollFlags::IN)),
            None => at_most = Some(at_most.unwrap_or(LOOK_EVERY).min(LOOK_EVERY)),
        }
        poll_for(&mut fds, at_most)?;
        Ok(fds[..pipes.len()]
            .iter()
            .map(|fd| !fd.revents().is_empty())
            .collect())
    }

    /// Whether the process has ended. Leaves it to be reaped.
    pub(super) fn has_ended(&self) -> io::Result<bool> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid), look)?.is_some())
    }
}

/// Which of the pipes can be read within this time, their writers gone or not.
pub(super) fn wait_readable(pipes: &[&OwnedFd], at_most: Duration) -> io::Result<Vec<bool>> {
    let mut fds: Vec<PollFd<'_>> = pipes
        .iter()
        .map(|pipe| PollFd::new(*pipe, PollFlags::IN))
        .collect();
    poll_for(&mut fds, Some(at_most))?;
    Ok(fds.iter().map(|fd| !fd.revents().is_empty()).collect())
}

fn poll_for(fds: &mut [PollFd<'_>], at_most: Option<Duration>) -> io::Result<()> {
    let timeout = at_most.map(|time| Timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    });
    match poll(fds, timeout.as_ref()) {
        Ok(_) => Ok(()),
        Err(rustix::io::Errno::INTR) => {
            fds.iter_mut().for_each(PollFd::clear_revents);
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(target_os = "linux")]
fn pidfd(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn pidfd(_: Pid) -> Option<OwnedFd> {
    None
}
