//! The command line. Pure.

use std::path::PathBuf;

use wheel_benches::plan::{Rivals, Scope};
use wheel_benches::rounds::CELL;
use wheel_benches::workloads::Effort;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
usage: cargo xtask bench [OPTIONS]

  --quick            the least that shows the order of things, under a minute
  --only PATTERN     only cells with PATTERN in their WORKLOAD/ENGINE
  --rivals all|heap  everyone, or ours and the heap only (builds much faster)
  --json FILE        write all figures there
  --report DIR       write a page with plots there
  --against FILE     compare with what an earlier run has written with --json: what is better or
                     worse beyond noise, what only one of them has, whether the machines differ
  --scaling FILE     instead of a comparison, measure what docs/SCALING.md rests on, and renew the
                     table in it; a minute, no rivals

or alone, where valgrind is: `cargo xtask bench --counts`, which holds the instructions per
operation to the band of benches/counts.json; with --accept it writes them there
";

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Help,
    Cell(String, Effort),
    Run(Options),
}

/// How to run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) scope: Scope,
    pub(crate) rivals: Rivals,
    pub(crate) only: Option<String>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) against: Option<PathBuf>,
    pub(crate) scaling: Option<PathBuf>,
}

pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Asked, String> {
    let mut options = Options {
        scope: Scope::Full,
        rivals: Rivals::All,
        only: None,
        json: None,
        report: None,
        against: None,
        scaling: None,
    };
    let mut cell = None;
    let mut args = args;
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or(format!("`{flag}` wants a value"));
        match flag.as_str() {
            "--help" | "-h" => return Ok(Asked::Help),
            "--quick" => options.scope = Scope::Quick,
            "--only" => options.only = Some(value()?),
            "--rivals" => options.rivals = rivals(&value()?)?,
            "--json" => options.json = Some(value()?.into()),
            "--report" => options.report = Some(value()?.into()),
            "--against" => options.against = Some(value()?.into()),
            "--scaling" => options.scaling = Some(value()?.into()),
            CELL => cell = Some(value()?),
            other => return Err(format!("`{other}` is not known")),
        }
    }
    if options.scaling.is_some() {
        if options.scope == Scope::Quick || options.only.is_some() {
            return Err(
                "`--scaling` has cells of its own: no `--quick` or `--only` with it".to_owned(),
            );
        }
        options.scope = Scope::Scaling;
    }
    Ok(match cell {
        Some(cell) => Asked::Cell(cell, options.scope.effort()),
        None => Asked::Run(options),
    })
}

fn rivals(name: &str) -> Result<Rivals, String> {
    match name {
        "all" => Ok(Rivals::All),
        "heap" => Ok(Rivals::Heap),
        other => Err(format!("`--rivals` is `all` or `heap`, not `{other}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_taken_in_any_order() {
        let asked = parsed("--json a.json --rivals heap --only pair --quick --report d").unwrap();
        let Asked::Run(options) = asked else {
            unreachable!("{asked:?}")
        };
        assert_eq!(options.scope, Scope::Quick);
        assert_eq!(options.rivals, Rivals::Heap);
        assert_eq!(options.only.as_deref(), Some("pair"));
        assert_eq!(options.json, Some(PathBuf::from("a.json")));
        assert_eq!(options.report, Some(PathBuf::from("d")));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(parsed("--fast").is_err());
        assert!(parsed("--rivals tokio").is_err());
        assert!(parsed("--json").is_err());
        assert!(parsed("--against").is_err());
    }

    #[test]
    fn scaling_has_its_own_cells_and_is_not_cut_short() {
        let Ok(Asked::Run(options)) = parsed("--scaling s.md --against a.json") else {
            unreachable!()
        };
        assert_eq!(options.scope, Scope::Scaling);
        assert_eq!(options.scaling, Some(PathBuf::from("s.md")));
        assert_eq!(options.against, Some(PathBuf::from("a.json")));
        assert!(parsed("--quick --scaling s.md").is_err());
        assert!(parsed("--scaling s.md --only driver").is_err());
    }

    #[test]
    fn help_names_every_option() {
        for option in [
            "--quick",
            "--only",
            "--rivals",
            "--json",
            "--report",
            "--against",
            "--scaling",
        ] {
            assert!(HELP.contains(option), "{option}");
        }
    }
}
