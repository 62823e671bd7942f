//! One program from its start to the moment when nothing of it is left.
//!
//! The run ends when the first process of the group has ended and the others have too. They get a
//! moment to end by themselves (a pipeline that is still flushing), then SIGTERM, then after the
//! grace SIGKILL. A process that has left its group (`setsid`) is out of reach and is let go. Runs
//! on a worker thread, which it takes until the end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::exit::{ExitWatch, wait_readable};
use super::groups::{Children, Forced};
use super::orphans;
use super::stop::{Stopping, Stops, Told};
use crate::output::{Lines, Stream};

/// What is left of a group when its program has ended may take this long to end by itself.
const FLUSH_TIME: Duration = Duration::from_millis(100);
/// How often to look whether a group is gone that has outlived its program.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// After SIGKILL a group is gone at once, unless it cannot be killed at all.
const GIVE_UP_AFTER: Duration = Duration::from_secs(1);
/// What is read from a pipe after the group is gone; more than a pipe can hold comes from somebody
/// who has left the group.
const REST_BYTES_MAX: usize = 1 << 20;
const READ_BYTES: usize = 1 << 16;

/// A program that has been started.
#[derive(Debug)]
pub(crate) struct Running {
    children: Children,
    child: Child,
    group: Pid,
    gone: bool,
}

/// How a run has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What `wheel` told it before it ended.
    pub(crate) forced: Forced,
    /// Why, unless it was because of the end of `wheel`.
    pub(crate) told: Option<Told>,
}

impl Running {
    pub(super) fn new(children: Children, child: Child, group: Pid) -> Running {
        Running {
            children,
            child,
            group,
            gone: false,
        }
    }

    /// Passes the output on until the run has ended and nothing of its group is left. `stops` says
    /// what ends it before it does so by itself.
    ///
    /// # Errors
    ///
    /// What the system says when the process cannot be watched; it is killed then.
    pub(crate) fn follow(mut self, lines: &mut Lines, stops: Stops<'_>) -> io::Result<Ended> {
        let mut stopping = Stopping::new(stops);
        let mut pipes = Pipes::take(&mut self.child);
        let watch = ExitWatch::new(self.group);
        while !watch.has_ended()? {
            let rest = stopping.look(&self.children, self.group);
            let ready = watch.wait(&pipes.fds(), rest)?;
            pipes.read(&ready, lines)?;
        }
        let (status, forced, gone) = self.children.reap(self.group, &mut self.child)?;
        self.gone = gone;
        if !self.gone {
            self.end_group(&mut pipes, lines)?;
        }
        pipes.read_rest(lines)?;
        lines.finish();
        orphans::reap_strays(&self.children);
        let told = stopping.told(forced);
        Ok(Ended {
            status,
            forced,
            told,
        })
    }

    /// Ends what the program has left behind in its group.
    fn end_group(&mut self, pipes: &mut Pipes, lines: &mut Lines) -> io::Result<()> {
        let grace = self.children.grace();
        let steps = [
            (FLUSH_TIME, Forced::Terminated),
            (grace, Forced::Killed),
            (GIVE_UP_AFTER, Forced::Killed),
        ];
        for (time, then) in steps {
            let begun = Instant::now();
            while begun.elapsed() < time {
                let ready = wait_readable(&pipes.fds(), LOOK_EVERY)?;
                pipes.read(&ready, lines)?;
                if self.children.is_gone(self.group) {
                    self.gone = true;
                    return Ok(());
                }
            }
            self.children.force(self.group, then);
        }
        self.children.give_up(self.group);
        self.gone = true;
        Ok(())
    }
}

/// A run that could not be followed to its end, by an error or a panic, takes its program with it.
impl Drop for Running {
    fn drop(&mut self) {
        if !self.gone {
            self.children.force(self.group, Forced::Killed);
            let _ = self.children.reap(self.group, &mut self.child);
            self.children.give_up(self.group);
        }
    }
}

/// The two pipes of a program, as long as they are open.
#[derive(Debug)]
struct Pipes {
    open: Vec<(Stream, OwnedFd)>,
    buffer: Vec<u8>,
}

impl Pipes {
    fn take(child: &mut Child) -> Pipes {
        let out = child
            .stdout
            .take()
            .map(|pipe| (Stream::Out, OwnedFd::from(pipe)));
        let err = child
            .stderr
            .take()
            .map(|pipe| (Stream::Err, OwnedFd::from(pipe)));
        let open: Vec<_> = out.into_iter().chain(err).collect();
        let buffer = if open.is_empty() {
            Vec::new()
        } else {
            vec![0; READ_BYTES]
        };
        Pipes { open, buffer }
    }

    fn fds(&self) -> Vec<&OwnedFd> {
        self.open.iter().map(|(_, fd)| fd).collect()
    }

    /// Reads once from each pipe that is ready: that does not block. Returns how many bytes came.
    fn read(&mut self, ready: &[bool], lines: &mut Lines) -> io::Result<usize> {
        let mut bytes = 0;
        let mut ready = ready.iter();
        let mut failed = None;
        let buffer = &mut self.buffer;
        self.open.retain(|(stream, fd)| {
            if ready.next() != Some(&true) {
                return true;
            }
            match read_once(fd, buffer) {
                Ok(0) => false,
                Ok(count) => {
                    bytes += count;
                    lines.push(*stream, &buffer[..count]);
                    true
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
                Err(error) => {
                    failed = Some(error);
                    false
                }
            }
        });
        failed.map_or(Ok(bytes), Err)
    }

    /// Reads what the group has left in the pipes.
    fn read_rest(&mut self, lines: &mut Lines) -> io::Result<()> {
        let mut rest = REST_BYTES_MAX;
        while !self.open.is_empty() && rest > 0 {
            let ready = wait_readable(&self.fds(), Duration::ZERO)?;
            if !ready.contains(&true) {
                break;
            }
            rest = rest.saturating_sub(self.read(&ready, lines)?.max(1));
        }
        Ok(())
    }
}

fn read_once(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(fd.as_fd(), buffer)?)
}
