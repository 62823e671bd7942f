//! Every key with a wrong value gets an error with its place and what would be right.

mod workbench;

use workbench::{refused, task};

const AFTER: &str = "after = \"1s\"\n";
const TRUE: &str = "run = [\"true\"]\n";

#[test]
fn a_bad_duration_says_what_is_wrong() {
    for (text, what) in [
        ("\"3 sec\"", "`sec` is not a unit (did you mean `s`?)"),
        ("\"30\"", "`30` has no unit (did you mean `30s`?)"),
        ("\"\"", "it is empty"),
        ("\"-1s\"", "it is negative"),
        ("\"soon\"", "a number is expected"),
        ("\"99999999999999999999999d\"", "longer than"),
        ("3", "number without a unit"),
        ("1.5", "number without a unit"),
        ("[\"1s\"]", "must be a string, not an array"),
    ] {
        refused(
            &task(&format!("after = {text}\n{TRUE}")),
            "3:9",
            &["`after`", what],
        );
        refused(
            &task(&format!("every = {text}\n{TRUE}")),
            "3:9",
            &["`every`", what],
        );
    }
    refused(
        &task(&format!("every = \"0ms\"\n{TRUE}")),
        "3:9",
        &["`every` is zero"],
    );
}

#[test]
fn a_bad_cron_expression_says_which_field_and_what_is_wrong() {
    for (text, what) in [
        ("\"0 24 * * *\"", "hour: `24` is out of range (0 to 23)"),
        ("\"0 0 * * 8\"", "day of week: `8` is out of range"),
        (
            "\"*/0 * * * *\"",
            "minute: `*/0` has a step that is not possible",
        ),
        ("\"0 0 30 2 *\"", "it never fires"),
        ("\"0 2 * *\"", "4 fields in place of 5"),
        ("\"\"", "the expression is empty"),
        ("\"@reboot\"", "`@reboot` is not known"),
        ("\"@every soon\"", "a number is expected"),
    ] {
        let expected = ["`cron` is not an expression", what, "cron = \"30 2"];
        refused(&task(&format!("cron = {text}\n{TRUE}")), "3:8", &expected);
    }
    refused(
        &task(&format!("cron = 5\n{TRUE}")),
        "3:8",
        &[
            "`cron` must be a string, not an integer",
            "cron = \"30 2 * * *\"",
        ],
    );
    refused(
        &task(&format!("cron = \"0 0 0 1 1 * 1999-2020\"\n{TRUE}")),
        "3:8",
        &["names no instant after now in UTC", "later years"],
    );
}

#[test]
fn a_bad_timezone_says_what_is_wrong() {
    const CRON: &str = "cron = \"30 2 * * *\"\n";
    refused(
        &task(&format!("{CRON}timezone = \"Asia/Shangai\"\n{TRUE}")),
        "4:12",
        &["`timezone`: there is no time zone `Asia/Shangai` (did you mean Asia/Shanghai?)"],
    );
    refused(
        &task(&format!("{CRON}timezone = 8\n{TRUE}")),
        "4:12",
        &["`timezone` must be a string, not an integer"],
    );
    for schedule in [
        "every = \"1h\"",
        "after = \"1h\"",
        "at = \"2126-12-01T02:00:00Z\"",
    ] {
        refused(
            &task(&format!("{schedule}\ntimezone = \"Asia/Shanghai\"\n{TRUE}")),
            "4:12",
            &["at the same instant in every time zone", "with `cron`"],
        );
    }
    refused(
        &task(&format!("{CRON}tz = \"Asia/Shanghai\"\n{TRUE}")),
        "4:1",
        &["unknown key `tz`", "did you mean `timezone`?"],
    );
}

#[test]
fn every_fault_of_a_schedule_is_reported() {
    let text = task(&format!(
        "cron = \"0 24 * * *\"\ntimezone = \"Mars/Phobos\"\ncount = 0\n{TRUE}"
    ));
    refused(&text, "3:8", &["hour: `24`"]);
    refused(&text, "4:12", &["no time zone `Mars/Phobos`"]);
    refused(&text, "5:9", &["`count` is 0"]);
}

