//! Reads what a task is due by: which of the keys go together, and what the runtime says of them.

use std::ops::Range;
use std::time::SystemTime;

use toml::de::DeTable;
use wheel_runtime::{ScheduleError, Zone};

use super::calendar;
use super::fault::Faults;
use super::keys::OF_TASK;
use super::schedule::{Kind, Schedule, Start};
use super::values::{self, Optional, Value, optional};

/// A task has one of these at most.
const SCHEDULE_KEYS: [&str; 4] = ["after", "at", "every", "cron"];

/// Keys that a task has no use for that runs once, with what they are for.
const OF_RECURRING: [(&str, &str); 3] = [
    ("overlap", "what is due while a run goes on"),
    ("not_before", "when runs begin"),
    ("not_after", "when runs end"),
];

/// What else is said about when a task is due. Each is read also where there is no use for it.
struct Said<'v, 'd> {
    table: &'v DeTable<'d>,
    count: Optional<u64>,
    zone: Optional<Zone>,
    start: Optional<Start>,
    aligned: Optional<bool>,
    not_before: Optional<SystemTime>,
    not_after: Optional<SystemTime>,
}

/// Reads it, or adds every fault in it. `header` is where the task begins.
pub(super) fn read(
    header: &Range<usize>,
    table: &DeTable<'_>,
    faults: &mut Faults,
) -> Option<Schedule> {
    let given: Vec<(&'static str, &Value<'_>)> = SCHEDULE_KEYS
        .into_iter()
        .filter_map(|key| Some((key, table.get(key)?)))
        .collect();
    // Each value is checked also where there are too many of them.
    let mut kinds = given.iter().map(|(key, value)| match *key {
        "after" => values::duration(key, value, faults).map(Kind::After),
        "at" => calendar::at(value, faults).map(Kind::At),
        "cron" => calendar::cron(value, faults),
        _ => values::period(value, faults).map(|period| Kind::Every {
            period,
            start: Start::OnePeriodOn,
        }),
    });
    let first = kinds.next();
    let others = kinds.count();
    let said = Said::read(table, faults);
    let depends = table.get("depends_on").is_some() || OF_TASK.is_misspelt("depends_on", table);
    let (kind, key, place) = match first {
        Some(kind) if others == 0 => (kind?, given[0].0, Some(given[0].1)),
        Some(_) => {
            too_many(header, &given, faults);
            return None;
        }
        None if depends => (Kind::Upstream, "depends_on", None),
        None => {
            none_at_all(header, table, faults);
            return None;
        }
    };
    let schedule = match kind {
        Kind::Every { .. } | Kind::Cron { .. } => said.again(kind, key, faults),
        once => said.once(once, key, faults),
    }?;
    check(&schedule, place, table, faults).then_some(schedule)
}

fn too_many(header: &Range<usize>, given: &[(&'static str, &Value<'_>)], faults: &mut Faults) {
    let names: Vec<String> = given.iter().map(|(key, _)| format!("`{key}`")).collect();
    let last = given
        .iter()
        .map(|(_, value)| value.span())
        .max_by_key(|span| span.start);
    faults
        .add(
            last.unwrap_or_else(|| header.clone()),
            format!("the task has {}", names.join(" and ")),
        )
        .help("keep exactly one of `after`, `at`, `every` and `cron`");
}

fn none_at_all(header: &Range<usize>, table: &DeTable<'_>, faults: &mut Faults) {
    let is_misspelt = |key| OF_TASK.is_misspelt(key, table);
    if !SCHEDULE_KEYS.into_iter().any(is_misspelt) {
        faults
            .add(header.clone(), "the task does not say what it is due by")
            .help(
                "add one of after = \"3s\", at = \"2026-12-01T02:00:00+08:00\", every = \"500ms\", \
                 cron = \"30 2 * * *\", depends_on = \"another task\"",
            );
    }
}

impl<'v, 'd> Said<'v, 'd> {
    fn read(table: &'v DeTable<'d>, faults: &mut Faults) -> Said<'v, 'd> {
        let not_before = table.get("not_before");
        let not_after = table.get("not_after");
        Said {
            table,
            count: optional(table.get("count"), |value| values::count(value, faults)),
            zone: optional(table.get("timezone"), |value| {
                calendar::timezone(value, faults)
            }),
            start: optional(table.get("start"), |value| calendar::start(value, faults)),
            aligned: optional(table.get("aligned"), |value| {
                values::truth("aligned", value, faults)
            }),
            not_before: optional(not_before, |value| {
                calendar::moment("not_before", value, faults)
            }),
            not_after: optional(not_after, |value| {
                calendar::moment("not_after", value, faults)
            }),
        }
    }

    /// Adds a fault for a key that is there but has no use.
    fn refuse(&self, key: &str, why: &str, help: &str, faults: &mut Faults) -> bool {
        let Some(value) = self.table.get(key) else {
            return false;
        };
        faults.add(value.span(), why).help(help);
        true
    }

