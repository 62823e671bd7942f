//! Random expressions in several zones, compared with an oracle that goes through three years minute
//! by minute of local time and knows nothing of masks, searches or changes of the clocks to come.
//!
//! ```text
//!  generator --> text of the expression --> Cron
//!          \---> what it means, by brute force --> minutes of three years in the zone (stretches)
//! ```
//!
//! All the instants of the oracle are counted; where there are many, the searches are compared
//! around the changes of the clocks and at random places.

mod oracle;
mod random;

use std::time::{Duration, SystemTime};

use wheel_testkit::Random;

use super::super::{CronError, Zone};
use super::*;
use oracle::Years;
use random::Expression;

const EXPRESSIONS: u64 = 200;
/// What is compared instant by instant, of each expression in each zone.
const CLOSE_LOOKS: usize = 40;

/// Each with its first year; all of them change their clocks in three years, but for two.
const ZONES: [(&str, i16); 12] = [
    ("UTC", 2024),
    ("America/New_York", 2025),
    ("Europe/London", 2024),
    ("Europe/Dublin", 1968),
    ("Australia/Lord_Howe", 2024),
    ("America/Santiago", 2017),
    ("America/Sao_Paulo", 2012),
    ("Africa/Casablanca", 2017),
    ("Pacific/Apia", 2010),
    ("Antarctica/Troll", 2024),
    ("Asia/Kathmandu", 1985),
    ("Pacific/Chatham", 2026),
];

fn instant(minute: i64) -> SystemTime {
    instant_of(minute * 60)
}

fn instant_of(second: i64) -> SystemTime {
    Timestamp::from_second(second).unwrap().try_into().unwrap()
}

#[test]
fn random_expressions_agree_with_a_scan_of_every_minute_of_three_years() {
    let zones = ZONES.map(|(name, year)| (zone(name), Years::of(name, year)));
    let (mut never, mut instants) = (0, 0);
    for seed in wheel_testkit::seeds(EXPRESSIONS) {
        let mut random = Random::new(seed);
        let expression = Expression::random(&mut random);
        println!("WHEEL_SEED={seed}: {}", expression.text);
        let cron = match expression.text.parse::<Cron>() {
            Ok(cron) => Some(cron),
            Err(CronError::NeverFires) => None,
            Err(error) => panic!("{error}"),
        };
        never += u64::from(cron.is_none());
        for (zone, years) in &zones {
            let minutes = years.minutes_of(&expression);
            instants += minutes.len();
            match &cron {
                Some(cron) => compare(cron, zone, years, &minutes, &mut random),
                None => assert!(minutes.is_empty(), "in {zone}: {minutes:?}"),
            }
        }
    }
    println!("{instants} instants; {never} expressions never fire");
}

fn compare(cron: &Cron, zone: &Zone, years: &Years, minutes: &[i64], random: &mut Random) {
    let begin = instant(years.begin) - Duration::from_secs(1);
    let end = instant(years.end) - Duration::from_secs(1);
    let found = cron.last_of(begin, end, zone);
    let wanted = minutes
        .last()
        .map(|last| (instant(*last), minutes.len() as u64));
    assert_eq!(
        found, wanted,
        "the last of `{cron}` in {zone}, and how many there are"
    );

    let mut looks: Vec<usize> = years
        .changes
        .iter()
        .flat_map(|change| {
            let place = minutes.partition_point(|minute| minute < change);
            place.saturating_sub(2)..place + 2
        })
        .collect();
    looks.extend((0..CLOSE_LOOKS).map(|_| random.below(minutes.len() as u64 + 1) as usize));
    for place in looks.into_iter().filter(|place| *place <= minutes.len()) {
        // From the instant before, or at any second until the next one.
        let next = minutes.get(place).copied();
        let before = place
            .checked_sub(1)
            .map_or(years.begin * 60 - 1, |n| minutes[n] * 60);
        let last = next.unwrap_or(years.end) * 60 - 1;
        let second = match random.below(3) {
            0 => before,
            1 => last,
            _ => before + random.below((last - before + 1).unsigned_abs()) as i64,
        };
        let after = instant_of(second);
        let found = cron.next_after(after, zone).filter(|at| *at <= end);
        assert_eq!(
            found.map(text),
            next.map(instant).map(text),
            "`{cron}` in {zone} after {}",
            text(after)
        );
    }
}
