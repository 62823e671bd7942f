//! Draws the live line, or the picture of `--watch`, on a thread of its own: whoever waits for the end
//! must not wait for a terminal that is stopped (Ctrl-S) or for a reader that does not read.

use std::time::{Duration, Instant, SystemTime};

use wheel_runtime::{Scheduler, TaskInfo};
use wheel_sync::thread::{self, JoinHandle};

use super::ending::{Ending, Limits};
use super::handler::Setting;
use super::roster::{Member, Place};
use crate::live::{self, Standing};
use crate::record::Tally;
use crate::watch::{self, Picture, Row, Screen};

/// The line at the bottom of the terminal, or the picture on all of it, while it is drawn.
pub(super) struct Drawing {
    setting: Setting,
    /// `None` if nothing is drawn.
    thread: Option<JoinHandle<()>>,
}

impl Drawing {
    /// Draws the line until `ending` says that the end has come.
    pub(super) fn line(setting: &Setting, ending: &Ending, limits: Limits) -> Drawing {
        Drawing::start(setting, ending, limits, live::DRAW_EVERY, |setting| {
            let line = live::line(&standing(setting, |_, _, _| ()));
            setting.printer.set_live(&line);
        })
    }

    /// Draws the picture. What would be printed meanwhile is printed when it is wiped.
    pub(super) fn picture(
        (setting, scheduler): (&Setting, &Scheduler),
        ending: &Ending,
        limits: Limits,
    ) -> Drawing {
        let scheduler = scheduler.clone();
        let mut screen = None;
        setting.printer.hold();
        Drawing::start(setting, ending, limits, watch::DRAW_EVERY, move |setting| {
            // A terminal that fails has gone, and is no reason not to go on.
            if let Some(screen) = screen.get_or_insert_with(|| Screen::enter().ok()) {
                let _ = screen.draw(&picture(setting, &scheduler));
            }
        })
    }

    fn start(
        setting: &Setting,
        ending: &Ending,
        limits: Limits,
        every: Duration,
        mut draw: impl FnMut(&Setting) + Send + 'static,
    ) -> Drawing {
        let drawn = (setting.clone(), ending.clone());
        let draw = move || {
            let (setting, ending) = drawn;
            loop {
                let begun = Instant::now();
                draw(&setting);
                // A million tasks take a while to look at: that is a tenth of a processor's time at
                // most.
                let pause = every.max(9 * begun.elapsed());
                let pause_over = Instant::now() + pause;
                if ending.wait(limits, Some(pause_over)).is_some() {
                    return;
                }
            }
        };
        // Without the thread nothing is drawn.
        let thread = thread::Builder::new().name("wheel-live".to_owned());
        Drawing {
            setting: setting.clone(),
            thread: thread.spawn(draw).ok(),
        }
    }

    /// Where nothing is drawn.
    pub(super) fn none(setting: &Setting) -> Drawing {
        Drawing {
            setting: setting.clone(),
            thread: None,
        }
    }

    /// Takes it away, after the end has come. Waits for a terminal that is stopped.
    pub(super) fn wipe(self) {
        if let Some(thread) = self.thread {
            // A panic has been reported, and is no reason not to say how it ended.
            let _ = thread.join();
            self.setting.printer.set_live("");
        }
        self.setting.printer.release();
    }
}

/// Shows `each` task on the way.
fn standing(setting: &Setting, mut each: impl FnMut(&Member, TaskInfo, &Tally)) -> Standing {
    // The members first: who is among them has a tally.
    let members = setting.roster.all();
    let (tallies, now) = (setting.record.tallies(), SystemTime::now());
    let mut pending = 0;
    let mut next: Option<(Duration, String)> = None;
    for member in &members {
        let (info, tally) = (member.info(), &tallies[member.number()]);
        pending += usize::from(member.is_pending(&info, tally, now));
        if let Some(rest) = info.next_in
            && next.as_ref().is_none_or(|(least, _)| rest < *least)
        {
            next = Some((rest, info.id.clone()));
        }
        each(member, info, tally);
    }
    Standing {
        pending,
        running: setting.children.len(),
        counts: setting.record.total(),
        next: next.map(|(rest, id)| (id, rest)),
        lateness: setting.record.lateness(),
    }
}

fn picture(setting: &Setting, scheduler: &Scheduler) -> Picture {
    let mut rows = Vec::new();
    let standing = standing(setting, |member, info, tally| {
        if member.place == Place::InFile {
            rows.push(Row {
                id: info.id,
                state: info.state,
                next_in: info.next_in,
                tally: tally.clone(),
            });
        }
    });
    Picture {
        standing,
        engine: scheduler.snapshot().ok(),
        lateness: setting.record.lateness_bars(),
        rows,
    }
}
