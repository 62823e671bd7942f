//! What is no expression, and what is said about it.

use super::super::{CronError, CronField};
use super::*;

fn error(text: &str) -> CronError {
    match text.parse::<Cron>() {
        Ok(cron) => panic!("{text:?} passed: {}", cron.describe()),
        Err(error) => error,
    }
}

fn field_of(text: &str) -> (CronField, String) {
    match error(text) {
        CronError::Field { field, part, .. } => (field, part),
        other => panic!("{text:?}: {other}"),
    }
}

// CP-01
#[test]
fn a_step_of_zero_or_beyond_the_field_is_an_error() {
    use CronField::{DayOfMonth, DayOfWeek, Hour, Minute, Month, Second, Year};
    let fields = [Second, Minute, Hour, DayOfMonth, Month, DayOfWeek, Year];
    for (place, field) in fields.into_iter().enumerate() {
        let first = field.first();
        for part in [
            "*/0".to_owned(),
            format!("{first}/0"),
            format!("{first}-{}/0", first + 4),
            "*/4294967296".to_owned(),
            format!("{first}-{}/99999999999999999999", first + 4),
            format!("*/{}", field.size() + 1),
            "*/".to_owned(),
            "*/-1".to_owned(),
        ] {
            let mut words = ["*"; 7];
            words[place] = &part;
            assert_eq!(field_of(&words.join(" ")), (field, part));
        }
    }
}

// CP-07
#[test]
fn a_value_out_of_range_is_an_error() {
    for (text, field, part) in [
        ("0 0 * * 8", CronField::DayOfWeek, "8"),
        ("0 24 * * *", CronField::Hour, "24"),
        ("60 * * * *", CronField::Minute, "60"),
        ("60 * * * * *", CronField::Second, "60"),
        ("0 0 0 * *", CronField::DayOfMonth, "0"),
        ("0 0 32 * *", CronField::DayOfMonth, "32"),
        ("0 0 * 13 *", CronField::Month, "13"),
        ("0 0 * 0 *", CronField::Month, "0"),
        ("0 0 0 1 1 * 1969", CronField::Year, "1969"),
        ("0 0 0 1 1 * 10000", CronField::Year, "10000"),
        ("0 0 * * 4294967301", CronField::DayOfWeek, "4294967301"),
        ("0 0-24 * * *", CronField::Hour, "24"),
        ("0 0 * * 8#1", CronField::DayOfWeek, "8"),
    ] {
        assert_eq!(field_of(text), (field, part.to_owned()), "{text}");
        assert!(error(text).to_string().contains("out of range"), "{text}");
    }
}

#[test]
fn an_error_names_the_field_and_the_part() {
    use CronField::{DayOfMonth, DayOfWeek, Hour, Minute, Month, Year};
    for (text, field, part) in [
        ("1,,2 * * * *", Minute, ""),
        ("1, 2 * * *", Minute, ""),
        ("+5 * * * *", Minute, "+5"),
        ("? * * * *", Minute, "?"),
        ("5-* * * * *", Minute, "*"),
        ("1-2-3 * * * *", Minute, "2-3"),
        ("5- * * * *", Minute, ""),
        ("* H * * *", Hour, "H"),
        ("0 0 L-31 * *", DayOfMonth, "L-31"),
        ("0 0 0W * *", DayOfMonth, "0W"),
        ("0 0 1-5W * *", DayOfMonth, "1-5W"),
        ("0 0 W * *", DayOfMonth, "W"),
        ("0 0 ? * 1", DayOfMonth, "?"),
        ("0 0 * MAI *", Month, "MAI"),
        ("0 0 * * L", DayOfWeek, "L"),
        ("0 0 * * FRI#6", DayOfWeek, "FRI#6"),
        ("0 0 * * FRI#0", DayOfWeek, "FRI#0"),
        ("0 0 * * MONDAY", DayOfWeek, "MONDAY"),
        ("0 0 * * 1-5L", DayOfWeek, "1-5"),
        ("0 0 0 1 1 * 2040-2030", Year, "2040-2030"),
        ("٣ * * * *", Minute, "٣"),
    ] {
        assert_eq!(field_of(text), (field, part.to_owned()), "{text}");
        let told = error(text).to_string();
        assert!(told.starts_with(&format!("{field}: `{part}` ")), "{told}");
        assert!(told.contains('('), "what would be right? {told}");
    }
}

