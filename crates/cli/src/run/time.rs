//! How much time an attempt has, and how it has ended.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use wheel_runtime::Context;

use crate::child::{Ended, Forced, Told};
use crate::duration;
use crate::file::Task;
use crate::record::Outcome;
use crate::signals;

/// The limits of one attempt.
///
/// The timeout is seen to here and not by the scheduler, for which an attempt is over when its time
/// is: the next one would be started while the program still has the grace to end.
#[derive(Debug)]
pub(super) struct Time {
    /// When the program is told to end.
    pub(super) until: Option<Instant>,
    /// What it is told, in words.
    pub(super) why: String,
}

impl Time {
    /// For an attempt whose program is started right after this call.
    pub(super) fn of(task: &Task, context: &Context) -> Time {
        let left = context.time_left();
        let limit = match (task.timeout, left) {
            (Some(timeout), Some(left)) => Some(timeout.min(left)),
            (timeout, left) => timeout.or(left),
        };
        let is_timeout = task.timeout.is_some() && limit == task.timeout;
        let shown = |limit: Option<Duration>| duration::format(limit.unwrap_or_default());
        let why = match is_timeout {
            true => format!("timed out after {}", shown(task.timeout)),
            false => format!("the deadline of {} has passed", shown(task.deadline)),
        };
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        Time { until, why }
    }

    /// Whether there is none, as the attempt had to wait for the program of another run.
    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// How the attempt has ended.
    pub(super) fn outcome(self, ended: io::Result<Ended>) -> Outcome {
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) => return Outcome::Failed(format!("cannot be followed: {error}")),
        };
        match (ended.told, ended.forced, ended.status) {
            (Some(Told::TimeOver), _, _) => Outcome::Failed(self.why),
            (Some(Told::CalledOff), _, _) => Outcome::Cut("cut for the next run".to_owned()),
            (None, Forced::Terminated, _) => Outcome::Cut("cut by SIGTERM".to_owned()),
            (None, Forced::Killed, _) => Outcome::Cut("cut by SIGKILL".to_owned()),
            (None, Forced::No, status) if status.success() => Outcome::Succeeded,
            (None, Forced::No, status) => Outcome::Failed(match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit status {code}"),
                (None, Some(signal)) => format!("ended by {}", signals::name(signal)),
                (None, None) => status.to_string(),
            }),
        }
    }
}
