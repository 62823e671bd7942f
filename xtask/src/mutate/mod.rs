//! `cargo xtask mutate`: whether anything notices when the product is made wrong.
//!
//! ```text
//! orderings.rs  one memory ordering weakened at a time, found by sites.rs, tried under loom
//! faults/       faults of logic, one file per crate: what is changed, and what must notice it
//! planted.rs    applies a fault to a copy of the project, builds, runs
//! rows.rs       reasons in docs/ORDERINGS.md why nothing notices a weakening
//! report.rs     the table and the verdict
//! ```
//!
//! A mutant that nothing notices fails the command, unless its row in docs/ORDERINGS.md says why.

mod faults;
mod orderings;
mod planted;
mod report;
mod rows;
mod sites;
mod weakenings;

use std::time::Instant;

use crate::step::seconds;
use report::Form;

const TABLE: &str = "docs/ORDERINGS.md";

/// Which mutants are wanted.
struct Scope {
    quick: bool,
    only: Option<String>,
    orderings: bool,
    faults: bool,
    form: Form,
}

impl Scope {
    fn wants(&self, description: &str) -> bool {
        let Some(only) = &self.only else { return true };
        // An id is a whole word: O1 is not O12.
        description.split(' ').any(|word| word == only)
            || (!is_id(only) && description.contains(only.as_str()))
    }
}

fn is_id(text: &str) -> bool {
    text.strip_prefix('O')
        .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let scope = parse(args)?;
    let started = Instant::now();
    let orderings = match scope.orderings {
        true => orderings::run(&scope)?,
        false => Vec::new(),
    };
    let faults = match scope.faults {
        true => planted::run(&scope)?,
        false => Vec::new(),
    };
    report::print_table("ordering", &orderings, scope.form);
    report::print_table("fault", &faults, scope.form);
    println!("\n  in {}:", seconds(started.elapsed()));
    if orderings.is_empty() && faults.is_empty() {
        return Err("no mutant was tried".to_owned());
    }
    let judged = [
        report::judge("weakened orderings", &orderings),
        report::judge("faults of logic", &faults),
    ];
    let wrong: Vec<String> = judged.into_iter().filter_map(Result::err).collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("some mutants live:\n  {}", wrong.join("\n  "))),
    }
}

fn parse(args: &[String]) -> Result<Scope, String> {
    let mut scope = Scope {
        quick: false,
        only: None,
        orderings: true,
        faults: true,
        form: Form::Plain,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => scope.quick = true,
            "--only" => {
                scope.only = Some(args.next().ok_or("`--only` needs an id or a text")?.clone())
            }
            "--orderings" => scope.faults = false,
            "--faults" => scope.orderings = false,
            "--markdown" => scope.form = Form::Markdown,
            other => return Err(format!("`cargo xtask mutate` takes no `{other}`")),
        }
    }
    match scope.orderings || scope.faults {
        true => Ok(scope),
        false => Err("`--orderings` and `--faults` each leave the other out".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(args: &[&str]) -> Result<Scope, String> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        parse(&args)
    }

    #[test]
    fn an_id_is_a_whole_word_and_a_text_is_not() {
        let only = |text| scope(&["--only", text]).unwrap();
        assert!(only("O1").wants("O1 wheel-core/state.rs:128 look: Acquire to Relaxed"));
        assert!(!only("O1").wants("O12 wheel-core/segments.rs:71 get: Acquire to Relaxed"));
        assert!(only("segments").wants("O12 wheel-core/segments.rs:71 get: Acquire to Relaxed"));
    }

    #[test]
    fn unknown_arguments_are_refused() {
        assert!(scope(&["--fast"]).is_err());
        assert!(scope(&["--orderings", "--faults"]).is_err());
        assert!(scope(&["--quick", "--faults"]).is_ok_and(|scope| scope.quick && !scope.orderings));
    }
}
