//! `wheel run`: from the file to the end.
//!
//! ```text
//! 1 read the file                   file/, crontab/
//! 2 start the engine, then listen to signals
//! 3 hand every task to it           handler.rs: what a task does when it is due
//! 4 wait for the end                ending.rs: idle, time over, signal; meanwhile, at SIGHUP, reload.rs
//! 5 end the programs                SIGTERM, the grace, SIGKILL
//! 6 say what happened               summary.rs
//! ```
//!
//! The main thread does all of this in this order; programs are started and followed by the workers
//! of the scheduler. While it waits for the end it prints nothing, for that may take as long as it
//! pleases the reader.

mod roster;

mod asked;
mod handler;
mod time;

mod account;

mod reload;

mod drawing;
mod ending;

use std::collections::HashMap;
use std::time::{Duration, Instant};
use std::{io, process};

use wheel_runtime::{Exposition, MetricsServer, Scheduler, TaskState};
use wheel_sync::{Arc, thread};

use crate::args::{
    EXIT_AS_ASKED, EXIT_NO_ENGINE, EXIT_OUTPUT_LOST, EXIT_RUN_FAILED, EXIT_SIGNAL, EXIT_USAGE,
    RunArgs,
};
use crate::child::{Children, adopt_orphans};
use crate::crontab::Look;
use crate::duration;
use crate::file::{Task, TaskFile};
use crate::live;
use crate::output::{Printer, Stream};
use crate::record::Record;
use crate::service::{self, News, Watchdog};
use crate::signals;
use crate::summary::{Cause, Left, Summary};
use crate::watch::Screen;
use drawing::Drawing;
use ending::{Ending, Limits, Meaning, OnIdle};
use handler::{Handler, Setting, Show, cut_before};
use reload::{Reloader, Requests};
use roster::Roster;
pub(crate) use roster::{Member, Place};
use signals::Asked;

/// Ended tasks that are kept, at least: what others that come later may depend on.
const HISTORY: usize = 1_000;
/// Tasks that have metrics of their own; those beyond are counted together.
const NAMES_MAX: usize = 1_000;
/// After SIGKILL a program is gone at once, unless it hangs in the kernel.
const KILL_TIME: Duration = Duration::from_secs(1);
/// After the grace `wheel` needs no more than this, unless nobody reads what it prints.
const LEAVE_TIME: Duration = Duration::from_secs(3);

/// Runs a task file and returns the exit code.
pub(crate) fn run(args: &RunArgs) -> u8 {
    let begun = Instant::now();
    let printer = Printer::new();
    let file = match args.source.load(args.zone.tz.as_ref(), Look::ToRun) {
        Ok(file) => file,
        Err(error) => {
            printer.print(Stream::Err, format!("{error}\n").as_bytes());
            return EXIT_USAGE;
        }
    };
    let children = Children::new(args.grace);
    if args.watch && !Screen::is_possible() {
        printer.say(
            "error: --watch draws on standard error, which is no terminal that it can draw on",
        );
        return EXIT_USAGE;
    }
    let show = if args.quiet || args.watch {
        Show::Nothing
    } else {
        Show::Lines
    };
    let record = Record::new(file.tasks.len());
    let setting = Setting {
        roster: Roster::new(file.path.clone()),
        children,
        printer,
        record,
        show,
    };
    let running = match Run::start(args, file, setting.clone()) {
        Ok(running) => running,
        Err(error) => {
            setting.children.kill();
            setting.children.wait_empty(KILL_TIME);
            setting
                .printer
                .say(&format!("error: cannot start: {error}"));
            return EXIT_NO_ENGINE;
        }
    };
    // The time of --for begins when all tasks have been handed over, as their own times do.
    let (cause, drawing) = running.wait(args, Instant::now());
    let left = running.end(cause, drawing);
    let code = running.exit_code(args, cause);
    let summary = Summary::new(
        setting.roster.path(),
        &setting.record,
        &left,
        cause,
        code,
        begun.elapsed(),
    );
    let text = if args.json {
        summary.to_json()
    } else {
        summary.to_text()
    };
    setting.printer.print(Stream::Out, text.as_bytes());
    match setting.printer.take_loss() {
        None => code,
        Some(error) => {
            let printer = &setting.printer;
            printer.say(&format!("error: standard output is incomplete: {error}"));
            if code == EXIT_AS_ASKED {
                EXIT_OUTPUT_LOST
            } else {
                code
            }
        }
    }
}

