//! What this process holds and uses. Reads `/proc`; elsewhere than on Linux there is nothing to
//! read, and the figures are missing.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A field of `/proc/self/status`, as a number.
fn status(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Memory that is resident now.
pub fn resident_bytes() -> Option<u64> {
    Some(status("VmRSS:")? * 1024)
}

/// The most that was resident since [`forget_peak`].
pub fn peak_bytes() -> Option<u64> {
    Some(status("VmHWM:")? * 1024)
}

/// Starts the peak again from what is resident now; false where that is not possible.
pub fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// How many threads there are.
pub fn threads_now() -> Option<u64> {
    status("Threads:")
}

/// CPU time of all threads of this process until now.
#[cfg(target_os = "linux")]
pub fn cpu_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).ok()
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub fn cpu_time() -> Option<Duration> {
    None
}

/// What threads have counted that are gone.
static SWITCHES_OF_THE_GONE: AtomicU64 = AtomicU64::new(0);

/// For a thread that is about to end: how often it was put off a core against its will.
pub fn count_own_switches() {
    let own = switches_in("/proc/thread-self/status").unwrap_or(0);
    SWITCHES_OF_THE_GONE.fetch_add(own, Ordering::Relaxed);
}

/// How often a thread of this process was put off a core against its will: those that live, and
/// those that [have counted](count_own_switches).
pub fn switches() -> u64 {
    let tasks = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let living = tasks.filter_map(|task| {
        let status = task.path().join("status");
        switches_in(status.to_str()?)
    });
    living.sum::<u64>() + SWITCHES_OF_THE_GONE.load(Ordering::Relaxed)
}

fn switches_in(status: &str) -> Option<u64> {
    count_in(
        &fs::read_to_string(status).ok()?,
        "nonvoluntary_ctxt_switches:",
    )
}

fn count_in(status: &str, field: &str) -> Option<u64> {
    let mut lines = status.lines();
    let count = lines.find_map(|line| line.strip_prefix(field))?;
    count.trim().parse().ok()
}

/// How often the threads of this process other than the caller's went off a core, willingly or
/// not: a thread that sleeps on adds nothing, and each wake-up adds one.
pub fn switches_of_others() -> Option<u64> {
    let own = fs::read_link("/proc/thread-self").ok()?;
    let mut sum = 0;
    for task in fs::read_dir("/proc/self/task").ok()?.flatten() {
        if Some(task.file_name().as_os_str()) == own.file_name() {
            continue;
        }
        // A thread may end meanwhile.
        let Ok(status) = fs::read_to_string(task.path().join("status")) else {
            continue;
        };
        sum += count_in(&status, "voluntary_ctxt_switches:")?
            + count_in(&status, "nonvoluntary_ctxt_switches:")?;
    }
    Some(sum)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_was_touched_is_resident() {
        let before = resident_bytes().unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(resident_bytes().unwrap() >= before + (60 << 20));
        assert!(peak_bytes().unwrap() >= before + (60 << 20));
        drop(block);
    }

    #[test]
    fn a_wake_up_of_another_thread_is_counted_and_one_of_our_own_is_not() {
        let (wake, sleeping) = std::sync::mpsc::channel::<()>();
        let (woken, seen) = std::sync::mpsc::channel::<()>();
        let sleeper = std::thread::spawn(move || {
            for () in sleeping {
                woken.send(()).unwrap();
            }
        });
        let counts_a_hundred = || {
            let before = switches_of_others().unwrap();
            for _ in 0..100 {
                wake.send(()).unwrap();
                seen.recv().unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
            switches_of_others().unwrap() >= before + 90
        };
        // The threads of other tests may end in between, and their counts go with them.
        assert!((0..20).any(|_| counts_a_hundred()));
        drop(wake);
        sleeper.join().unwrap();
        assert_eq!(
            count_in("voluntary_ctxt_switches:\t7\n", "voluntary_ctxt_switches:"),
            Some(7)
        );
    }

    #[test]
    fn work_costs_cpu_time() {
        let before = cpu_time().unwrap();
        let mut sum = 0_u64;
        while cpu_time().unwrap() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(cpu_time().unwrap() > before);
    }
}
