//! Random inputs for one target, until the time is over or one of them fails.
//!
//! First every input of the corpus, then changes of them. There is no feedback: that is what
//! libFuzzer is for. In return it runs on any toolchain, and the n-th input of a seed is the same
//! wherever it runs (as long as the corpus is), however long it takes.

mod mutate;
mod shrink;
mod watch;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use wheel_fuzz::Target;
use wheel_testkit::Random;

use watch::Watch;

/// How often it says how far it is.
const EVERY: Duration = Duration::from_secs(5);

/// Feeds `target` for `span`.
///
/// # Errors
///
/// What an input broke, where that input is kept, and how to replay it.
pub(crate) fn drive(target: Target, span: Duration, seed: u64) -> Result<(), String> {
    let corpus = corpus(target.name)?;
    let trial = Trial::new(target);
    let watch = Watch::start(target.name, seed);
    // Or all targets would get the same bytes.
    let name_as_number = target.name.bytes().fold(0, |number: u64, byte| {
        number.rotate_left(8).wrapping_add(u64::from(byte))
    });
    let mut random = Random::new(seed ^ name_as_number);
    println!(
        "{}: seed {seed}, {} inputs in the corpus",
        target.name,
        corpus.len()
    );

    let started = Instant::now();
    let mut said = started;
    let mut tried = 0;
    while tried < corpus.len() as u64 || started.elapsed() < span {
        let input = match corpus.get(tried as usize) {
            Some(input) => input.clone(),
            None => mutate::next(&mut random, &corpus),
        };
        watch.begins(tried, &input);
        if let Err(fault) = trial.of(&input) {
            watch.ends();
            return Err(report(&trial, seed, tried, &input, &fault));
        }
        tried += 1;
        if said.elapsed() >= EVERY {
            said = Instant::now();
            println!(
                "{}: {tried} inputs in {} s",
                target.name,
                started.elapsed().as_secs()
            );
        }
    }
    watch.ends();
    println!(
        "{}: done, {tried} inputs in {:.2} s, corpus {}",
        target.name,
        started.elapsed().as_secs_f64(),
        corpus.len()
    );
    Ok(())
}

fn folder_of_fuzz() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The committed inputs, in the order of their names.
fn corpus(name: &str) -> Result<Vec<Vec<u8>>, String> {
    let folder = folder_of_fuzz().join("corpus").join(name);
    let fault = |error| format!("the corpus of {name}: {error}");
    let files = fs::read_dir(folder).map_err(fault)?;
    let paths: Result<Vec<PathBuf>, _> = files.map(|file| file.map(|file| file.path())).collect();
    let mut paths = paths.map_err(fault)?;
    paths.sort();
    paths
        .iter()
        .map(|path| fs::read(path).map_err(fault))
        .collect()
}

/// A target whose panics are faults.
struct Trial {
    target: Target,
    panicked_at: Arc<Mutex<String>>,
}

impl Trial {
    /// From here on panics are not printed.
    fn new(target: Target) -> Trial {
        let panicked_at = Arc::new(Mutex::new(String::new()));
        let place = Arc::clone(&panicked_at);
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.to_string();
            *place.lock().expect("no one panics while writing down") = text;
        }));
        Trial {
            target,
            panicked_at,
        }
    }

    fn of(&self, input: &[u8]) -> Result<(), String> {
        let run = || (self.target.run)(input);
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| {
            let place = self.panicked_at.lock();
            place.expect("no one panics while writing down").clone()
        })
    }
}

/// Keeps the input as it was, then tries to make it smaller.
fn report(trial: &Trial, seed: u64, nth: u64, input: &[u8], fault: &str) -> String {
    let name = trial.target.name;
    let kept = keep(name, &format!("seed-{seed}-{nth}"), input);
    println!("{name}: FAILED at input {nth} of seed {seed}; making it smaller");
    let small = shrink::shrink(input, |input| trial.of(input).is_err());
    let fault = trial.of(&small).err().unwrap_or_else(|| fault.to_owned());
    let kept_small = keep(name, &format!("seed-{seed}-{nth}-small"), &small);
    format!(
        "{name} failed at input {nth} of seed {seed}:\n{fault}\n\
         kept as {kept} ({} bytes) and {kept_small} ({} bytes); once more:\n  \
         cargo xtask fuzz --replay {name} {kept_small}",
        input.len(),
        small.len()
    )
}

/// Writes an input to where cargo-fuzz would too. Its path from the root of the project.
fn keep(name: &str, file: &str, input: &[u8]) -> String {
    let folder = folder_of_fuzz().join("artifacts").join(name);
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(file), input));
    match written {
        Ok(()) => format!("fuzz/artifacts/{name}/{file}"),
        Err(error) => format!("nothing ({error}; the bytes are {input:?})"),
    }
}
