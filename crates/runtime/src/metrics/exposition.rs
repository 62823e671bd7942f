//! Which schedulers and timers are looked at, and one look at all of them.

use std::fmt;

use super::clocks;
use super::families::{self, LIST};
use super::page::{Page, Writer};
use crate::clock::SystemClock;
use crate::scheduler::{Scheduler, SchedulerWatch};
use crate::timers::{Timers, TimersWatch};

/// Whose numbers are shown. It keeps nobody alive: a scheduler whose last handle is gone is no longer
/// shown.
///
/// # Examples
///
#[cfg_attr(feature = "prometheus", doc = "```")]
#[cfg_attr(not(feature = "prometheus"), doc = "```ignore")]
/// use wheel_runtime::{Exposition, Scheduler, Timers};
///
/// let scheduler = Scheduler::builder().build()?;
/// let timers = Timers::builder().build()?;
/// let exposition = Exposition::of(&scheduler).timers("connections", &timers);
/// let text = exposition.text();
/// assert!(text.contains("wheel_tasks{state=\"scheduled\"} 0\n"));
/// assert!(text.contains("wheel_timers_pending{timers=\"connections\"} 0\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Exposition {
    sources: Vec<(Label, Source)>,
}

/// What tells the samples of one source from those of another.
type Label = Option<(&'static str, String)>;

#[derive(Clone)]
enum Source {
    Scheduler(SchedulerWatch),
    Timers(TimersWatch),
}

impl Exposition {
    /// Shows nobody yet.
    pub fn new() -> Exposition {
        Exposition::default()
    }

    /// Shows this scheduler. Its samples have no label of their own, so it is for a process that has
    /// one.
    pub fn of(scheduler: &Scheduler) -> Exposition {
        Exposition::new().with(None, Source::Scheduler(scheduler.watch()))
    }

    /// Shows this scheduler as well, or instead of one that was shown by this name: with the label
    /// `scheduler="NAME"` on each sample.
    pub fn scheduler(self, name: impl Into<String>, scheduler: &Scheduler) -> Exposition {
        let label = Some(("scheduler", name.into()));
        self.with(label, Source::Scheduler(scheduler.watch()))
    }

    /// Shows these timers as well, or instead of those that were shown by this name: with the label
    /// `timers="NAME"` on each sample.
    pub fn timers(self, name: impl Into<String>, timers: &Timers) -> Exposition {
        let label = Some(("timers", name.into()));
        self.with(label, Source::Timers(timers.watch()))
    }

    fn with(mut self, label: Label, source: Source) -> Exposition {
        self.sources.retain(|(other, _)| *other != label);
        self.sources.push((label, source));
        self
    }

    /// Whether all of them are there and have not been shut down. Of nobody, yes.
    pub fn is_healthy(&self) -> bool {
        self.sources.iter().all(|(_, source)| source.is_up())
    }

    pub(super) fn look(&self) -> Page {
        let mut page = Page::new(LIST);
        let mut writer = Writer {
            page: &mut page,
            source: None,
        };
        families::write_build(&mut writer);
        // Other systems than Linux do not tell, nor do some sandboxes.
        if let Ok(kept) = SystemClock::discipline() {
            clocks::write_discipline(&mut writer, &kept);
        }
        for (label, source) in &self.sources {
            let label = label.as_ref().map(|(name, value)| (*name, value.as_str()));
            let mut writer = Writer {
                page: &mut page,
                source: label,
            };
            writer.count("wheel_up", &[], u64::from(source.is_up()));
            match source {
                Source::Scheduler(watch) => {
                    if let Some(stats) = watch.stats() {
                        families::write_scheduler(&mut writer, &stats);
                    }
                }
                Source::Timers(watch) => {
                    if let Some(stats) = watch.stats() {
                        families::write_timers(&mut writer, &stats);
                    }
                }
            }
        }
        page
    }
}

impl Source {
    fn is_up(&self) -> bool {
        match self {
            Source::Scheduler(watch) => watch.is_up(),
            Source::Timers(watch) => watch.is_up(),
        }
    }
}

impl fmt::Debug for Exposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = self.sources.iter().map(|(label, _)| label);
        f.debug_list().entries(labels).finish()
    }
}
