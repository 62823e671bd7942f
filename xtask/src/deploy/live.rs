//! The product with a Prometheus that scrapes it, for as long as it takes.
//!
//! Rules count in minutes. Here a minute lasts a second, so that nobody waits for ten of them: every
//! `5m` of a rule is `5s`, and the configuration scrapes once a second.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::query::{ask, series};
use crate::debian::said;
use crate::step::{cargo, execute, root, seconds};

/// Two programs that wait for each other where there is one worker, a quick one, one that fails, and one
/// by the calendar.
const TASKS: &str = r#"
[[task]]
id = "slow"
every = "500ms"
overlap = { queue_all = 100 }
run = ["sleep", "0.4"]

[[task]]
id = "also-slow"
every = "500ms"
overlap = { queue_all = 100 }
run = ["sleep", "0.4"]

[[task]]
id = "quick"
every = "100ms"
run = ["true"]

[[task]]
id = "failing"
every = "1s"
retry = { attempts = 2, delay = "100ms" }
run = ["false"]

[[task]]
id = "nightly"
cron = "30 2 * * *"
run = ["true"]
"#;

/// What has to fire when there are too few workers.
const ALERT: &str = "WheelStartDelayHigh";
const PATIENCE: Duration = Duration::from_secs(120);

/// A program that ends with the check.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Result<Running, String> {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let name = PathBuf::from(command.get_program());
        command
            .spawn()
            .map(Running)
            .map_err(|error| said(&name, error))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn check(prometheus: &Path) -> Result<(), String> {
    execute(&mut cargo(&["build", "--locked", "-p", "wheel"]))?;
    let folder = root().join("target/deploy");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| said(&folder, error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| said(&folder, error))?;
    let [wheel_port, port] = [free_port()?, free_port()?];
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| said(&path, error))
    };
    write("tasks.toml", TASKS.to_owned())?;
    let shipped = |name: &str| {
        let path = root().join("deploy").join(name);
        fs::read_to_string(&path).map_err(|error| said(&path, error))
    };
    let config = shipped("prometheus/prometheus.yml")?;
    let config = config
        .replace("9753", &wheel_port.to_string())
        .replace("15s", "1s");
    write("prometheus.yml", config)?;
    write(
        "alerts.yaml",
        in_seconds(&shipped("prometheus/alerts.yaml")?),
    )?;
    let queries = queries(&shipped("grafana/wheel.json")?)?;

    let mut wheel = Command::new(root().join("target/debug/wheel"));
    wheel
        .current_dir(&folder)
        .args(["run", "tasks.toml", "--workers", "1", "--quiet"]);
    let address = format!("127.0.0.1:{wheel_port}");
    let _wheel = Running::start(wheel.args(["--metrics-addr", &address]))?;
    let mut scraper = Command::new(prometheus);
    scraper
        .current_dir(&folder)
        .args(["--config.file=prometheus.yml", "--log.level=error"]);
    scraper.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let _scraper = Running::start(scraper.arg("--storage.tsdb.path=data"))?;

    let begun = Instant::now();
    wait_for(|| has_fired(port), || format!("{ALERT} does not fire"))?;
    println!("{ALERT} fires after {}", seconds(begun.elapsed()));
    for query in &queries {
        let has_data = || series(port, query).map(|count| count > 0);
        wait_for(has_data, || format!("no data: {query}"))?;
    }
    println!("{} queries of the dashboard have data", queries.len());
    Ok(())
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok(address.port())
}

/// Asks until the answer is yes. While it is an error, that may be because the programs just start.
fn wait_for(
    ask: impl Fn() -> Result<bool, String>,
    missing: impl Fn() -> String,
) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        let answer = ask();
        if answer == Ok(true) {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            let why = answer.err().unwrap_or_default();
            return Err(format!("{} {why}", missing()));
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn has_fired(port: u16) -> Result<bool, String> {
    let data = ask(port, "/api/v1/alerts")?;
    let alerts = data["alerts"].as_array().cloned().unwrap_or_default();
    let fires = |alert: &Value| alert["labels"]["alertname"] == ALERT && alert["state"] == "firing";
    Ok(alerts.iter().any(fires))
}

/// `for: 5m` and `[1h]` with seconds for minutes.
fn in_seconds(rules: &str) -> String {
    let mut scaled = String::with_capacity(rules.len());
    for line in rules.lines() {
        let line = line.replace("[1h]", "[60m]");
        let is_time = line.trim_start().starts_with("for: ");
        let line = match is_time {
            true => line.replace('m', "s"),
            false => line.replace("m])", "s])"),
        };
        scaled.push_str(&line);
        scaled.push('\n');
    }
    scaled
}

/// What the panels ask, for every instance.
fn queries(dashboard: &str) -> Result<Vec<String>, String> {
    let dashboard: Value = serde_json::from_str(dashboard).map_err(|error| error.to_string())?;
    let panels = dashboard["panels"].as_array().ok_or("no panels")?;
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let asked = targets
        .flatten()
        .filter_map(|target| target["expr"].as_str());
    let plain = |query: &str| {
        let query = query.replace("$instance", ".*");
        query.replace("$__rate_interval", "15s")
    };
    let queries: Vec<String> = asked.map(plain).collect();
    match queries.iter().find(|query| query.contains('$')) {
        Some(query) => Err(format!("an unknown variable: {query}")),
        None if queries.is_empty() => Err("the dashboard asks nothing".to_owned()),
        None => Ok(queries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_of_a_rule_is_a_second() {
        let rules = "expr: sum(rate(m_total[5m])) / increase(x[1h]) > 0\nfor: 10m\n";
        let scaled = "expr: sum(rate(m_total[5s])) / increase(x[60s]) > 0\nfor: 10s\n";
        assert_eq!(in_seconds(rules), scaled);
    }

    #[test]
    fn the_dashboard_that_ships_asks_for_metrics_of_this_project_only() {
        let dashboard = include_str!("../../../deploy/grafana/wheel.json");
        let queries = queries(dashboard).unwrap();
        assert!(queries.len() >= 20, "{queries:?}");
        assert!(
            queries.iter().all(|query| query.contains("wheel_")),
            "{queries:?}"
        );
    }
}
