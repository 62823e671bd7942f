//! `wheel run --crontab`: entries run as cron would run them. They are due at the start, so that no
//! test waits for a minute; when others are due is tested by what is planned.

mod workbench;

use std::process::Command;

use workbench::{Done, Workbench};

/// Runs entries of a user to the end.
fn run(text: &str) -> (Workbench, Done) {
    let bench = Workbench::new();
    let done = bench.crontab(text, &["run", "--json", "--crontab"]);
    (bench, done)
}

fn own_name() -> String {
    let id = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_command_has_the_environment_of_cron_and_nothing_of_wheel() {
    let text = "\
FIRST=one
@reboot /usr/bin/env
# below, it is another one
FIRST = two words \x20
'QUOTED'=' a b '
EMPTY=\"\"
LITERAL=$HOME/bin:~
HOME=/tmp
@reboot exec /usr/bin/env
";
    let (_bench, done) = run(text);
    assert_eq!(done.code, Some(0), "{done:?}");
    let lines = |id: &str| {
        let lines = done.lines_of(id).into_iter().map(str::to_owned);
        // What the shell itself sets.
        let mut lines: Vec<String> = lines
            .filter(|line| {
                !["PWD=", "SHLVL=", "_=", "OLDPWD="]
                    .iter()
                    .any(|own| line.starts_with(own))
            })
            .collect();
        lines.sort();
        lines
    };
    let name = own_name();
    let own = [format!("LOGNAME={name}"), format!("USER={name}")];
    let first = lines("env");
    assert_eq!(first.len(), 6, "{first:?}");
    for line in [
        "FIRST=one",
        "SHELL=/bin/sh",
        "PATH=/usr/bin:/bin",
        &own[0],
        &own[1],
    ] {
        assert!(
            first.contains(&line.to_owned()),
            "{line} is not in {first:?}"
        );
    }
    assert!(first.iter().any(|line| line.starts_with("HOME=/")));
    let second = lines("env-2");
    let wanted = [
        "EMPTY=",
        "FIRST=two words",
        "HOME=/tmp",
        "LITERAL=$HOME/bin:~",
        &own[0],
        "PATH=/usr/bin:/bin",
        "QUOTED= a b ",
        "SHELL=/bin/sh",
        &own[1],
    ];
    assert_eq!(second, wanted);
}

#[test]
fn a_command_runs_in_the_home_of_the_crontab() {
    let bench = Workbench::new();
    let home = bench.dir.display();
    let text = format!("HOME={home}\n@reboot pwd > here\nHOME=/nowhere/at/all\n@reboot pwd\n");
    let done = bench.crontab(&text, &["run", "--crontab"]);
    assert_eq!(bench.read("here").trim(), home.to_string(), "{done:?}");
    assert_eq!(done.lines_of("pwd-2"), ["/"], "{done:?}");
}

#[test]
fn a_percent_sign_begins_the_input_and_then_a_line_of_it() {
    let text = "\
@reboot echo 100\\%; cat; echo end%one%two \\%%
@reboot cat
@reboot wc -c%
@reboot printf '\\\\%s' x\\y
";
    // The last one has two backslashes, of which cron leaves one, and then a percent sign.
    let (_bench, done) = run(text);
    assert_eq!(
        done.lines_of("echo"),
        ["100%", "one", "two %", "end"],
        "{done:?}"
    );
    assert_eq!(done.lines_of("cat"), [""; 0]);
    assert_eq!(done.lines_of("wc"), ["0"]);
    assert_eq!(done.json()["runs"], 4, "{done:?}");
}

#[test]
fn the_shell_of_the_crontab_is_given_the_command() {
    let text = "SHELL=/bin/echo\n@reboot one  two\n";
    let (_bench, done) = run(text);
    assert_eq!(done.lines_of("one"), ["-c one  two"], "{done:?}");
}

#[test]
fn entries_are_due_in_the_zone_that_stands_above_them() {
    let text = "\
0 4 * * * first
CRON_TZ=Asia/Tokyo
@weekly second
CRON_TZ=''
*/90 0-6/2 1,15 jan-mar FRI third
";
    let bench = Workbench::new();
    let args = [
        "run",
        "--tz",
        "Europe/Berlin",
        "--for",
        "1ms",
        "--json",
        "--crontab",
    ];
    let json = bench.crontab(text, &args).json();
    let due: Vec<&str> = (0..3)
        .map(|n| json["per_task"][n]["schedule"].as_str().unwrap())
        .collect();
    let wanted = [
        "cron 0 4 * * * in Europe/Berlin",
        "cron @weekly in Asia/Tokyo",
        "cron */60 0-6/2 1,15 1-3 5 in Europe/Berlin",
    ];
    assert_eq!(due, wanted);
}

#[test]
fn the_zone_is_that_of_the_machine_unless_another_is_given() {
    let bench = Workbench::new();
    std::fs::write(bench.dir.join("crontab"), "0 4 * * * true\n").unwrap();
    let run = |zone: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
        command.args(["run", "--for", "1ms", "--json", "--crontab", "crontab"]);
        Done::from(
            command
                .env("TZ", zone)
                .current_dir(&bench.dir)
                .output()
                .unwrap(),
        )
    };
    let json = run(":Asia/Tokyo").json();
    assert_eq!(
        json["per_task"][0]["schedule"],
        "cron 0 4 * * * in Asia/Tokyo"
    );
    let done = run("CET-1CEST");
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("give --tz"), "{done:?}");
}

