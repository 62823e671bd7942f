//! A schedule as definitions write it: one key says which sort, others what goes with it.
//!
//! ```text
//!  {"every": "1m", "start": "now"}      {"cron": "0 2 * * *", "timezone": "Asia/Shanghai"}
//! ```
//!
//! What a schedule can have is a field of [`Written`], with one line in each direction.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use super::{Base, Schedule, Start};
use crate::policy::Jitter;
use crate::written::{WrittenDuration, WrittenInstant};

#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename = "schedule")]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<WrittenInstant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    every_after: Option<WrittenDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<WrittenStart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before: Option<WrittenInstant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_after: Option<WrittenInstant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter: Option<WrittenJitter>,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenJitter {
    Uniform(WrittenDuration),
    Hashed(WrittenDuration),
}

/// `"now"`, `"aligned"`, or an instant of the grid.
enum WrittenStart {
    Now,
    Aligned,
    At(WrittenInstant),
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Schedule {
            base,
            start,
            zone,
            window,
            jitter,
        } = self;
        let mut written = Written::default();
        match base {
            Base::After(delay) => written.after = Some(WrittenDuration(*delay)),
            Base::At(at) => written.at = Some(WrittenInstant(*at)),
            Base::Every(period) => written.every = Some(WrittenDuration(*period)),
            Base::EveryAfter(pause) => written.every_after = Some(WrittenDuration(*pause)),
            Base::Cron(cron) => {
                let cron = cron.as_ref().as_ref();
                written.cron = Some(cron.map_err(S::Error::custom)?.to_string());
            }
        }
        written.start = match start {
            Start::OnePeriodOn => None,
            Start::Now => Some(WrittenStart::Now),
            Start::Aligned => Some(WrittenStart::Aligned),
            Start::At(at) => Some(WrittenStart::At(WrittenInstant(*at))),
        };
        if let Some(zone) = zone {
            let zone = zone.as_ref().as_ref();
            written.timezone = Some(zone.map_err(S::Error::custom)?.name().to_owned());
        }
        written.not_before = window.not_before.map(WrittenInstant);
        written.not_after = window.not_after.map(WrittenInstant);
        written.jitter = jitter.map(|jitter| match jitter {
            Jitter::Uniform(length) => WrittenJitter::Uniform(WrittenDuration(length)),
            Jitter::Hashed(length) => WrittenJitter::Hashed(WrittenDuration(length)),
        });
        written.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(from)?;
        let cron = written.cron.map(|text| text.parse::<super::Cron>());
        let cron = cron.transpose();
        let cron = cron.map_err(|error| D::Error::custom(format!("cron: {error}")))?;
        let sorts = [
            written.after.map(|delay| Schedule::after(delay.0)),
            written.at.map(|at| Schedule::at(at.0)),
            written.every.map(|period| Schedule::every(period.0)),
            written
                .every_after
                .map(|pause| Schedule::every_after(pause.0)),
            cron.map(Schedule::cron),
        ];
        let mut sorts = sorts.into_iter().flatten();
        let (Some(mut schedule), None) = (sorts.next(), sorts.next()) else {
            return Err(D::Error::custom(
                "a schedule has one of `after`, `at`, `every`, `every_after`, `cron`",
            ));
        };
        match written.start {
            None => {}
            Some(WrittenStart::Now) => schedule = schedule.start_now(),
            Some(WrittenStart::Aligned) => schedule = schedule.aligned(),
            Some(WrittenStart::At(at)) => schedule = schedule.start_at(at.0),
        }
        if let Some(name) = written.timezone {
            let zone = name.parse::<super::Zone>();
            let zone = zone.map_err(|error| D::Error::custom(format!("timezone: {error}")))?;
            schedule = schedule.timezone(zone);
        }
        if let Some(begin) = written.not_before {
            schedule = schedule.not_before(begin.0);
        }
        if let Some(end) = written.not_after {
            schedule = schedule.not_after(end.0);
        }
        if let Some(jitter) = written.jitter {
            schedule = schedule.jitter(match jitter {
                WrittenJitter::Uniform(length) => Jitter::Uniform(length.0),
                WrittenJitter::Hashed(length) => Jitter::Hashed(length.0),
            });
        }
        Ok(schedule)
    }
}

const NOW: &str = "now";
const ALIGNED: &str = "aligned";

impl Serialize for WrittenStart {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            WrittenStart::Now => to.serialize_str(NOW),
            WrittenStart::Aligned => to.serialize_str(ALIGNED),
            WrittenStart::At(at) => at.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenStart {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text == NOW {
            return Ok(WrittenStart::Now);
        }
        if text == ALIGNED {
            return Ok(WrittenStart::Aligned);
        }
        let at = WrittenInstant::deserialize(serde::de::value::StringDeserializer::new(text));
        at.map(WrittenStart::At).map_err(|error: D::Error| {
            D::Error::custom(format!("start: {error}, or \"now\" or \"aligned\""))
        })
    }
}
