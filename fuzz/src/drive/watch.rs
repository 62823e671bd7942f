//! An input that does not come to an end is a failure too, and no `catch_unwind` ends it: another
//! thread keeps the input and ends the process.

use std::process;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Far longer than any input takes, on a machine that is busy with other things too.
const LONGEST: Duration = Duration::from_secs(30);

struct Running {
    since: Instant,
    nth: u64,
    input: Vec<u8>,
}

/// Knows the input that runs, if one does.
pub(crate) struct Watch {
    running: Arc<Mutex<Option<Running>>>,
}

impl Watch {
    pub(crate) fn start(name: &'static str, seed: u64) -> Watch {
        let running = Arc::new(Mutex::new(None::<Running>));
        let seen = Arc::clone(&running);
        thread::spawn(move || {
            loop {
                thread::sleep(LONGEST / 30);
                let running = seen.lock().expect("the driver does not panic");
                let Some(running) = running.as_ref() else {
                    continue;
                };
                if running.since.elapsed() < LONGEST {
                    continue;
                }
                let kept = super::keep(
                    name,
                    &format!("hangs-{seed}-{}", running.nth),
                    &running.input,
                );
                eprintln!(
                    "error: {name} does not come to an end with input {} of seed {seed}\n\
                     kept as {kept}; once more:\n  cargo xtask fuzz --replay {name} {kept}",
                    running.nth
                );
                process::exit(1);
            }
        });
        Watch { running }
    }

    pub(crate) fn begins(&self, nth: u64, input: &[u8]) {
        let running = Running {
            since: Instant::now(),
            nth,
            input: input.to_vec(),
        };
        *self.running.lock().expect("the watch does not panic") = Some(running);
    }

    pub(crate) fn ends(&self) {
        *self.running.lock().expect("the watch does not panic") = None;
    }
}
