//! Expressions in plain words, and as text again.

use super::*;

#[test]
fn an_expression_is_described() {
    for (expression, words) in [
        ("* * * * *", "every minute"),
        ("* * * * * *", "every second"),
        ("*/15 * * * *", "every 15 minutes"),
        ("*/10 * * * * *", "every 10 seconds"),
        ("*/7 * * * *", "every hour, at minute 0 to 56 in steps of 7"),
        ("15,45 * * * *", "every hour, at minute 15 and 45"),
        ("@hourly", "every hour"),
        ("5 * * * *", "every hour, at minute 5"),
        ("0 */2 * * *", "every 2 hours"),
        ("0 9-17 * * *", "on the hour, in the hours 09 to 17"),
        (
            "10 0-5,8 * * *",
            "at minute 10, in the hours 00 to 05 and 08",
        ),
        ("30 2 * * *", "at 02:30"),
        ("0,30 2 * * *", "at 02:00 and 02:30"),
        ("15 30 2 * * *", "at 02:30:15"),
        (
            "*/10 30 2 * * *",
            "every 10 seconds, at minute 30, in the hour 02",
        ),
        (
            "*/15 9-17 * * MON-FRI",
            "every 15 minutes, in the hours 09 to 17, on Monday to Friday",
        ),
        (
            "0 22-2 * NOV-FEB FRI-MON",
            "on the hour, in the hours 22 to 02, on Friday to Monday, in November to February",
        ),
        ("0 0 * * 0,6", "at 00:00, on Saturday and Sunday"),
        ("0 0 1,15 * *", "at 00:00, on the 1st and 15th of the month"),
        (
            "0 0 */2 * 1",
            "at 00:00, on the 1st to 31st in steps of 2 of the month if that is Monday",
        ),
        (
            "0 0 13 * 5",
            "at 00:00, on the 13th of the month or on Friday",
        ),
        (
            "0 0 1-7/2 * *",
            "at 00:00, on the 1st, 3rd, 5th and 7th of the month",
        ),
        (
            "0 0 1-9/2 * *",
            "at 00:00, on the 1st to 9th in steps of 2 of the month",
        ),
        ("0 0 1-31 * 5", "at 00:00"),
        (
            "0 0 L,L-1,L-2,15W,LW * *",
            "at 00:00, on the weekday nearest to the 15th, the last day, the day before the last one, the 2nd day before the last one and the last weekday of the month",
        ),
        ("0 0 * * 5L", "at 00:00, on the last Friday of the month"),
        (
            "0 0 * 3 SUN#2",
            "at 00:00, on the second Sunday of the month, in March",
        ),
        ("@yearly", "at 00:00, on the 1st of the month, in January"),
        (
            "0 0 0 22 * * 2026-2028,2030",
            "at 00:00, on the 22nd of the month, in 2026 to 2028 and 2030",
        ),
        (
            "0 0 0 1 1 * 2024/4",
            "at 00:00, on the 1st of the month, in January, in 2024 to 9996 in steps of 4",
        ),
        ("@every 90m", "every 1h30m"),
    ] {
        assert_eq!(cron(expression).describe(), words, "{expression}");
    }
}

#[test]
fn a_description_stays_short_enough_to_be_read() {
    let odd = "*/2,*/7 0-58/2,*/7 */3,*/5 */2,*/5 */5,*/7 MON,WED,FRI */2,*/3";
    let words = cron(odd).describe();
    assert!(words.contains(", in 1970, 1972 to 1974, 1976, "), "{words}");
    assert!(words.ends_with(" more") && words.len() < 1_000, "{words}");
}

#[test]
fn an_expression_is_shown_with_single_blanks_and_read_again() {
    for (written, shown) in [
        ("  0\t9 *  * MON-FRI ", "0 9 * * MON-FRI"),
        ("@Daily", "@daily"),
        ("@every 0.5h", "@every 30m"),
        ("0 0 0 1 1 * 2024/4", "0 0 0 1 1 * 2024/4"),
    ] {
        let cron = cron(written);
        assert_eq!(cron.to_string(), shown);
        assert_eq!(shown.parse::<Cron>(), Ok(cron));
    }
}
