//! Even points of the wall clock, against a scan of all minutes.

use wheel_testkit::{Random, seeds};

use super::*;
use crate::Zone;

const MINUTE: u64 = 60;

fn second(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn aligned(minutes: u64, zone: &str) -> Schedule {
    let every = Schedule::every(Duration::from_secs(minutes * MINUTE)).aligned();
    every.timezone(zone)
}

fn plan_of(schedule: &Schedule, from: SystemTime) -> (Plan, Due) {
    schedule.plan(Moment::ZERO, from, Draws::default()).unwrap()
}

/// By the definition: what the clock shows at each minute.
fn scan(minutes: u64, zone: &str, from: u64, to: u64) -> Vec<SystemTime> {
    let zone = jiff::tz::TimeZone::get(zone).unwrap();
    let shows_point = |at: &u64| {
        let local = zone.to_datetime(jiff::Timestamp::from_second(*at as i64).unwrap());
        let of_day = i64::from(local.hour()) * 60 + i64::from(local.minute());
        of_day % minutes as i64 == 0 && local.second() == 0
    };
    let all = (from..to).step_by(MINUTE as usize);
    all.filter(shows_point).map(second).collect()
}

/// Where the clocks are changed: by an hour, by half of one, by two, at midnight, by a day.
const CHANGES: [(&str, u64); 9] = [
    ("America/New_York", 1_772_953_200),
    ("America/New_York", 1_793_512_800),
    ("Australia/Lord_Howe", 1_570_289_400),
    ("Australia/Lord_Howe", 1_586_012_400),
    ("Antarctica/Troll", 1_774_746_000),
    ("America/Santiago", 1_534_046_400),
    ("Pacific/Apia", 1_325_239_200),
    ("Asia/Kolkata", 1_800_000_000),
    ("UTC", 1_800_000_000),
];

#[test]
fn points_of_a_zone_are_what_its_clock_shows_also_where_it_is_changed() {
    for (zone, change) in CHANGES {
        for minutes in [1, 15, 20, 60, 90, 120, 180, 480, 720, 1440] {
            let (from, to) = (change - 3 * 86_400, change + 3 * 86_400);
            let wanted = scan(minutes, zone, from, to);
            let schedule = aligned(minutes, zone);
            let (plan, _) = plan_of(&schedule, second(from));
            let found: Vec<_> = plan.between(second(from), second(to)).unwrap().collect();
            assert_eq!(found, wanted, "every {minutes} min in {zone}");
            let upcoming = schedule.occurrences(second(from - 1)).unwrap();
            assert_eq!(upcoming.take(wanted.len()).collect::<Vec<_>>(), wanted);
        }
    }
}

#[test]
fn what_was_missed_is_counted_as_a_scan_counts_it() {
    for seed in seeds(300) {
        let rng = &mut Random::new(seed);
        let (zone, change) = CHANGES[rng.below(CHANGES.len() as u64) as usize];
        let minutes = [1, 20, 60, 120, 720][rng.below(5) as usize];
        let from = change - rng.below(2 * 86_400);
        let (mut plan, first) = plan_of(&aligned(minutes, zone), second(from));
        let Due::Wall(first_at) = first else { panic!() };
        let reads = first_at + Duration::from_secs(rng.below(4 * 86_400));
        let (begin, end) = (from / MINUTE * MINUTE, change + 8 * 86_400);
        let all = scan(minutes, zone, begin, end);
        let due: Vec<_> = all
            .iter()
            .filter(|at| **at >= first_at && **at <= reads)
            .collect();
        let occurrence = plan.occur(first, at(DAY), || reads);
        let context = format!("seed {seed}: every {minutes} min in {zone}");
        assert_eq!(occurrence.due, *due[0], "{context}");
        assert_eq!(occurrence.nominal, **due.last().unwrap(), "{context}");
        assert_eq!(occurrence.missed, due.len() as u64 - 1, "{context}");
        let next = all.iter().find(|at| **at > reads).copied();
        assert_eq!(occurrence.next, next.map(Due::Wall), "{context}");
    }
}

#[test]
fn without_a_zone_points_are_multiples_since_the_epoch_however_long_or_short() {
    for period in [
        Duration::from_nanos(1),
        7 * MS,
        SECOND,
        7 * HOUR,
        1000 * DAY,
    ] {
        let (mut plan, first) = planned(&Schedule::every(period).aligned());
        let period = period.as_nanos() as i128;
        let on_grid = |due| match due {
            Due::Wall(at) => unix_nanos(at) % period == 0,
            Due::Monotonic(_) => false,
        };
        assert!(on_grid(first));
        let late = Duration::from_nanos(12_345_678_901);
        let Due::Wall(due) = first else { panic!() };
        let occurrence = plan.occur(first, at(DAY), || due + late);
        assert_eq!(
            i128::from(occurrence.missed),
            late.as_nanos() as i128 / period
        );
        assert!(occurrence.next.is_some_and(on_grid));
    }
    // Before the epoch as well.
    let hourly = Schedule::every(HOUR).aligned();
    let before = SystemTime::UNIX_EPOCH - 90 * 60 * SECOND;
    let two: Vec<_> = hourly.occurrences(before).unwrap().take(2).collect();
    assert_eq!(two, [SystemTime::UNIX_EPOCH - HOUR, SystemTime::UNIX_EPOCH]);
}

#[test]
fn a_period_beyond_all_instants_is_never_due() {
    let (_, first) = planned(&Schedule::every(Duration::MAX).aligned());
    assert_eq!(first, Due::NEVER);
}

#[test]
fn an_instant_that_is_a_point_is_not_after_itself() {
    let minute = Schedule::every(60 * SECOND).aligned();
    assert_eq!(planned(&minute).1, Due::Wall(wall() + 60 * SECOND));
}

#[test]
fn what_cannot_be_aligned_is_refused() {
    let refused = |schedule: Schedule| schedule.occurrences(wall()).unwrap_err();
    let seven_hours = Schedule::every(7 * HOUR).aligned();
    assert!(seven_hours.occurrences(wall()).is_ok());
    let error = refused(seven_hours.timezone("Europe/Berlin"));
    assert_eq!(error, ScheduleError::PeriodNotOfDay(7 * HOUR));
    assert!(
        error
            .to_string()
            .starts_with("aligned: a period of 7h does not divide a day")
    );
    let error = refused(Schedule::every(HOUR).timezone("Europe/Berlin"));
    assert_eq!(error, ScheduleError::ZoneNotPossible);
    let error = refused(Schedule::every(HOUR).aligned().timezone("Europe/Berlim"));
    assert!(
        error
            .to_string()
            .starts_with("timezone: there is no time zone")
    );
    for other in [
        Schedule::after(HOUR),
        Schedule::every_after(HOUR),
        Schedule::cron("@daily"),
    ] {
        assert_eq!(refused(other.aligned()), ScheduleError::StartNotPossible);
    }
    assert_eq!(
        refused(Schedule::every(Duration::ZERO).aligned()),
        ScheduleError::ZeroPeriod
    );
}

#[test]
fn every_in_an_expression_can_be_aligned_too() {
    let berlin: Zone = "Europe/Berlin".parse().unwrap();
    let cron = Schedule::cron("@every 2h")
        .aligned()
        .timezone(berlin.clone());
    let every = Schedule::every(2 * HOUR).aligned().timezone(berlin);
    let first = |schedule: &Schedule| {
        schedule
            .occurrences(wall())
            .unwrap()
            .take(50)
            .collect::<Vec<_>>()
    };
    assert_eq!(first(&cron), first(&every));
}
