//! What comes before what: every form of `depends_on`, good or bad.

mod workbench;

use workbench::{Workbench, accepted, refused};

/// Tasks with these ids, each with a line, three lines apart.
fn tasks(tasks: &[(&str, &str)]) -> String {
    let task =
        |(id, line): &(&str, &str)| format!("[[task]]\nid = \"{id}\"\n{line}\nrun = [\"true\"]\n");
    tasks.iter().map(task).collect()
}

const NOW: &str = "after = \"0s\"";

#[test]
fn what_is_right_is_accepted() {
    for line in [
        "depends_on = \"b\"",
        "depends_on = [\"b\", \"c\"]",
        "depends_on = { b = \"succeeded\", c = \"finished\", \"d e\" = \"failed\" }",
        "depends_on = \"b\"\nafter = \"3s\"\ncount = 1",
        "depends_on = \"b\"\njitter = \"1s\"\nmisfire = \"skip\"\ntimeout = \"1s\"\ndeadline = \"1s\"",
        "depends_on = \"b\"\nat = \"2126-12-01T02:00:00Z\"",
    ] {
        // Also on what stands behind it, and on what recurs.
        accepted(&tasks(&[
            ("a", line),
            ("b", NOW),
            ("c", "every = \"1s\""),
            ("d e", "cron = \"@daily\""),
        ]));
    }
}

#[test]
fn a_bad_value_says_what_is_wrong() {
    for (value, place, what) in [
        (
            "3",
            "3:14",
            "must be an id, some ids, or a table of them, not an integer",
        ),
        ("[]", "3:14", "`depends_on` is empty"),
        ("{}", "3:14", "`depends_on` is empty"),
        (
            "[\"b\", 3]",
            "3:20",
            "must hold ids of tasks, not an integer",
        ),
        ("[\"b\", \"b\"]", "3:20", "names \"b\" twice"),
        (
            "{ b = \"succeded\" }",
            "3:20",
            "did you mean \"succeeded\"?",
        ),
        (
            "{ b = true }",
            "3:20",
            "`b` must be a string, not a boolean",
        ),
        ("\"bb\"", "3:14", "did you mean \"b\"?"),
        (
            "[\"b\", \"zzzzz\"]",
            "3:20",
            "there is no task \"zzzzz\" in the file",
        ),
        (
            "{ zzzzz = \"failed\" }",
            "3:16",
            "there is no task \"zzzzz\" in the file",
        ),
        ("\"a\"", "3:14", "the task \"a\" waits for itself"),
    ] {
        let line = format!("depends_on = {value}");
        refused(&tasks(&[("a", &line), ("b", NOW)]), place, &[what]);
    }
    refused(
        &tasks(&[("a", "needs = \"b\""), ("b", NOW)]),
        "3:1",
        &["unknown key `needs`", "did you mean `depends_on`?"],
    );
}

#[test]
fn a_task_that_recurs_cannot_wait_for_others() {
    for schedule in ["every = \"1s\"", "cron = \"@daily\""] {
        refused(
            &tasks(&[
                ("a", &format!("depends_on = \"b\"\n{schedule}")),
                ("b", NOW),
            ]),
            "3:14",
            &[
                "due again and again cannot wait for others",
                "`after` or `at`",
            ],
        );
    }
}

#[test]
fn each_circle_is_named() {
    let text = tasks(&[
        ("a", "depends_on = \"b\""),
        ("b", "depends_on = [\"c\", \"z\"]"),
        ("c", "depends_on = \"a\""),
        ("x", "depends_on = { y = \"failed\" }"),
        ("y", "depends_on = \"x\""),
        ("z", NOW),
    ]);
    refused(
        &text,
        "11:14",
        &["none of these is ever due", "c -> a -> b -> c"],
    );
    refused(&text, "19:14", &["y -> x -> y"]);
}

#[test]
fn a_circle_among_tasks_with_other_faults_is_found_all_the_same() {
    let text = tasks(&[
        ("a", "depends_on = \"b\"\ntimeout = \"0s\""),
        ("b", "depends_on = \"a\"\ncolour = 3"),
    ]);
    refused(&text, "4:11", &["`timeout` is zero"]);
    refused(&text, "8:14", &["b -> a -> b"]);
}

#[test]
fn a_long_chain_is_accepted_and_a_long_circle_is_shown_by_its_ends() {
    const LENGTH: usize = 2_000;
    let chain = |last: &str| {
        let line = |n: usize| match n {
            0 => last.to_owned(),
            n => format!("depends_on = \"t{}\"", n - 1),
        };
        let lines: Vec<(String, String)> =
            (0..LENGTH).map(|n| (format!("t{n}"), line(n))).collect();
        let lines: Vec<(&str, &str)> = lines.iter().map(|(id, l)| (&**id, &**l)).collect();
        tasks(&lines)
    };
    accepted(&chain(NOW));
    let done = Workbench::new().check(&chain(&format!("depends_on = \"t{}\"", LENGTH - 1)));
    assert_eq!(done.code, Some(2));
    assert!(done.err.contains("-> (1992 more) ->"), "{}", done.err);
    let longest = done.err.lines().map(str::len).max();
    assert!(longest < Some(300), "{longest:?}");
}