/// A task file that runs.
struct Run {
    setting: Setting,
    scheduler: Scheduler,
    ending: Ending,
    /// Serves as long as this is there.
    _metrics: Option<MetricsServer>,
}

impl Run {
    fn start(
        args: &RunArgs,
        file: TaskFile,
        setting: Setting,
    ) -> Result<Run, Box<dyn std::error::Error>> {
        adopt_orphans();
        let ending = Ending::default();
        let requests = Requests::default();
        signals::listen({
            let (ending, children) = (ending.clone(), setting.children.clone());
            let requests = requests.clone();
            let mut code = None;
            move |asked| {
                let signal = match asked {
                    Asked::End(signal) => signal,
                    Asked::Reload => return requests.add(),
                };
                let code = *code.get_or_insert(signal_code(signal));
                match ending.signal(signal) {
                    Meaning::End => {
                        children.terminate();
                        leave_in_time(children.clone(), children.grace(), code);
                    }
                    Meaning::Hurry => {
                        children.kill();
                        leave_in_time(children.clone(), Duration::ZERO, code);
                    }
                }
            }
        })?;
        let builder = Scheduler::builder().workers(usize::from(args.workers));
        // What others depend on may have ended when they are added, also when the file is read again.
        let count = file.tasks.len();
        let builder = match file.tasks.iter().any(|task| !task.upstream.is_empty()) {
            true => builder.history(count.max(HISTORY)),
            false => builder.history(HISTORY),
        };
        let watchdog = Watchdog::asked();
        let builder = match watchdog {
            Some(watchdog) => watchdog.prepare(builder),
            None => builder,
        };
        let scheduler = builder.max_names(NAMES_MAX).build()?;
        let metrics = match args.metrics_addr {
            None => None,
            Some(address) => Some(MetricsServer::start(address, Exposition::of(&scheduler))?),
        };
        if let Some(metrics) = &metrics
            && !args.quiet
        {
            let address = metrics.address();
            let printer = &setting.printer;
            printer.say(&format!("metrics at http://{address}/metrics"));
        }
        let tasks: Vec<Arc<Task>> = file.tasks.into_iter().map(Arc::new).collect();
        let mut members = Vec::with_capacity(count);
        for index in &file.order {
            let task = &tasks[*index];
            let handler = Handler::new(*index, Arc::clone(task), setting.clone());
            let schedule = task.schedule.asked();
            members.push(asked::hand_over(&scheduler, &Arc::new(handler), schedule)?);
        }
        // In the order of the file again.
        members.sort_unstable_by_key(Member::number);
        setting.roster.change(|state| {
            state.members = members;
            state.order = file.order;
        });
        let run = Run {
            setting,
            scheduler,
            ending,
            _metrics: metrics,
        };
        run.watch_for_idle()?;
        run.serve_reloads(args, requests)?;
        if let Some(watchdog) = watchdog {
            watchdog.start(&run.scheduler)?;
        }
        service::tell(News::Ready);
        Ok(run)
    }

    /// Tells the end when the last task has ended; never, if one goes on without end.
    fn watch_for_idle(&self) -> io::Result<()> {
        let (roster, ending) = (self.setting.roster.clone(), self.ending.clone());
        thread::Builder::new()
            .name("wheel-idle".to_owned())
            .spawn(move || roster.watch(|| ending.idle()))?;
        Ok(())
    }

    /// Reads the file again whenever it is asked for.
    fn serve_reloads(&self, args: &RunArgs, requests: Requests) -> io::Result<()> {
        let ending = self.ending.clone();
        let reloader = Reloader {
            args: args.clone(),
            setting: self.setting.clone(),
            scheduler: self.scheduler.clone(),
            busy: Box::new(move || ending.busy()),
        };
        thread::Builder::new()
            .name("wheel-reload".to_owned())
            .spawn(move || reloader.serve(&requests))?;
        Ok(())
    }

    /// Waits for the end, and prints nothing meanwhile: nobody who does not read keeps it from
    /// noticing.
    fn wait(&self, args: &RunArgs, handed_over: Instant) -> (Cause, Drawing) {
        let stays = args.run_for.is_some() && !args.until_idle;
        let limits = Limits {
            // Beyond what an instant can tell is never.
            time_over: args.run_for.and_then(|time| handed_over.checked_add(time)),
            idle: if stays { OnIdle::Stay } else { OnIdle::End },
        };
        let drawing = if args.watch {
            Drawing::picture((&self.setting, &self.scheduler), &self.ending, limits)
        } else if !args.quiet && !args.json && live::is_possible() {
            Drawing::line(&self.setting, &self.ending, limits)
        } else {
            Drawing::none(&self.setting)
        };
        loop {
            if let Some(cause) = self.ending.wait(limits, None) {
                return (cause, drawing);
            }
        }
    }

