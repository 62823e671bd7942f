//! Draws the live line, on a thread of its own: whoever waits for the end must not wait for a
//! terminal that is stopped (Ctrl-S) or for a reader that does not read.

use std::time::{Duration, Instant};

use wheel_sync::thread::{self, JoinHandle};

use super::ending::{Ending, Limits};
use super::handler::Setting;
use crate::live::{self, Standing};

/// The line at the bottom of the terminal, while it is drawn.
pub(super) struct Drawing {
    setting: Setting,
    /// `None` if nothing is drawn.
    thread: Option<JoinHandle<()>>,
}

impl Drawing {
    /// Draws until `ending` says that the end has come.
    pub(super) fn start(setting: &Setting, ending: &Ending, limits: Limits) -> Drawing {
        let drawn = (setting.clone(), ending.clone());
        let draw = move || {
            let (setting, ending) = drawn;
            loop {
                let begun = Instant::now();
                let line = live::line(&standing(&setting));
                // A million tasks take a while to look at: that is a tenth of a processor's time at
                // most.
                let pause = live::DRAW_EVERY.max(9 * begun.elapsed());
                setting.printer.set_live(&line);
                let pause_over = Instant::now() + pause;
                if ending.wait(limits, Some(pause_over)).is_some() {
                    return;
                }
            }
        };
        // Without the thread there is no line.
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

    /// Takes the line away, after the end has come. Waits for a terminal that is stopped.
    pub(super) fn wipe(self) {
        if let Some(thread) = self.thread {
            // A panic has been reported, and is no reason not to say how it ended.
            let _ = thread.join();
            self.setting.printer.set_live("");
        }
    }
}

fn standing(setting: &Setting) -> Standing {
    let mut next: Option<(Duration, String)> = None;
    let seen: Vec<_> = (setting.roster.all().into_iter())
        .map(|member| {
            let info = member.info();
            if let Some(rest) = info.next_in
                && next.as_ref().is_none_or(|(least, _)| rest < *least)
            {
                next = Some((rest, info.id.clone()));
            }
            (member, info)
        })
        .collect();
    Standing {
        pending: setting
            .roster
            .pending(&seen, &setting.record)
            .into_iter()
            .filter(|pending| *pending)
            .count(),
        running: setting.children.len(),
        counts: setting.record.total(),
        next: next.map(|(rest, id)| (id, rest)),
        lateness: setting.record.lateness(),
    }
}