#[test]
fn a_bad_instant_says_what_is_wrong() {
    let expected = ["`at` is not an instant", "2026-12-01T02:00:00+08:00"];
    for (text, why) in [
        ("\"tomorrow\"", "`tomorrow` does not begin with a date"),
        ("\"02:00\"", "`02:00` does not begin with a date"),
        ("\"\"", "does not begin with a date"),
        ("02:00:00", "`02:00:00` does not begin with a date"),
        ("\"2026-12-01T02:00:00\"", "it has no offset from UTC"),
        ("\"2026-12-01 02:00\"", "it has no offset from UTC"),
        ("2026-12-01T02:00:00", "it has no offset from UTC"),
        ("2026-12-01", "it has no offset from UTC"),
        ("\"2026-13-01T02:00:00Z\"", "month"),
    ] {
        let expected = [&expected[..], &[why]].concat();
        refused(&task(&format!("at = {text}\n{TRUE}")), "3:6", &expected);
    }
    refused(
        &task(&format!("at = 5\n{TRUE}")),
        "3:6",
        &["must be a string"],
    );
}

#[test]
fn a_bad_count_says_what_is_wrong() {
    let counted = |count: &str| task(&format!("every = \"1s\"\ncount = {count}\n{TRUE}"));
    refused(
        &counted("0"),
        "4:9",
        &["`count` is 0", "leave `count` away"],
    );
    refused(
        &counted("-1"),
        "4:9",
        &["a whole number from 1, not a negative number"],
    );
    refused(
        &counted("1.5"),
        "4:9",
        &["a whole number from 1, not a float"],
    );
    refused(
        &counted("\"3\""),
        "4:9",
        &["a whole number from 1, not a string"],
    );
    let once = task(&format!("{AFTER}count = 2\n{TRUE}"));
    refused(&once, "4:9", &["`after` runs once", "use `every`"]);
}

#[test]
fn run_is_a_program_with_its_arguments() {
    let run = |run: &str| task(&format!("{AFTER}{run}"));
    refused(&run(""), "1:1", &["has no `run`"]);
    refused(&run("run = []"), "4:7", &["`run` is empty"]);
    refused(&run("run = [\"\"]"), "4:7", &["empty program name"]);
    refused(
        &run("run = \"echo hi\""),
        "4:7",
        &["array of strings", "run = [\"echo\", \"hi\"]"],
    );
    refused(
        &run("run = \"echo hi | cat\""),
        "4:7",
        &["array of strings", "run = [\"sh\", \"-c\""],
    );
    refused(
        &run("run = [\"sleep\", 3]"),
        "4:17",
        &["strings only, not an integer"],
    );
}

#[test]
fn a_missing_program_is_found_before_it_is_due() {
    let run = |run: &str| task(&format!("{AFTER}run = [{run}]"));
    refused(
        &run("\"no-such-program\""),
        "4:8",
        &["\"no-such-program\" cannot be run", "not found in PATH"],
    );
    refused(
        &run("\"echo hi\""),
        "4:8",
        &["not found in PATH", "run = [\"echo\", \"hi\"]"],
    );
    refused(
        &run("\"./missing\""),
        "4:8",
        &["there is no file", "missing"],
    );
    refused(
        &run("\"./tasks.toml\""),
        "4:8",
        &["is not executable", "chmod +x"],
    );
    refused(&run("\"/\""), "4:8", &["/ is a folder"]);
    let own_path = task(&format!(
        "{AFTER}run = [\"true\"]\nenv = {{ PATH = \"/nowhere\" }}"
    ));
    refused(&own_path, "4:8", &["not found in PATH (/nowhere)"]);
}

#[test]
fn a_bad_env_says_what_is_wrong() {
    let env = |env: &str| task(&format!("{AFTER}{TRUE}env = {env}"));
    refused(&env("\"A=1\""), "5:7", &["table of strings, not a string"]);
    refused(
        &env("{ PORT = 80 }"),
        "5:16",
        &["`PORT` must be a string, not an integer", "PORT = \"80\""],
    );
    refused(
        &env("{ \"A=B\" = \"c\" }"),
        "5:9",
        &["`A=B` cannot be the name of a variable"],
    );
    refused(
        &env("{ \"\" = \"c\" }"),
        "5:9",
        &["cannot be the name of a variable"],
    );
}

#[test]
fn folders_must_be_there() {
    let with = |line: &str| task(&format!("{AFTER}{TRUE}{line}"));
    refused(
        &with("dir = \"/nowhere\""),
        "5:7",
        &["`dir`", "\"/nowhere\" does not exist"],
    );
    refused(&with("dir = \"tasks.toml\""), "5:7", &["is not a folder"]);
    refused(
        &with("output = \"/nowhere/x.log\""),
        "5:10",
        &["\"/nowhere\" does not exist"],
    );
    refused(&with("output = \".\""), "5:10", &["is a folder"]);
    refused(&with("output = \"\""), "5:10", &["is empty"]);
}