// CP-09
#[test]
fn a_wrong_number_of_fields_is_an_error() {
    for (text, count) in [
        ("", 0),
        ("   ", 0),
        ("\t \n", 0),
        ("*", 1),
        ("* * * *", 4),
        ("* * * * * * * *", 8),
    ] {
        assert_eq!(error(text), CronError::FieldCount(count), "{text:?}");
    }
}

// CN-01
#[test]
fn an_expression_that_never_fires_is_an_error() {
    for text in [
        "0 0 30 2 *",
        "0 0 31 2 *",
        "0 0 31 4 *",
        "0 0 31 2,4,6,9,11 *",
        "0 0 31 2 */2",
        "0 0 31W 6 *",
        "0 0 L-29 2 *",
        "0 0 0 29 2 * 2025-2027",
        "0 0 0 29 2 * 2100,2200,2300,2500",
    ] {
        assert_eq!(error(text), CronError::NeverFires, "{text}");
    }
    for text in ["0 0 L-28 2 *", "0 0 * 2 0#5", "0 0 0 29 2 * 2100-2104"] {
        assert!(text.parse::<Cron>().is_ok(), "{text}");
    }
}

#[test]
fn what_is_no_word_and_no_duration_is_an_error() {
    for text in ["@", "@reboot", "@dailyy", "@daily 5", "@ daily"] {
        assert_eq!(error(text), CronError::UnknownWord(text.to_owned()));
    }
    assert_eq!(error("@every 0s"), CronError::EveryZero);
    for text in ["@every", "@every 5", "@every soon", "@every -5m"] {
        assert!(matches!(error(text), CronError::Every(_)), "{text}");
    }
    assert_eq!(error("CRON_TZ=Asia/Tokyo 0 0 * * *"), CronError::ZoneInside);
    assert_eq!(error("TZ=Asia/Tokyo 0 0 * * *"), CronError::ZoneInside);
}

#[test]
fn a_long_text_is_an_error_at_once_and_a_long_part_is_cut_in_the_message() {
    assert_eq!(error(&"*/1,".repeat(250_000)), CronError::TooLong);
    let part = "é".repeat(300);
    let told = error(&format!("{part} * * * *")).to_string();
    assert!(told.contains("é… ") || told.contains("é…`"), "{told}");
    assert!(told.len() < 250, "{told}");
    let all: Vec<String> = (0..60).map(|minute| minute.to_string()).collect();
    assert!(
        format!("{0} {0} * * * *", all.join(","))
            .parse::<Cron>()
            .is_ok()
    );
}

#[test]
fn an_unknown_zone_is_an_error_with_the_nearest_name() {
    for (name, told) in [
        (
            "Asia/Shangai",
            "there is no time zone `Asia/Shangai` (did you mean Asia/Shanghai?)",
        ),
        (
            "new york",
            "there is no time zone `new york` (did you mean America/New_York?)",
        ),
        (
            "Mars/Phobos",
            "there is no time zone `Mars/Phobos` (write a name such as Europe/Paris, Asia/Shanghai or UTC)",
        ),
        (
            "",
            "there is no time zone `` (write a name such as Europe/Paris, Asia/Shanghai or UTC)",
        ),
    ] {
        assert_eq!(name.parse::<Zone>().unwrap_err().to_string(), told);
    }
    for name in [
        "../../../etc/passwd",
        "/usr/share/zoneinfo/UTC",
        "+08:00",
        "EST5EDT,M3.2.0,M11.1.0",
        "Europe/Paris\0",
        &"A".repeat(1 << 20),
    ] {
        assert!(name.parse::<Zone>().is_err(), "{}", &name[..10]);
    }
    for name in [
        "UTC",
        "Etc/UTC",
        "US/Pacific",
        "europe/paris",
        " Asia/Kathmandu ",
        "Etc/GMT+8",
    ] {
        assert!(name.parse::<Zone>().is_ok(), "{name}");
    }
}
