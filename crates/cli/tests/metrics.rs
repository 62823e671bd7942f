//! `wheel run --metrics-addr`: what it serves, and where.

mod workbench;

use std::net::TcpListener;

use rustix::process::Signal;
use workbench::http::{free_port, get};
use workbench::{Started, Workbench, wait_until};

const TEXT: &str = r#"
    [[task]]
    id = "beat"
    every = "20ms"
    run = ["true"]

    [[task]]
    id = "nightly"
    cron = "30 2 * * *"
    run = ["true"]
"#;

#[test]
fn tasks_are_counted_by_their_ids_and_it_is_healthy() {
    let bench = Workbench::new();
    let port = free_port();
    let started = bench.start(TEXT, &["--metrics-addr", &port.to_string()]);
    let ran = "wheel_runs_total{task=\"beat\",outcome=\"succeeded\"} ";
    wait_until("a run is counted", || {
        let page = get(port, "/metrics");
        let count = page.lines().find_map(|line| line.strip_prefix(ran));
        count.is_some_and(|count| count != "0")
    });
    let page = get(port, "/metrics");
    assert!(page.contains("wheel_tasks{state=\"scheduled\"}"), "{page}");
    let health = get(port, "/health");
    assert!(
        health.starts_with("HTTP/1.1 200") && health.ends_with("ok\n"),
        "{health}"
    );
    assert!(get(port, "/secret").starts_with("HTTP/1.1 404"));
    started.signal(Signal::TERM);
    let done = started.end();
    assert_eq!(done.code, Some(143), "{done:?}");
    let told = format!("metrics at http://127.0.0.1:{port}/metrics");
    assert!(done.err.contains(&told), "{done:?}");
    assert_eq!(get(port, "/health"), "", "it still listens");
}

#[test]
fn an_address_in_use_is_named_and_nothing_is_run() {
    let bench = Workbench::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let text = "[[task]]\nid = \"a\"\nafter = \"0s\"\nrun = [\"touch\", \"ran\"]\n";
    let done = bench.run(text, &["--metrics-addr", &address]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.err.contains(&address), "{done:?}");
    assert!(!bench.dir.join("ran").exists());
}

#[test]
fn what_is_no_address_is_refused_with_one_that_is() {
    for wrong in ["localhost", "127.0.0.1", "70000", "127.0.0.1:http", ""] {
        let done = Workbench::new().run(TEXT, &["--metrics-addr", wrong]);
        assert_eq!(done.code, Some(2), "{wrong}: {done:?}");
        assert!(done.err.contains("127.0.0.1:9753"), "{wrong}: {done:?}");
    }
}

#[test]
fn an_address_beside_the_loopback_device_has_to_be_asked_for() {
    let bench = Workbench::new();
    let port = free_port();
    let mut command = bench.command(TEXT, &["--for", "100ms", "--metrics-addr"]);
    let done = Started::by(command.arg(format!("0.0.0.0:{port}"))).end();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.err.contains(&format!("http://0.0.0.0:{port}/metrics")),
        "{done:?}"
    );
}
