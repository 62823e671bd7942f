//! Which programs go first, how many at once, how often, and what comes before what.

mod workbench;

use std::time::{Duration, Instant};

use workbench::Workbench;

fn task(id: &str, lines: &str, script: &str) -> String {
    format!("[[task]]\nid = \"{id}\"\n{lines}\nrun = [\"sh\", \"-c\", '''{script}''']\n\n")
}

#[test]
fn of_what_waits_for_a_worker_a_higher_priority_goes_first() {
    let bench = Workbench::new();
    let words = ["low", "normal", "high"];
    let waiting = words.map(|word| {
        task(
            word,
            &format!("after = \"200ms\"\npriority = \"{word}\""),
            &format!("echo {word} >> log"),
        )
    });
    let text = task("busy", "after = \"0s\"", "sleep 0.6") + &waiting.concat();
    let done = bench.start(&text, &["--workers", "1"]).end();
    assert_eq!(bench.read("log"), "high\nnormal\nlow\n", "{done:?}");
}

#[test]
fn tasks_with_one_key_go_one_after_the_other_or_as_many_as_it_says() {
    let bench = Workbench::new();
    let alone = |n| {
        task(
            &format!("t{n}"),
            "after = \"0s\"\nconcurrency_key = \"db\"",
            "mkdir lock && sleep 0.05 && rmdir lock",
        )
    };
    let text: String = (0..4).map(alone).collect();
    let json = bench.start(&text, &["--json"]).end().json();
    assert_eq!(
        (&json["succeeded"], &json["failed"]),
        (&4.into(), &0.into()),
        "{json}"
    );

    // Two that wait for each other, and a third that would make them fail.
    let bench = Workbench::new();
    let script = "touch $$.here; test $(ls *.here | wc -l) -le 2 || exit 9; sleep 0.1; rm $$.here";
    let two = |n| {
        let number = if n == 3 { "\nconcurrency = 2" } else { "" };
        task(
            &format!("t{n}"),
            &format!("after = \"0s\"\nconcurrency_key = \"db\"{number}"),
            script,
        )
    };
    let text: String = (0..6).map(two).collect();
    let json = bench.start(&text, &["--json"]).end().json();
    assert_eq!(
        (&json["succeeded"], &json["failed"]),
        (&6.into(), &0.into()),
        "{json}"
    );
}

#[test]
fn the_number_of_a_key_is_said_once_for_all_of_its_tasks() {
    let bench = Workbench::new();
    // Each waits until the other one is there; the one that says nothing is due last.
    let script = "touch $$.here; while test $(ls *.here | wc -l) -lt 2; do sleep 0.01; done";
    let key = "concurrency_key = \"db\"\ntimeout = \"20s\"";
    let text = task(
        "says",
        &format!("after = \"0s\"\n{key}\nconcurrency = 2"),
        script,
    ) + &task("takes-over", &format!("after = \"200ms\"\n{key}"), script);
    let json = bench.start(&text, &["--json"]).end().json();
    assert_eq!(json["succeeded"], 2, "{json}");
}

#[test]
fn a_rate_is_held_and_its_burst_goes_at_once() {
    let bench = Workbench::new();
    let call = |n| {
        task(
            &format!("t{n}"),
            "after = \"0s\"\nrate_limit = { rate = \"1/200ms\", burst = 2, key = \"api\" }",
            "true",
        )
    };
    let text: String = (0..5).map(call).collect();
    let begun = Instant::now();
    let json = bench.start(&text, &["--json"]).end().json();
    assert_eq!(
        (&json["succeeded"], &json["early"]),
        (&5.into(), &0.into()),
        "{json}"
    );
    // Two at once, then one after each 200 ms: no sooner.
    assert!(
        begun.elapsed() >= Duration::from_millis(600),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_task_starts_when_those_that_it_depends_on_have_ended_so() {
    let bench = Workbench::new();
    // In the file behind what depends on it.
    let text = [
        task(
            "report",
            "depends_on = [\"import\", \"fetch\"]",
            "cat import fetch && echo report",
        ),
        task(
            "alarm",
            "depends_on = { import = \"failed\" }",
            "touch alarm",
        ),
        task(
            "clean",
            "depends_on = { report = \"finished\", alarm = \"finished\" }\nafter = \"50ms\"",
            "echo cleaned",
        ),
        task("import", "after = \"100ms\"", "sleep 0.1; echo i > import"),
        task("fetch", "after = \"0s\"", "sleep 0.05; echo f > fetch"),
    ]
    .concat();
    let done = bench.start(&text, &["--json"]).end();
    let json = done.json();
    assert_eq!(done.lines_of("report"), ["i", "f", "report"], "{done:?}");
    assert_eq!(done.lines_of("clean"), ["cleaned"]);
    assert!(!bench.dir.join("alarm").exists());
    let row = &json["per_task"][1];
    assert_eq!(
        row["last"],
        "skipped: what it depends on has ended otherwise"
    );
    assert_eq!(
        (&row["runs"], &row["skipped"], &json["pending"]),
        (&0.into(), &1.into(), &0.into())
    );
    assert_eq!(
        json["per_task"][0]["schedule"],
        "depends on import, fetch, at once"
    );
    assert_eq!(json["ended"], "idle");
}

#[test]
fn what_depends_on_a_failure_comes_after_the_last_attempt() {
    let bench = Workbench::new();
    let text = [
        task(
            "import",
            "after = \"0s\"\nretry = { attempts = 3, delay = \"1ms\" }",
            "echo >> tries; exit 1",
        ),
        task(
            "alarm",
            "depends_on = { import = \"failed\" }",
            "wc -l < tries",
        ),
        task("report", "depends_on = \"import\"", "touch report"),
        task("next", "depends_on = \"report\"", "touch next"),
    ]
    .concat();
    let done = bench.start(&text, &["--json"]).end();
    assert_eq!(done.lines_of("alarm"), ["3"], "{done:?}");
    let json = done.json();
    assert_eq!(
        (&json["runs"], &json["skipped"]),
        (&2.into(), &2.into()),
        "{json}"
    );
    assert!(!bench.dir.join("report").exists() && !bench.dir.join("next").exists());
}

#[test]
fn many_depend_on_one_that_may_have_ended_before_they_are_added() {
    let bench = Workbench::new();
    let many: String = (0..1_500)
        .map(|n| format!("[[task]]\nid = \"t{n}\"\ndepends_on = \"first\"\nrun = [\"true\"]\n"))
        .collect();
    let text = task("first", "after = \"0s\"", "true") + &many;
    let json = bench.start(&text, &["--json"]).end().json();
    assert_eq!(json["succeeded"], 1_501, "{}", json["runs"]);
}
