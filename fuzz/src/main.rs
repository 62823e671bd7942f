//! The seeded random driver: runs the targets where there is no libFuzzer, and replays inputs.
//!
//! ```text
//! wheel-fuzz names                         the targets, one a line
//! wheel-fuzz drive NAME SECONDS SEED       random inputs for so long
//! wheel-fuzz replay NAME FILE              one input
//! ```
//!
//! `cargo xtask fuzz` calls it and reads the last line.

mod drive;

use std::process::ExitCode;
use std::time::Duration;

use wheel_fuzz::{TARGETS, Target};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["names"] => {
            TARGETS
                .iter()
                .for_each(|target| println!("{}", target.name));
            Ok(())
        }
        ["drive", name, seconds, seed] => named(name).and_then(|target| {
            let seconds: f64 = number(seconds)?;
            let span = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
            drive::drive(target, span, number(seed)?)
        }),
        ["replay", name, file] => named(name).and_then(|target| {
            let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
            println!("{name}: {} bytes of {file}", bytes.len());
            // Not caught, so that the panic shows as it is, with its place.
            (target.run)(&bytes);
            println!("{name}: it passes");
            Ok(())
        }),
        _ => Err("usage: wheel-fuzz names | drive NAME SECONDS SEED | replay NAME FILE".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn named(name: &str) -> Result<Target, String> {
    let target = TARGETS.iter().find(|target| target.name == name);
    target.copied().ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!(
            "there is no target `{name}`; the targets are {}",
            names.join(", ")
        )
    })
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is not a number that fits"))
}
