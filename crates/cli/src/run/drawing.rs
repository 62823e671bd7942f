//! Draws the live line, or the picture of `--watch`, on a thread of its own: whoever waits for the end must not wait for a
//! terminal that is stopped (Ctrl-S) or for a reader that does not read.

use std::time::{Duration, Instant};

use wheel_runtime::{Scheduler, TaskInfo};
use wheel_sync::thread::{self, JoinHandle};

use super::ending::{Ending, Limits};
use super::handler::Setting;
use super::roster::{Member, Place};
use crate::live::{self, Standing};
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
            let infos = setting.roster.infos();
            let line = live::line(&standing(setting, &infos));
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
            if screen.is_none() {
                screen = Some(Screen::enter().ok());
            }
            if let Some(Some(screen)) = &mut screen {
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

fn standing(setting: &Setting, infos: &[(Member, TaskInfo)]) -> Standing {
    let due = infos
        .iter()
        .filter_map(|(_, info)| Some((info.next_in?, info)));
    let next = due.min_by_key(|(rest, _)| *rest);
    let pending = setting.roster.pending(infos, &setting.record);
    Standing {
        pending: pending.into_iter().filter(|pending| *pending).count(),
        running: setting.children.len(),
        counts: setting.record.total(),
        next: next.map(|(rest, info)| (info.id.clone(), rest)),
        lateness: setting.record.lateness(),
    }
}

fn picture(setting: &Setting, scheduler: &Scheduler) -> Picture {
    let infos = setting.roster.infos();
    let tallies = setting.record.tallies();
    let standing = standing(setting, &infos);
    let there = infos.into_iter();
    let there = there.filter(|(member, _)| member.place == Place::InFile);
    let rows = there.map(|(member, info)| Row {
        id: info.id,
        state: info.state,
        next_in: info.next_in,
        tally: tallies[member.number()].clone(),
    });
    Picture {
        standing,
        engine: scheduler.snapshot().ok(),
        lateness: setting.record.lateness_bars(),
        rows: rows.collect(),
    }
}
