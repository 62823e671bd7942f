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
