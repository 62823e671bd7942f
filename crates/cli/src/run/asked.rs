//! What the runtime is asked for by a task of the file.

use std::time::Duration;

use wheel_runtime::{RateLimit, Retry, Schedule, Scheduler, SubmitError, TaskBuilder};
use wheel_sync::Arc;

use super::handler::Handler;
use super::roster::{Member, Place};
use crate::file::{self, Backoff, Rate, Task};

/// The longest name that runs are counted under.
const NAME_BYTES_MAX: usize = 256;

/// Hands the task of a handler over, to be due as `schedule` says.
///
/// # Errors
///
/// What the scheduler refuses it for.
pub(super) fn hand_over(
    scheduler: &Scheduler,
    handler: &Arc<Handler>,
    schedule: Schedule,
) -> Result<Member, SubmitError> {
    let (hook, runner) = (Arc::clone(handler), Arc::clone(handler));
    let builder = builder(scheduler, &handler.task(), schedule);
    let builder = builder.on_failure(move |failure| hook.failed(failure));
    let handle = builder.run(move |context| runner.run(context))?;
    Ok(Member {
        handler: Arc::clone(handler),
        handle,
        place: Place::InFile,
    })
}

fn builder<'s>(scheduler: &'s Scheduler, task: &Task, schedule: Schedule) -> TaskBuilder<'s> {
    let mut builder = scheduler.task(&task.id).schedule(schedule);
    // Of a longer one metrics tell no more than of all those without a name.
    if task.id.len() <= NAME_BYTES_MAX {
        builder = builder.name(&task.id);
    }
    if let Some(count) = task.schedule.count {
        builder = builder.count(count);
    }
    for upstream in &task.upstream {
        builder = builder.depends_on(&upstream.id, upstream.ended);
    }
    if let Some(retry) = &task.retry {
        builder = builder.retry(policy(retry));
    }
    if let Some(deadline) = task.deadline {
        builder = builder.deadline(deadline);
    }
    if let Some(misfire) = task.misfire {
        builder = builder.misfire(misfire);
    }
    if let Some(overlap) = task.overlap {
        builder = builder.overlap(overlap);
    }
    if let Some(jitter) = task.jitter {
        builder = builder.jitter(jitter);
    }
    if let Some(priority) = task.priority {
        builder = builder.priority(priority);
    }
    if let Some(concurrency) = &task.concurrency {
        let at_most = concurrency.at_most.unwrap_or(1);
        let key = wheel_runtime::Concurrency::key(&concurrency.key);
        builder = builder.concurrency_key(key.at_most(at_most));
    }
    if let Some(rate) = &task.rate {
        builder = builder.rate_limit(limit(rate));
    }
    builder
}

fn policy(retry: &file::Retry) -> Retry {
    let policy = match retry.backoff {
        Backoff::Fixed => Retry::fixed(retry.delay),
        Backoff::Linear => Retry::linear(retry.delay),
        Backoff::Exponential => Retry::exponential(retry.delay),
    };
    let policy = match retry.jitter {
        None => policy,
        Some(jitter) => policy.jitter(jitter),
    };
    let max_delay = retry.max_delay.unwrap_or(Duration::MAX);
    policy.max_attempts(retry.attempts).max_delay(max_delay)
}

fn limit(rate: &Rate) -> RateLimit {
    let limit = RateLimit::new(rate.starts, rate.period).burst(rate.burst.unwrap_or(1));
    match &rate.key {
        Some(key) => limit.key(key),
        None => limit,
    }
}
