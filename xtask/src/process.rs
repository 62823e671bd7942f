//! Programs that are expected to fail, or not to end: each runs for so long at most, two at a time.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Passed,
    Failed,
    /// It was stopped when its time was over.
    TimedOut,
}

/// What came of one run of a program.
pub(crate) struct Run {
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) took: Duration,
}

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Runs `command` and returns what it printed to standard output; stops it after `limit`.
pub(crate) fn run_for(command: &mut Command, limit: Duration) -> Result<Run, String> {
    let started = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start {:?}: {error}", command.get_program()))?;
    let mut stdout = child.stdout.take().ok_or("no standard output")?;
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was printed up to an error is all there is to be had.
        let _ = stdout.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let end = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => break End::Passed,
            Some(_) => break End::Failed,
            None if started.elapsed() > limit => {
                child.kill().map_err(|error| error.to_string())?;
                child.wait().map_err(|error| error.to_string())?;
                break End::TimedOut;
            }
            None => thread::sleep(LOOK),
        }
    };
    Ok(Run {
        end,
        output: reader.join().unwrap_or_default(),
        took: started.elapsed(),
    })
}

/// Works on all `tasks`, on as many threads as the machine has processors, and tells `done` of each
/// one as it ends. Results come back in the order of the tasks.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    tasks: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(&T, &R),
) -> Vec<R> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(0..tasks.len());
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..workers {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                let take = || next.lock().expect("no thread panics with it").next();
                while let Some(index) = take() {
                    if send.send((index, work(&tasks[index]))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (index, result) in receive {
            done(&tasks[index], &result);
            results[index] = Some(result);
        }
    });
    results
        .into_iter()
        .map(|result| result.expect("each task was worked on"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let run = run_for(Command::new("sleep").arg("60"), Duration::from_millis(50));
        assert_eq!(run.unwrap().end, End::TimedOut);
    }

    #[test]
    fn a_program_that_fails_is_told_from_one_that_passes() {
        let end = |name| {
            run_for(&mut Command::new(name), Duration::from_secs(60))
                .unwrap()
                .end
        };
        assert_eq!([end("true"), end("false")], [End::Passed, End::Failed]);
    }

    #[test]
    fn results_come_in_the_order_of_the_tasks() {
        let mut seen = 0;
        let results = in_parallel(&[3, 1, 2], |task| task * 10, |_, _| seen += 1);
        assert_eq!((results, seen), (vec![30, 10, 20], 3));
    }
}
