//! What is wrong with a crontab is said with its place and what would be right, all of it at once.

mod workbench;

use std::process::Command;

use workbench::{Done, Workbench};

/// A crontab of a user is refused; the message has the place (line:column) and all the parts.
#[track_caller]
fn refused(text: &str, place: &str, parts: &[&str]) {
    refused_as(&["--crontab"], text, place, parts);
}

/// The same, of the system.
#[track_caller]
fn refused_of_system(text: &str, place: &str, parts: &[&str]) {
    refused_as(&["--system", "--crontab"], text, place, parts);
}

#[track_caller]
fn refused_as(args: &[&str], text: &str, place: &str, parts: &[&str]) {
    let bench = Workbench::new();
    let done = bench.crontab(text, &[&["check"], args].concat());
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{done:?}");
    done.says(&[&[format!("crontab:{place}\n").as_str()], parts].concat());
    assert!(
        done.err.ends_with(": 1 error; nothing was run\n"),
        "{}",
        done.err
    );
    let run = bench.crontab(text, &[&["run"], args].concat());
    assert_eq!(
        (run.code, run.out.as_str(), run.err),
        (Some(2), "", done.err)
    );
}

#[test]
fn a_value_that_a_field_does_not_have() {
    refused(
        "60 * * * * x\n",
        "1:1",
        &["minute: `60` is out of range", "a number from 0 to 59"],
    );
    refused("0\t24  * * * x\n", "1:3", &["hour: `24` is out of range"]);
    refused(
        "  0 0 1,0 * * x\n",
        "1:9",
        &["day of month: `0` is out of range", "from 1 to 31"],
    );
    refused(
        "0 0 * 13 * x\n",
        "1:7",
        &["month: `13`", "or a name from jan to dec"],
    );
    refused(
        "0 0 * * mon-fry x\n",
        "1:9",
        &["day of week: `fry` is not a value", "from sun to sat"],
    );
    refused(
        "0 99999999999999999999 * * * x\n",
        "1:3",
        &["is out of range"],
    );
    refused("0 0 , * * x\n", "1:5", &["a part of the list is empty"]);
    refused("0 -3 * * * x\n", "1:3", &["hour: a value is missing"]);
}

#[test]
fn what_cron_passes_over_or_takes_for_something_else() {
    refused(
        "5/15 * * * * x\n",
        "1:1",
        &["`5/15`: a step needs a range", "write 5-59/15"],
    );
    refused("*/0 * * * * x\n", "1:1", &["a step of 0", "such as */5"]);
    refused("*/x * * * * x\n", "1:1", &["`x` is not a step"]);
    refused(
        "0 22-2 * * * x\n",
        "1:3",
        &["`22-2` goes backwards", "write 22-23,0-2"],
    );
    refused(
        "0 0 * * fri-sun x\n",
        "1:9",
        &["goes backwards", "write 5-7"],
    );
    refused("0 0 * * sat-mon x\n", "1:9", &["write 6-6,0-1"]);
    refused("0 0 30 2 * x\n", "1:1", &["it never fires"]);
    refused(
        "0 0 L * * x\n",
        "1:5",
        &["`L` is not a value", "cron has no L"],
    );
    refused("0~30 * * * * x\n", "1:1", &["`0~30` is not a value"]);
}

#[test]
fn words_for_times() {
    refused(
        "@dayly x\n",
        "1:1",
        &["cron does not know `@dayly`", "did you mean @daily?"],
    );
    refused("@Daily x\n", "1:1", &["did you mean @daily?"]);
    refused("@every 5m x\n", "1:1", &["*/5 * * * *"]);
    refused("@daily\n", "1:7", &["the line has no command"]);
}

#[test]
fn lines_with_too_little_or_too_much() {
    refused("30 2 * *\n", "1:9", &["the line ends before day of week"]);
    refused(
        "30 2\n",
        "1:5",
        &["the line ends before day of month, month, day of week"],
    );
    refused("30 2 * * *  \n", "1:11", &["the line has no command"]);
    refused(
        "0 3 2 * * * x\n",
        "1:11",
        &["a sixth field: cron knows no seconds"],
    );
    refused(
        "backup every day\n",
        "1:1",
        &["neither a setting nor an entry"],
    );
    refused_of_system(
        "30 2 * * * root\n",
        "1:16",
        &["the line has no command behind the user"],
    );
    refused_of_system(
        "30 2 * * *\n",
        "1:11",
        &["the line has no user and no command"],
    );
}