#[test]
fn in_a_crontab_of_the_system_a_user_stands_before_the_command() {
    let bench = Workbench::new();
    let name = own_name();
    let text = format!("@reboot {name}\techo as  $LOGNAME\n");
    let done = bench.crontab(&text, &["run", "--system", "--crontab"]);
    assert_eq!(done.lines_of("echo"), [format!("as {name}")], "{done:?}");
    // In such a folder no option is needed.
    let folder = bench.dir.join("cron.d");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("shop"), text).unwrap();
    let done = bench.crontab("", &["check", "--crontab", "cron.d/shop", "--"]);
    assert_eq!(done.code, Some(2), "two files are none: {done:?}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wheel"));
    command
        .args(["run", "--crontab", "cron.d/shop"])
        .current_dir(&bench.dir);
    let done = Done::from(command.output().unwrap());
    assert_eq!(done.lines_of("echo"), [format!("as {name}")], "{done:?}");
}

#[test]
fn only_root_runs_the_commands_of_others() {
    let bench = Workbench::new();
    let text = "@reboot nobody id -un; id -Gn; echo $HOME\n";
    let done = bench.crontab(text, &["run", "--system", "--crontab"]);
    if rustix::process::geteuid().is_root() {
        let lines = done.lines_of("id");
        assert_eq!(lines.len(), 3, "{done:?}");
        assert_eq!(lines[0], "nobody");
        assert!(!lines[1].contains("root"), "{lines:?}");
    } else {
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(
            done.err
                .contains("only root can run a command as the user `nobody`"),
            "{done:?}"
        );
    }
    // To look at it, nobody has to be root.
    let done = bench.crontab(text, &["check", "--system", "--crontab"]);
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "crontab: 1 task, no errors\n")
    );
}

#[test]
fn a_crontab_without_entries_is_right_and_has_nothing_to_run() {
    let (_bench, done) = run("# nothing yet\nMAILTO=\"\"\n");
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        (&done.json()["tasks"], &done.json()["runs"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn a_command_has_no_terminal_and_a_session_of_its_own() {
    let (_bench, done) = run("@reboot echo $$ $(ps -o sid= -p $$) end\n");
    let lines = done.lines_of("echo");
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!((words[0], words[2]), (words[1], "end"), "{done:?}");
}

#[test]
fn what_a_crontab_sets_is_set_for_the_command_of_another_user_too() {
    if !rustix::process::geteuid().is_root() {
        // Nobody else can run one.
        return;
    }
    let bench = Workbench::new();
    let text = "GREETING=good morning\n@reboot nobody echo \"$GREETING\" \"$HOME\" \"$LOGNAME\"\n";
    let done = bench.crontab(text, &["run", "--system", "--crontab"]);
    let lines = done.lines_of("echo");
    assert!(lines[0].starts_with("good morning /"), "{done:?}");
    assert!(lines[0].ends_with(" nobody"), "{done:?}");
}
