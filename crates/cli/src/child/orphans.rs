//! What programs leave behind when they fork and end: on Linux `wheel` adopts it, so that nothing
//! of it stays as a zombie.
//!
//! An orphan goes to the nearest ancestor that has declared itself a *child subreaper*, or to
//! process 1, which in many containers does not reap. As a subreaper, `wheel` reaps the dead of its
//! groups itself and can tell a group that is gone from one whose dead nobody looks after. Orphans
//! that have left their group live on; when they die, they are reaped after the next run.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, WaitOptions, waitpid};

use super::groups::Children;

/// Strays are rare, and looking for them reads a file per thread.
const SWEEP_PAUSE: Duration = Duration::from_secs(1);

/// Makes orphans of this process's programs its children. Where the system cannot do that, process
/// 1 gets them.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Reaps dead orphans that have left their group. Does nothing more often than once a second.
pub(super) fn reap_strays(children: &Children) {
    children.sweep(SWEEP_PAUSE, |is_registered| {
        for pid in own_children()
            .into_iter()
            .filter(|pid| !is_registered(*pid))
        {
            // Alive, or not ours any more: both are fine.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    });
}

/// All children of all threads of this process; empty where the system does not tell.
fn own_children() -> Vec<Pid> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let lists = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let mut pids = Vec::new();
    for list in lists {
        pids.extend(
            list.split_whitespace()
                .filter_map(|pid| Pid::from_raw(pid.parse().ok()?)),
        );
    }
    pids
}
