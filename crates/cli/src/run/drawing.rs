//! Draws the live line, on a thread of its own: whoever waits for the end must not wait for a
//! terminal that is stopped (Ctrl-S) or for a reader that does not read.

use std::time::{Duration, Instant};

use wheel_runtime::TaskHandle;
use wheel_sync::{
    Arc,
    thread::{self, JoinHandle},
};

use super::ending::{Ending, Limits};
use super::handler::{Seen, Setting};
use crate::live::{self, Standing};

/// The line at the bottom of the terminal, while it is drawn.
pub(super) struct Drawing {
    setting: Setting,
    /// `None` if nothing is drawn.
    thread: Option<JoinHandle<()>>,
}

impl Drawing {
    /// Draws until `ending` says that the end has come.
    pub(super) fn start(
        setting: &Setting,
        handles: &Arc<[TaskHandle]>,
        ending: &Ending,
        limits: Limits,
    ) -> Drawing {
        let drawn = (setting.clone(), Arc::clone(handles), ending.clone());
        let draw = move || {
            let (setting, handles, ending) = drawn;
            loop {
                let begun = Instant::now();
                let line = live::line(&standing(&setting, &handles));
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

fn standing(setting: &Setting, handles: &[TaskHandle]) -> Standing {
    let mut seen = Vec::with_capacity(handles.len());
    let mut next: Option<(Duration, String)> = None;
    for handle in handles {
        let info = handle.info();
        seen.push(Seen::from(&info));
        if let Some(rest) = info.next_in
            && next.as_ref().is_none_or(|(least, _)| rest < *least)
        {
            next = Some((rest, info.id));
        }
    }
    Standing {
        pending: setting
            .pending(&seen)
            .into_iter()
            .filter(|pending| *pending)
            .count(),
        running: setting.children.len(),
        counts: setting.record.total(),
        next: next.map(|(rest, id)| (id, rest)),
        lateness: setting.record.lateness(),
    }
}
