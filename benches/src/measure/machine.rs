//! What the figures were taken on.

use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Stopwatch;

/// The machine and the build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's own name, and family and model.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// What the processor says of its caches.
    pub cache: String,
    /// Megabytes in all.
    pub memory_mb: u64,
    /// The kernel.
    pub kernel: String,
    /// What a compare-and-swap takes that nobody else is at: other machines' figures are set in
    /// proportion to it.
    pub cas_ns: f64,
    /// Under which hypervisor, if that can be seen.
    pub virtual_machine: bool,
    /// The compiler.
    pub rustc: String,
    /// How it was built.
    pub build: String,
    /// Seconds since 1970, UTC.
    pub unix_time: u64,
}

impl Machine {
    /// This one.
    pub fn this() -> Machine {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| field_of(&cpuinfo, name);
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let memory_kib = meminfo
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next())
            .and_then(|kib| kib.parse::<u64>().ok());
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Machine {
            cpu: format!(
                "{}, family {} model {}",
                field("model name"),
                field("cpu family"),
                field("model")
            ),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cache: field("cache size"),
            memory_mb: memory_kib.unwrap_or(0) / 1024,
            kernel: format!("{} {}", std::env::consts::OS, kernel.trim()),
            cas_ns: lone_cas_ns(),
            virtual_machine: field("flags").split(' ').any(|flag| flag == "hypervisor"),
            rustc: compiler(),
            build: format!(
                "{}, opt-level {}, {}",
                std::env::consts::ARCH,
                if cfg!(debug_assertions) { "debug" } else { "3" },
                if cfg!(feature = "rivals") {
                    "all rivals"
                } else {
                    "own rivals only"
                }
            ),
            unix_time: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
        }
    }

    /// In a line.
    pub fn line(&self) -> String {
        format!(
            "{}, {} cores{}, cache {}, {} MB, {}, {}, {}",
            self.cpu,
            self.cores,
            if self.virtual_machine {
                " of a virtual machine"
            } else {
                ""
            },
            self.cache,
            self.memory_mb,
            self.kernel,
            self.rustc,
            self.build
        )
    }
}

/// The least of several goes, as nothing makes it faster than it is.
fn lone_cas_ns() -> f64 {
    const STEPS: u64 = 200_000;
    let word = AtomicU64::new(0);
    let once = || {
        let watch = Stopwatch::start();
        for step in 0..STEPS {
            let swapped = word.compare_exchange(step, step + 1, AcqRel, Relaxed);
            black_box(swapped.is_ok());
        }
        word.store(0, Relaxed);
        watch.read().own.as_nanos() as f64 / STEPS as f64
    };
    (0..9).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn field_of(cpuinfo: &str, name: &str) -> String {
    let value = cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    });
    value.unwrap_or_else(|| "unknown".to_owned())
}

fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let printed = Command::new(rustc).arg("--version").output().ok();
    let line = printed.and_then(|output| String::from_utf8(output.stdout).ok());
    line.map_or_else(|| "rustc unknown".to_owned(), |line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let info = "model name\t: EPYC\nmodel\t\t: 17\n";
        assert_eq!(field_of(info, "model name"), "EPYC");
        assert_eq!(field_of(info, "model"), "17");
        assert_eq!(field_of(info, "flags"), "unknown");
    }
}