#[test]
fn settings() {
    refused(
        "MAILTO=\n",
        "1:1",
        &["MAILTO has no value", "write MAILTO=\"\""],
    );
    refused(
        "A='b\n",
        "1:3",
        &["the value of A begins with ' and does not end with it"],
    );
    refused(
        "PATH=\"/bin\" # mine\n",
        "1:13",
        &["something behind the value of PATH"],
    );
    refused(
        "\n CRON_TZ=Asia/Tokio\n",
        "2:10",
        &["CRON_TZ: there is no time zone `Asia/Tokio`", "Asia/Tokyo"],
    );
    refused(
        "SHELL=bash\n",
        "1:7",
        &[
            "SHELL cannot be run: it is not the whole path",
            "SHELL=/bin/sh",
        ],
    );
    refused(
        "SHELL=/bin/no-such\n",
        "1:7",
        &["SHELL cannot be run: there is no file"],
    );
}

#[test]
fn users_and_the_column_for_them() {
    refused_of_system(
        "0 0 * * * nobody-at-all true\n",
        "1:11",
        &["there is no user `nobody-at-all`", "--system"],
    );
    refused(
        "0 0 * * * nobody true\n",
        "1:11",
        &["`nobody` is a user and no program", "--system"],
    );
}

#[test]
fn the_ends_of_lines_and_of_the_file() {
    refused(
        "0 0 * * * true",
        "1:15",
        &["the last line has no end", "a line break"],
    );
    refused(
        "# a\r\n0 0 * * * true\r\n",
        "1:4",
        &["2 lines end in CR LF", "save the file with LF"],
    );
    refused("0 0 * * * true \0\n", "1:16", &["a NUL character"]);
    let long = format!("0 0 * * * cat%{}\n", "x".repeat(5_000));
    refused(
        &long,
        "1:11",
        &["the input behind the % is longer than 4096 bytes"],
    );
}

#[test]
fn bytes_that_are_no_text_may_stand_in_comments_only() {
    let bench = Workbench::new();
    let check = |bytes: &[u8]| {
        std::fs::write(bench.dir.join("x"), bytes).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
        command
            .args(["check", "--crontab", "x"])
            .current_dir(&bench.dir);
        Done::from(command.output().unwrap())
    };
    assert_eq!(check(b"# caf\xe9\n0 0 * * * true\n").code, Some(0));
    let done = check(b"# a\n0 0 * * * caf\xe9\n");
    assert!(
        done.err.contains("x:2:14") && done.err.contains("not valid UTF-8"),
        "{done:?}"
    );
}

#[test]
fn cron_reads_no_file_with_such_a_name() {
    let bench = Workbench::new();
    std::fs::create_dir(bench.dir.join("cron.d")).unwrap();
    std::fs::write(bench.dir.join("cron.d/shop.conf"), "0 0 * * * root true\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command
        .args(["check", "--crontab", "cron.d/shop.conf"])
        .current_dir(&bench.dir);
    let done = Done::from(command.output().unwrap());
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("call it shop-conf"), "{done:?}");
}

#[test]
fn root_runs_no_file_that_others_can_write() {
    use std::os::unix::fs::PermissionsExt;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let bench = Workbench::new();
    let path = bench.dir.join("crontab");
    std::fs::write(&path, "@reboot root true\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let done = bench.crontab("@reboot root true\n", &["run", "--system", "--crontab"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("chmod go-w"), "{done:?}");
}

#[test]
fn every_fault_is_shown_at_once_in_the_order_of_the_file() {
    let text = "\
MAILTO=
60 24 * 13 * x
CRON_TZ=Mars
@daily ok
@dayly x
1 2 3";
    let bench = Workbench::new();
    let done = bench.crontab(text, &["check", "--crontab"]);
    let places: Vec<&str> = done
        .err
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--> crontab:"))
        .collect();
    assert_eq!(
        places,
        ["1:1", "2:1", "2:4", "2:9", "3:9", "5:1", "6:6", "6:6"],
        "{}",
        done.err
    );
    assert!(done.err.ends_with("crontab: 8 errors; nothing was run\n"));
}

#[test]
fn the_options_of_a_crontab_need_one() {
    for option in [&["--system"][..], &["--tz", "UTC"]] {
        let done = Workbench::new().crontab("", &[&["run"], option].concat());
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.err.contains("--crontab"), "{done:?}");
    }
    let done = Workbench::new().crontab("", &["run", "--crontab", "--tz", "Mars"]);
    assert!(
        done.err.contains("there is no time zone `Mars`"),
        "{done:?}"
    );
}
