//! Fields and dates, in UTC.

use std::time::Duration;

use super::*;

#[track_caller]
fn utc(expression: &str, after: &str, wanted: &[&str]) {
    gives(expression, "UTC", after, wanted);
}

/// Two texts mean the same.
#[track_caller]
fn same(one: &str, other: &str) {
    let (a, b) = (cron(one), cron(other));
    assert_eq!(a.rule, b.rule, "`{one}` and `{other}`");
}

// CP-02
#[test]
fn sunday_is_zero_or_seven() {
    same("0 0 * * 7", "0 0 * * 0");
    same("0 0 * * 0,7", "0 0 * * SUN");
    same("0 0 * * 5-7", "0 0 * * FRI,SAT,SUN");
    same("0 0 * * 7-7", "0 0 * * 0");
    same("0 0 * * 7-2", "0 0 * * 0-2");
    same("0 0 * * 7L", "0 0 * * SUN#L");
    same("0 0 * * 0-7", "0 0 * * 0-6");
    // 2027-02-01 is a Monday.
    utc(
        "0 0 * * 7",
        "2027-02-01T00:00:00Z",
        &["2027-02-07T00:00:00Z"],
    );
    utc(
        "0 0 * * 0",
        "2027-02-01T00:00:00Z",
        &["2027-02-07T00:00:00Z"],
    );
    utc(
        "0 0 * * 1",
        "2027-02-01T00:00:00Z",
        &["2027-02-08T00:00:00Z"],
    );
}

// CP-05
#[test]
fn an_impossible_day_of_the_month_is_fine_where_a_day_of_the_week_is_enough() {
    let february: Vec<String> = next("0 0 31 2 1-5", "UTC", "2027-02-01T00:00:00Z", 20);
    assert_eq!(february[0], "2027-02-02T00:00:00Z");
    assert_eq!(february[18], "2027-02-26T00:00:00Z");
    assert_eq!(february[19], "2028-02-01T00:00:00Z");
}

// CP-06
#[test]
fn of_two_restricted_day_fields_either_is_enough() {
    let wanted = [
        "2016-05-27T10:00:00Z",
        "2016-06-01T10:00:00Z",
        "2016-06-03T10:00:00Z",
        "2016-06-10T10:00:00Z",
    ];
    utc("0 10 1 * 5", "2016-05-25T00:00:00Z", &wanted);
    // Friday the 13th is one of many.
    let wanted = [
        "2026-02-06T00:00:00Z",
        "2026-02-13T00:00:00Z",
        "2026-02-20T00:00:00Z",
    ];
    utc("0 0 13 * 5", "2026-02-01T00:00:00Z", &wanted);
}

#[test]
fn a_day_field_that_begins_with_a_star_does_not_restrict() {
    let wanted = ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z"];
    utc("0 0 * * 5", "2026-02-01T00:00:00Z", &wanted);
    utc(
        "0 0 13 * *",
        "2026-02-01T00:00:00Z",
        &["2026-02-13T00:00:00Z", "2026-03-13T00:00:00Z"],
    );
    // Then a day must have both: a Monday with an odd number.
    let wanted = [
        "2026-02-09T00:00:00Z",
        "2026-02-23T00:00:00Z",
        "2026-03-09T00:00:00Z",
    ];
    utc("0 0 */2 * 1", "2026-02-02T00:00:00Z", &wanted);
    same("0 0 1-31/2,2-30/2 * 1", "0 0 1-31 * 1");
    assert_ne!(cron("0 0 1-31 * 1").rule, cron("0 0 * * 1").rule);
}

// CP-09
#[test]
fn five_six_and_seven_fields_say_what_they_say() {
    for expression in [
        "* 0 * * *",
        "0 * 0 * * *",
        "\t*\t0  * * * \n",
        "0 * 0 * * * *",
    ] {
        let day = next(expression, "UTC", "2026-05-01T23:59:59Z", 61);
        assert_eq!(day[0], "2026-05-02T00:00:00Z", "{expression:?}");
        assert_eq!(day[59], "2026-05-02T00:59:00Z", "{expression:?}");
        assert_eq!(day[60], "2026-05-03T00:00:00Z", "{expression:?}");
    }
}

#[test]
fn the_last_days_of_a_month() {
    let after = "2028-02-01T00:00:00Z";
    utc(
        "0 0 L * *",
        after,
        &["2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"],
    );
    utc(
        "0 0 L-2 * *",
        after,
        &["2028-02-27T00:00:00Z", "2028-03-29T00:00:00Z"],
    );
    utc(
        "0 0 l-0,1 * *",
        after,
        &["2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"],
    );
    // A month of 30 days has no L-30: it begins with its first Monday.
    utc(
        "0 0 L-30 * MON",
        "2028-03-27T00:00:00Z",
        &["2028-04-03T00:00:00Z"],
    );
    // Only months of 31 days have it.
    utc(
        "0 0 L-30 * *",
        after,
        &["2028-03-01T00:00:00Z", "2028-05-01T00:00:00Z"],
    );
    // 2026-02-28 is a Saturday, 2026-05-31 a Sunday.
    utc(
        "0 0 LW * *",
        "2026-02-01T00:00:00Z",
        &["2026-02-27T00:00:00Z", "2026-03-31T00:00:00Z"],
    );
    utc(
        "0 0 LW 5 *",
        "2026-02-01T00:00:00Z",
        &["2026-05-29T00:00:00Z"],
    );
}