    fn exit_code(&self, args: &RunArgs, cause: Cause) -> u8 {
        match cause {
            Cause::Signal(signal) => signal_code(signal),
            _ if args.fail_on_error && self.setting.record.total().failed > 0 => EXIT_RUN_FAILED,
            Cause::Idle | Cause::TimeOver => EXIT_AS_ASKED,
        }
    }

    /// Ends all programs: nothing of them is left when this returns. Tells what else there is to
    /// tell of each task.
    fn end(&self, cause: Cause, drawing: Drawing) -> Vec<(Member, Left)> {
        let Setting {
            children,
            printer,
            show,
            ..
        } = &self.setting;
        let grace = children.grace();
        service::tell(News::Stopping);
        if cause == Cause::Idle {
            // Nothing is to come, so what still runs is over time, and its handler ends it as that.
            children.wait_empty(grace);
        }
        let told = children.terminate();
        let members = self.setting.roster.close();
        // Not on this thread: it is stuck in what it says when nobody reads that.
        let ending = children.clone();
        let killing = thread::Builder::new()
            .name("wheel-grace".to_owned())
            .spawn(move || end_programs(&ending));
        drawing.wipe();
        if told > 0 && *show == Show::Lines {
            printer.say(&format!(
                "{cause}: {told} running, with {} to end",
                duration::format(grace)
            ));
        }
        let killed = match killing {
            Ok(killing) => killing.join().unwrap_or(0),
            Err(_) => end_programs(children),
        };
        if killed > 0 && *show == Show::Lines {
            printer.say(&format!("the grace is over: {killed} killed"));
        }
        // The programs are gone; their workers still write down how they ended.
        let report = match self.scheduler.shutdown(KILL_TIME) {
            Ok(report) => report,
            Err(timeout) => {
                printer.say(&timeout.to_string());
                timeout.report
            }
        };
        // What has begun and waited for another attempt is over as well.
        let waiting = report.pending.iter().chain(&report.queued);
        let waiting: HashMap<&str, u32> = waiting
            .filter(|task| task.state == TaskState::Retrying || task.attempt > 1)
            .map(|task| (task.id.as_str(), task.attempt))
            .collect();
        let interrupted = report.interrupted.iter();
        let interrupted: HashMap<&str, u32> = interrupted
            .map(|task| (task.id.as_str(), task.attempt))
            .collect();
        for member in members
            .iter()
            .filter(|member| member.place == Place::InFile)
        {
            let (number, record) = (member.number(), &self.setting.record);
            let id = &member.task().id;
            if let Some(attempt) = waiting.get(id.as_str()) {
                record.ended(number, cut_before(*attempt));
            } else if let Some(attempt) = interrupted.get(id.as_str()) {
                record.recalled(number, cut_before(*attempt));
            }
        }
        let seen = self.setting.roster.infos();
        let pending = Roster::pending(&seen, &self.setting.record);
        let left = seen
            .into_iter()
            .zip(pending)
            .map(|((member, info), pending)| {
                let left = Left {
                    skipped: info.skipped.saturating_add(info.missed),
                    last_skip: info.last_skip,
                    pending,
                };
                (member, left)
            });
        left.collect()
    }
}

/// What a shell says of a program that a signal has ended.
fn signal_code(signal: i32) -> u8 {
    EXIT_SIGNAL.saturating_add(u8::try_from(signal).unwrap_or(0))
}

/// Waits for programs that were told to end, then kills those that have not. Returns how many those
/// were.
fn end_programs(children: &Children) -> usize {
    if children.wait_empty(children.grace()) == 0 {
        return 0;
    }
    let killed = children.kill();
    children.wait_empty(KILL_TIME);
    killed
}

/// Whoever has sent a signal gets an exit code, and no program outlives it, also when the main
/// thread is stuck because standard output is a pipe that is full and that nobody reads.
fn leave_in_time(children: Children, grace: Duration, code: u8) {
    let leave = move || {
        thread::sleep(grace);
        children.kill();
        thread::sleep(LEAVE_TIME);
        process::exit(code.into());
    };
    // Without the thread only the stuck pipe is not seen to.
    let _ = thread::Builder::new()
        .name("wheel-leave".to_owned())
        .spawn(leave);
}