    fn once(&self, kind: Kind, key: &str, faults: &mut Faults) -> Option<Schedule> {
        let mut wrong = false;
        for (other, what) in OF_RECURRING {
            let why =
                format!("a task with `{key}` runs once, so `{other}` has no use: it says {what}");
            let help = format!("use `{other}` with `every` or `cron`, or drop it");
            wrong |= self.refuse(other, &why, &help, faults);
        }
        wrong |= self.refuse_grid(key, faults);
        wrong |= self.refuse(
            "timezone",
            &format!("a task with `{key}` is due at the same instant in every time zone"),
            "use `timezone` with `cron`, or with `every` that is aligned, or drop it",
            faults,
        );
        match self.count {
            Ok(None | Some(1)) => {}
            Ok(Some(count)) => {
                wrong |= self.refuse(
                    "count",
                    &format!("a task with `{key}` runs once, so `count` cannot be {count}"),
                    "use `every` or `cron` for a task that runs more than once, or drop `count`",
                    faults,
                );
            }
            Err(_) => wrong = true,
        }
        (!wrong).then(|| Schedule::once(kind))
    }

    /// `start` and `aligned` go with a grid.
    fn refuse_grid(&self, key: &str, faults: &mut Faults) -> bool {
        let why = format!("a task with `{key}` has no grid to begin");
        let help = "use `start` with `every`, or drop it";
        let wrong = self.refuse("start", &why, help, faults);
        let why = match key {
            "cron" => "`cron` follows the clock on the wall already".to_owned(),
            _ => format!("a task with `{key}` has no grid to align"),
        };
        self.refuse(
            "aligned",
            &why,
            "use `aligned` with `every`, or drop it",
            faults,
        ) || wrong
    }

    fn again(&self, kind: Kind, key: &str, faults: &mut Faults) -> Option<Schedule> {
        let kind = match kind {
            Kind::Cron { cron, .. } => {
                let wrong = self.refuse_grid(key, faults);
                let zone = self.zone.clone().ok()?.unwrap_or(Zone::UTC);
                (!wrong).then_some(Kind::Cron { cron, zone })?
            }
            Kind::Every { period, .. } => {
                let start = self.grid(key, faults)?;
                Kind::Every { period, start }
            }
            once => once,
        };
        Some(Schedule {
            kind,
            count: self.count.ok()?,
            not_before: self.not_before.ok()?,
            not_after: self.not_after.ok()?,
        })
    }

    /// Where the grid of `every`, or of `@every`, begins.
    fn grid(&self, key: &str, faults: &mut Faults) -> Option<Start> {
        let aligned = self.aligned.ok()?.unwrap_or(false);
        if aligned {
            let both = "`aligned` and `start` both say where the grid lies";
            if self.refuse("start", both, "keep one of them", faults) {
                return None;
            }
            return Some(Start::Aligned(self.zone.clone().ok()?));
        }
        // `@every` needs no zone, and is none the worse for one.
        let why = "a task with `every` is due at the same instant in every time zone";
        let help = "use `timezone` with `cron`, or add aligned = true, or drop it";
        if key != "cron" && self.refuse("timezone", why, help, faults) {
            return None;
        }
        Some(self.start.clone().ok()?.unwrap_or(Start::OnePeriodOn))
    }
}

/// Asks the runtime whether it can ever be due, as it will when the task is added.
fn check(
    schedule: &Schedule,
    place: Option<&Value<'_>>,
    table: &DeTable<'_>,
    faults: &mut Faults,
) -> bool {
    let Err(error) = schedule.asked().occurrences(SystemTime::now()) else {
        return true;
    };
    let named = match &error {
        ScheduleError::PeriodNotOfDay(_) => table.get("timezone"),
        ScheduleError::EmptyWindow { .. } => table.get("not_after"),
        ScheduleError::NothingInWindow { .. } => {
            table.get("not_after").or_else(|| table.get("not_before"))
        }
        _ => None,
    };
    let span = named.or(place).map_or(0..0, |value| value.span());
    match &error {
        ScheduleError::NeverDue(_, zone) => faults
            .add(span, format!("`cron` names no instant after now in {zone}"))
            .help("give it later years, or a time that the zone does not skip"),
        ScheduleError::PeriodNotOfDay(_) => faults
            .add(
                span,
                "the period does not divide a day, so it has no place in the days of a time zone",
            )
            .help("write a period that does, such as every = \"15m\", or drop `timezone`: it then counts from 1970"),
        ScheduleError::EmptyWindow { .. } => faults
            .add(span, "`not_after` is before `not_before`")
            .help("write a later instant"),
        ScheduleError::NothingInWindow { not_after, .. } => {
            let key = if not_after.is_some() { "not_after" } else { "not_before" };
            let end = if not_after.is_some() { "a later" } else { "an earlier" };
            faults
                .add(span, format!("`{key}`: the task is never due in that window from now on"))
                .help(format!("write {end} instant"))
        }
        error => faults.add(span, error.to_string()),
    };
    false
}
