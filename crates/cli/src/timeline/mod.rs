//! `wheel plan`: what a file would do in a stretch of time, a day unless said otherwise.
//!
//! ```text
//! 2026-12-01T00:00:00+08:00 to 2026-12-02T00:00:00+08:00 in Asia/Shanghai: 4 tasks, 172802 times due
//!
//! 2026-12-01T02:30:00+08:00  backup  cron 30 2 * * * in Asia/Shanghai
//! 2026-12-01T12:00:00+08:00  lunch   at 2026-12-01T04:00:00Z
//!
//! busy
//!   heartbeat  172800 times, 2026-12-01T00:00:00.5+08:00 to 2026-12-01T23:59:59.5+08:00  every 500ms
//! not by the clock
//!   report  depends on backup, at once
//! ```
//!
//! A function of the file, the beginning and the zones alone: what is asked twice is answered the
//! same.

mod due;
mod shown;

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use crate::args::{EXIT_USAGE, PlanArgs};
use crate::crontab::Look;
use crate::file::TaskFile;
use crate::output::print_all;
use crate::source::SourceError;
use due::Timeline;
use shown::Shown;

/// Prints it and returns the exit code.
pub(crate) fn plan(args: &PlanArgs) -> u8 {
    let (timeline, shown) = match read(args) {
        Ok(read) => read,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            return EXIT_USAGE;
        }
    };
    print_all(|out| match args.json {
        true => shown.json(&timeline, out),
        false => shown.text(&timeline, out),
    })
}

fn read(args: &PlanArgs) -> Result<(Timeline, Shown), SourceError> {
    let zone = args.source.zone(args.tz.as_ref())?;
    let file: TaskFile = args.source.load(Some(&zone), Look::Text)?;
    let from = args.from.unwrap_or_else(this_second);
    // Beyond what an instant can tell there is nothing to plan.
    let until = from.checked_add(args.plan_for).unwrap_or(from);
    let timeline = Timeline::of(&file, from..until, args.busy);
    let shown = Shown::new(&file.path, &zone);
    Ok((timeline, shown))
}

/// Now, without the part of a second that nobody wants to read.
fn this_second() -> SystemTime {
    let now = SystemTime::now();
    let since = now.duration_since(SystemTime::UNIX_EPOCH);
    let part = since.map_or(0, |since| since.subsec_nanos());
    now - Duration::from_nanos(part.into())
}
