//! What Prometheus reads is what `stats` says.

use std::time::Duration;

use wheel_runtime::{
    Context, Exposition, InlineExecutor, ManualClock, PoolSpec, Retry, Scheduler, SystemClock,
    Timers,
};

use crate::page::Page;

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn a_page_has_the_numbers_of_stats() {
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone());
    let scheduler = builder.executor(InlineExecutor).build().unwrap();
    let task = |id: &str, name: &str| scheduler.task(id).name(name).after(10 * MS);
    task("order-1", "orders").run(|_| ()).unwrap();
    task("order-2", "orders").run(|_| Err("no paper")).unwrap();
    let retry = Retry::fixed(MS).max_attempts(3);
    let dead = task("a", "mail \"quoted\"\\").retry(retry);
    dead.run(|_| Err("no server")).unwrap();
    scheduler.every(Duration::from_secs(60), |_| ()).unwrap();
    clock.run_for(20 * MS);
    let text = Exposition::of(&scheduler).text();
    let page = Page::read(&text);
    let is = |series: &str, value: f64| assert_eq!(page.get(series), value, "{series}");
    is("wheel_tasks{state=\"scheduled\"}", 1.0);
    is("wheel_timers_pending", 1.0);
    is("wheel_up", 1.0);
    is(
        "wheel_runs_total{task=\"orders\",outcome=\"succeeded\"}",
        1.0,
    );
    is("wheel_runs_total{task=\"orders\",outcome=\"failed\"}", 1.0);
    is(
        "wheel_runs_total{task=\"_unnamed\",outcome=\"succeeded\"}",
        0.0,
    );
    let mail = "task=\"mail \\\"quoted\\\"\\\\\"";
    is(&format!("wheel_runs_total{{{mail},outcome=\"dead\"}}"), 1.0);
    is(&format!("wheel_run_retries_total{{{mail}}}"), 2.0);
    is(&format!("wheel_dead_letters_total{{{mail}}}"), 1.0);
    is("wheel_dead_letters", 1.0);
    is(
        &format!("wheel_run_duration_seconds_bucket{{{mail},le=\"0.0001\"}}"),
        3.0,
    );
    is(
        "wheel_run_start_delay_seconds_count{queue=\"_default\"}",
        5.0,
    );
    is("wheel_oldest_due_seconds{queue=\"_default\"}", 0.0);
    // Ticks 10, 11 and 12.
    is("wheel_tick_lag_seconds_count", 3.0);
    let at = "wheel_task_last_success_timestamp_seconds{task=\"orders\"}";
    let now = clock.wall().duration_since(std::time::UNIX_EPOCH).unwrap();
    let ago = now.as_secs_f64() - page.get(at);
    assert!((ago - 0.01).abs() < 1e-6, "{ago}");
    assert!(!text.contains("order-1"), "an id is shown");
}

#[test]
fn both_doors_show_jumps_of_the_clocks_by_kind() {
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone());
    let scheduler = builder.executor(InlineExecutor).build().unwrap();
    let timers = Timers::builder().clock(clock.clone()).build().unwrap();
    for (on, back) in [(3, 0), (0, 1), (0, 1)] {
        clock.set_wall(clock.wall() + HOUR * on - HOUR * back);
    }
    let exposition = Exposition::new().scheduler("s", &scheduler);
    let page = Page::read(&exposition.timers("t", &timers).text());
    for (kind, count) in [
        ("forward", 1.0),
        ("back", 2.0),
        ("suspended", 0.0),
        ("monotonic_back", 0.0),
    ] {
        for source in ["scheduler=\"s\"", "timers=\"t\""] {
            let series = format!("wheel_clock_jumps_total{{kind=\"{kind}\",{source}}}");
            assert_eq!(page.get(&series), count, "{series}");
        }
    }
}

/// The numbers move; what is shown is either all of it, or nothing where the system does not tell.
#[test]
fn how_well_the_system_keeps_its_clock_is_shown_once_however_many_sources_there_are() {
    let one = Scheduler::builder().workers(1).build().unwrap();
    let exposition = Exposition::new().scheduler("one", &one);
    let text = exposition.scheduler("other", &one).text();
    let told = usize::from(SystemClock::discipline().is_ok());
    for family in [
        "synchronized",
        "offset_seconds",
        "frequency_ratio",
        "error_seconds",
        "error_estimated_seconds",
    ] {
        let sample = format!("wheel_clock_{family} ");
        let lines = text.lines().filter(|line| line.starts_with(&sample));
        assert_eq!(lines.count(), told, "{sample}");
    }
}

#[test]
fn nothing_that_is_counted_goes_down_while_things_happen() {
    let scheduler = Scheduler::builder().workers(2).build().unwrap();
    for n in 0..20 {
        let task = scheduler.task(format!("task {n}")).every(MS);
        let fails = move |run: &Context| match run.run() % 3 {
            0 => Err("no paper"),
            _ => Ok(()),
        };
        task.name(format!("name {}", n % 3)).run(fails).unwrap();
    }
    let exposition = Exposition::of(&scheduler);
    let mut before = Page::read(&exposition.text());
    while scheduler.stats().runs < 500 {
        let now = Page::read(&exposition.text());
        for (series, value) in &before.samples {
            let name = series.split('{').next().unwrap();
            let is_gauge = before
                .families
                .get(name)
                .is_some_and(|kind| kind == "gauge");
            assert!(is_gauge || now.get(series) >= *value, "{series} went down");
        }
        before = now;
    }
}

#[test]
fn several_sources_are_told_apart_and_one_that_is_gone_is_not_shown() {
    let one = Scheduler::builder().workers(1);
    let one = one.pool(PoolSpec::named("reports")).build().unwrap();
    let other = Scheduler::builder().workers(1).build().unwrap();
    let timers = Timers::builder().build().unwrap();
    timers.after(Duration::MAX, || ()).unwrap();
    let exposition = Exposition::new()
        .scheduler("one", &one)
        .scheduler("other", &one)
        .scheduler("other", &other)
        .timers("idle", &timers);
    let page = Page::read(&exposition.text());
    for series in [
        "wheel_workers{queue=\"reports\",state=\"idle\",scheduler=\"one\"}",
        "wheel_workers{queue=\"_default\",state=\"idle\",scheduler=\"other\"}",
        "wheel_up{scheduler=\"other\"}",
    ] {
        page.get(series);
    }
    assert_eq!(page.get("wheel_timers_pending{timers=\"idle\"}"), 1.0);
    assert!(exposition.is_healthy());
    drop(other);
    timers.shutdown();
    let page = Page::read(&exposition.text());
    assert_eq!(page.get("wheel_up{scheduler=\"other\"}"), 0.0);
    assert_eq!(page.get("wheel_up{timers=\"idle\"}"), 0.0);
    assert_eq!(page.get("wheel_up{scheduler=\"one\"}"), 1.0);
    assert!(!exposition.is_healthy());
}

#[test]
fn an_exposition_keeps_no_scheduler_alive() {
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    let mut events = scheduler.events();
    let exposition = Exposition::of(&scheduler);
    drop(scheduler);
    assert!(events.by_ref().count() > 0, "and the events end");
    assert!(!exposition.text().contains("wheel_tasks"));
}