#[test]
fn the_nearest_weekday_stays_in_its_month() {
    // 2026-08-15 is a Saturday, 2026-11-15 a Sunday, 2026-07-15 a Wednesday.
    utc(
        "0 0 15W 8 *",
        "2026-08-01T00:00:00Z",
        &["2026-08-14T00:00:00Z"],
    );
    utc(
        "0 0 15W 11 *",
        "2026-08-01T00:00:00Z",
        &["2026-11-16T00:00:00Z"],
    );
    utc(
        "0 0 15w 7 *",
        "2026-07-01T00:00:00Z",
        &["2026-07-15T00:00:00Z"],
    );
    // 2026-08-01 is a Saturday, 2026-05-31 a Sunday.
    utc(
        "0 0 1W 8 *",
        "2026-07-01T00:00:00Z",
        &["2026-08-03T00:00:00Z"],
    );
    utc(
        "0 0 31W 5 *",
        "2026-05-01T00:00:00Z",
        &["2026-05-29T00:00:00Z"],
    );
    // A month without a 31st has none.
    utc(
        "0 0 31W * *",
        "2026-03-31T00:00:00Z",
        &["2026-05-29T00:00:00Z"],
    );
}

#[test]
fn the_last_and_the_nth_day_of_the_week() {
    let after = "2026-01-01T00:00:00Z";
    let fridays = ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z"];
    for last_friday in ["0 0 * * 5L", "0 0 * * FRIL", "0 0 * * 5#L", "0 0 * * fri#l"] {
        utc(last_friday, after, &fridays);
    }
    utc(
        "0 0 * * 1#2",
        after,
        &["2026-01-12T00:00:00Z", "2026-02-09T00:00:00Z"],
    );
    utc("0 0 * * THU#1", after, &["2026-02-05T00:00:00Z"]);
    // Months without a fifth Monday have none.
    utc(
        "0 0 * * MON#5",
        after,
        &["2026-03-30T00:00:00Z", "2026-06-29T00:00:00Z"],
    );
}

#[test]
fn ranges_go_on_over_the_end_of_a_field() {
    same("0 22-2 * * *", "0 22,23,0,1,2 * * *");
    same("50-10/10 * * * *", "50,0,10 * * * *");
    same("0 0 28-3 * *", "0 0 28,29,30,31,1,2,3 * *");
    same("0 0 * NOV-FEB *", "0 0 * 11,12,1,2 *");
    same("0 0 * * FRI-MON", "0 0 * * 5,6,0,1");
    same("0 0 * * FRI-SUN", "0 0 * * 5-7");
    same("0 0 * * SAT-SUN/1", "0 0 * * 6,0");
}

#[test]
fn steps_begin_where_they_say() {
    same("5/15 * * * *", "5,20,35,50 * * * *");
    same("0-59/15 0 * * *", "0,15,30,45 0 * * *");
    same("10-30/10,7 * * * *", "7,10,20,30 * * * *");
    utc(
        "0 0 */10 * *",
        "2026-01-01T00:00:00Z",
        &[
            "2026-01-11T00:00:00Z",
            "2026-01-21T00:00:00Z",
            "2026-01-31T00:00:00Z",
            "2026-02-01T00:00:00Z",
        ],
    );
    same("0 0 * * MON/2", "0 0 * * 1,3,5");
    same("0 0 * * 7/2", "0 0 * * 0,2,4,6");
    same("*/60 * * * *", "0 * * * *");
    same("0 0 0 1 1 * 2024/4", "0 0 0 1 1 * 2024-9999/4");
}

