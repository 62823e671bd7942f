//! Runs the comparison: `cargo xtask bench` builds and starts this.
//!
//! The same program is the process of a single cell when it is started with `--cell`.

mod arguments;

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use arguments::{Asked, Options};
use wheel_benches::measure::Machine;
use wheel_benches::plan::{Choice, Plan, plan};
use wheel_benches::report::{self, Findings, Row};
use wheel_benches::rounds::{answer, run_group};

fn main() -> ExitCode {
    match arguments::parse(std::env::args().skip(1)) {
        Ok(Asked::Help) => {
            print!("{}", arguments::HELP);
            ExitCode::SUCCESS
        }
        Ok(Asked::Cell(cell, effort)) => {
            answer(&cell, effort);
            // Whatever threads and memory there are end here.
            std::process::exit(0);
        }
        Ok(Asked::Run(options)) => match run(&options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(message) => {
                eprintln!("error: {message}");
                ExitCode::FAILURE
            }
        },
        Err(message) => {
            eprintln!("error: {message}\n\n{}", arguments::HELP);
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    // What cannot be read is found out now, not in a quarter of an hour.
    let earlier = options.against.as_deref().map(report::read).transpose()?;
    let scaling = options.scaling.as_deref().map(page_of).transpose()?;
    let plan = plan(&Choice {
        scope: options.scope,
        rivals: options.rivals,
        only: options.only.clone(),
    });
    if plan.groups.is_empty() {
        return Err("nothing to run: the pattern matches no WORKLOAD/ENGINE".to_owned());
    }
    let machine = Machine::this();
    println!("{}\n", machine.line());
    let started = Instant::now();
    let rows = run_all(&plan, options);
    let findings = Findings::new(options.scope.effort(), machine, rows, plan.left_out);
    print_end(&findings);
    if let Some(earlier) = &earlier {
        let now = report::document(&findings);
        let compared = report::compare(earlier, &now, options.only.as_deref());
        println!("\n{compared}");
    }
    println!("took {:.0} s", started.elapsed().as_secs_f64());
    if let Some(path) = &options.json {
        write(path, &report::document(&findings).text())?;
    }
    if let (Some(path), Some(page)) = (&options.scaling, &scaling) {
        write(path, &report::scaling(&findings, page))?;
        println!("the table of {} is new", path.display());
    }
    if let Some(folder) = &options.report {
        report::page(&findings, folder)
            .map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
        println!("the report is in {}", folder.display());
    }
    let failed: Vec<String> = findings
        .rows
        .iter()
        .filter(|row| row.is_ours() && row.failure.is_some())
        .map(|row| format!("{}/{}", row.cell.workload, row.cell.name()))
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("of ours these failed: {}", failed.join(", ")))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn page_of(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path)
        .map_err(|error| format!("`--scaling`: cannot read {}: {error}", path.display()))
}

fn run_all(plan: &Plan, options: &Options) -> Vec<Row> {
    let runs: usize = plan.groups.iter().map(|g| g.cells.len() * g.rounds).sum();
    let mut begun = 0;
    let mut rows = Vec::new();
    for group in &plan.groups {
        let taken = run_group(group, options.scope.effort(), |round, cell| {
            begun += 1;
            progress(&format!(
                "{begun}/{runs}  {} {}, round {}",
                cell.workload,
                cell.name(),
                round + 1
            ));
        });
        progress("");
        let group_rows = report::rows(&taken);
        println!("{}", report::group_table(&group_rows));
        rows.extend(group_rows);
    }
    rows
}

/// One line that is written over, on a terminal only.
fn progress(line: &str) {
    let mut screen = std::io::stderr();
    if screen.is_terminal() {
        // A screen that cannot be written to misses nothing but this.
        let _ = write!(screen, "\r\x1b[2K{line}");
        let _ = screen.flush();
    }
}

fn print_end(findings: &Findings) {
    if !findings.left_out.is_empty() {
        println!("Left out:");
        for left in &findings.left_out {
            println!(
                "  {:<10} {:<24} {}",
                left.workload, left.engine, left.reason
            );
        }
    }
    let losses = report::losses(&findings.rows);
    println!("\nWhere the wheel loses:");
    if losses.is_empty() {
        println!("  nowhere in this run");
    }
    for loss in losses {
        println!("  {loss}");
    }
    println!("\n{}", findings.noise.1);
}
