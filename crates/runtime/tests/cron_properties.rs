//! Cron expressions and instants that chance has made up.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use wheel_runtime::{Cron, Zone};

const ZONES: [&str; 6] = [
    "UTC",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
    "Antarctica/Troll",
];

/// A part of a field that fits most fields.
fn part() -> impl Strategy<Value = String> {
    let value = || 1..8_u8;
    prop_oneof![
        4 => Just("*".to_owned()),
        4 => value().prop_map(|value| value.to_string()),
        2 => (value(), value()).prop_map(|(from, to)| format!("{from}-{to}")),
        2 => value().prop_map(|step| format!("*/{step}")),
        1 => (value(), value()).prop_map(|(from, step)| format!("{from}/{step}")),
        1 => (value(), value(), value()).prop_map(|(from, to, step)| format!("{from}-{to}/{step}")),
    ]
}

fn field() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 1..3).prop_map(|parts| parts.join(","))
}

/// Five fields, or six; the hour is often one in which clocks are changed.
fn cron() -> impl Strategy<Value = Cron> {
    let hour = prop_oneof![field(), Just("0-3".to_owned()), Just("1,2".to_owned())];
    let second = prop_oneof![3 => Just(String::new()), 1 => field()];
    let fields = (second, field(), hour, field(), field(), field());
    fields.prop_filter_map(
        "it never fires",
        |(second, minute, hour, day, month, weekday)| {
            let text = format!("{second} {minute} {hour} {day} {month} {weekday}");
            text.parse().ok()
        },
    )
}

/// From 1950 to 2090.
fn instant() -> impl Strategy<Value = SystemTime> {
    let seconds = -631_152_000..3_786_912_000_i64;
    (seconds, 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| {
        let since = Duration::from_secs(seconds.unsigned_abs());
        let whole = match seconds < 0 {
            true => SystemTime::UNIX_EPOCH - since,
            false => SystemTime::UNIX_EPOCH + since,
        };
        whole + Duration::from_nanos(nanos.into())
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/proptest-regressions/cron_properties.txt",
        ))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_text_makes_the_parser_panic(text in "[ -~\\t]{0,40}|[0-9*/,LW#@ A-Z-]{0,60}|\\PC{0,20}") {
        match text.parse::<Cron>() {
            Ok(cron) => prop_assert_eq!(cron.to_string().parse::<Cron>(), Ok(cron)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn the_next_instant_is_later_and_the_same_from_everywhere_before_it(
        cron in cron(),
        zone in prop::sample::select(&ZONES[..]),
        from in instant(),
        permille in 0..1_000_u32,
    ) {
        let zone: Zone = zone.parse().unwrap();
        let Some(next) = cron.next_after(from, &zone) else {
            // In some zone the clocks may skip it each time.
            return Ok(());
        };
        prop_assert!(next > from);
        let gap = next.duration_since(from).unwrap();
        prop_assert_eq!(cron.next_after(from + gap / 1_000 * permille, &zone), Some(next));
        prop_assert_eq!(cron.next_after(next - Duration::from_nanos(1), &zone), Some(next));
        if let Some(second) = cron.next_after(next, &zone) {
            prop_assert!(second > next);
        }
    }
}