#[test]
fn words_stand_for_fields() {
    for (word, fields) in [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 JAN *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        (" @MIDNIGHT ", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ] {
        same(word, fields);
    }
    utc(
        "@every 5m",
        "2026-01-01T00:00:07.5Z",
        &["2026-01-01T00:05:07.5Z", "2026-01-01T00:10:07.5Z"],
    );
    assert_eq!(cron("@every  90m").to_string(), "@every 1h30m");
}

// CN-01
#[test]
fn what_is_impossible_in_one_month_happens_in_another() {
    utc(
        "0 0 31 4,5 *",
        "2026-01-01T00:00:00Z",
        &["2026-05-31T00:00:00Z", "2027-05-31T00:00:00Z"],
    );
    utc(
        "0 0 30 2,3 *",
        "2026-01-01T00:00:00Z",
        &["2026-03-30T00:00:00Z"],
    );
}

// CN-04
#[test]
fn a_leap_day_is_a_day_to_ask_on() {
    utc(
        "0 9 29 2 *",
        "2016-02-29T09:00:00Z",
        &["2020-02-29T09:00:00Z"],
    );
    let noon = "2024-02-29T12:00:00Z";
    utc("0 0 1 1 *", noon, &["2025-01-01T00:00:00Z"]);
    utc("* * * * *", noon, &["2024-02-29T12:01:00Z"]);
    utc("0 0 28 * *", noon, &["2024-03-28T00:00:00Z"]);
}

// CN-05
#[test]
fn a_leap_day_comes_in_leap_years_only() {
    let wanted = [
        "2028-02-29T00:00:00Z",
        "2032-02-29T00:00:00Z",
        "2036-02-29T00:00:00Z",
        "2040-02-29T00:00:00Z",
    ];
    utc("0 0 29 2 *", "2024-12-13T00:00:00Z", &wanted);
    utc(
        "0 0 29 2 *",
        "2096-12-13T00:00:00Z",
        &["2104-02-29T00:00:00Z"],
    );
    // A Sunday, once in 28 years; 2100 is no leap year.
    let sundays = [
        "2060-02-29T00:00:00Z",
        "2088-02-29T00:00:00Z",
        "2128-02-29T00:00:00Z",
    ];
    utc("0 0 * 2 0#5", "2032-02-29T00:00:00Z", &sundays);
}

// CN-08
#[test]
fn a_later_year_may_have_an_earlier_date() {
    utc(
        "0 0 1 23 11 * 2022",
        "2021-11-24T00:00:00Z",
        &["2022-11-23T01:00:00Z"],
    );
    utc(
        "0 0 1 23 11 * 2022,2031-2032",
        "2022-11-23T01:00:00Z",
        &["2031-11-23T01:00:00Z", "2032-11-23T01:00:00Z"],
    );
    assert_eq!(
        next("0 0 1 23 11 * 2022", "UTC", "2022-11-23T01:00:00Z", 3),
        [""; 0]
    );
}

// CN-09
#[test]
fn the_next_instant_is_later_and_whole() {
    for after in ["12:00:00.000", "12:00:00.001", "12:00:59.999"] {
        utc(
            "* * * * *",
            &format!("2026-01-01T{after}Z"),
            &["2026-01-01T12:01:00Z"],
        );
    }
    for after in ["12:00:00", "12:00:00.000000001", "12:00:00.999"] {
        utc(
            "* * * * * *",
            &format!("2026-01-01T{after}Z"),
            &["2026-01-01T12:00:01Z"],
        );
    }
    utc(
        "* * * * * *",
        "1969-12-31T23:59:58.5Z",
        &["1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"],
    );
    utc(
        "0 0 1 1 *",
        "-000100-06-01T00:00:00Z",
        &["-000099-01-01T00:00:00Z"],
    );
}

// CN-10
#[test]
fn years_after_2099_are_reached_and_the_calendar_ends_with_9999() {
    utc(
        "0 0 15 6 *",
        "2150-02-01T00:00:00Z",
        &["2150-06-15T00:00:00Z"],
    );
    utc(
        "0 0 15 6 *",
        "2150-07-01T00:00:00Z",
        &["2151-06-15T00:00:00Z"],
    );
    utc(
        "0 0 15 6 *",
        "9999-01-01T00:00:00Z",
        &["9999-06-15T00:00:00Z"],
    );
    assert_eq!(
        next("0 0 15 6 *", "UTC", "9999-07-01T00:00:00Z", 2),
        [""; 0]
    );
    assert_eq!(
        next("* * * * *", "Pacific/Apia", "9999-12-30T22:00:00Z", 2),
        [""; 0]
    );
    let (cron, zone) = (cron("* * * * *"), zone("America/New_York"));
    let ages = Duration::from_secs(1 << 60);
    assert_eq!(cron.next_after(SystemTime::UNIX_EPOCH + ages, &zone), None);
    let first = cron.next_after(SystemTime::UNIX_EPOCH - ages, &zone);
    assert!(first.is_some_and(|first| first > SystemTime::UNIX_EPOCH - ages));
}

// CN-01
#[test]
fn the_rarest_dates_are_found() {
    utc(
        "0 0 29 2 *",
        "1896-03-01T00:00:00Z",
        &["1904-02-29T00:00:00Z"],
    );
    utc(
        "0 0 0 29 2 * 9996",
        "2026-01-01T00:00:00Z",
        &["9996-02-29T00:00:00Z"],
    );
    let all = next(
        "59 59 23 31 12 * 2400-9999/400",
        "UTC",
        "2026-01-01T00:00:00Z",
        30,
    );
    assert_eq!(all.len(), 19);
    assert_eq!(all[18], "9600-12-31T23:59:59Z");
}
