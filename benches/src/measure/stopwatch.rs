//! Time that one thread takes: its CPU time, and the wall's beside it.
//!
//! Work that one thread does is measured by that thread's CPU time. On a machine with nothing else
//! to do the two are the same; on any other the wall measures the neighbours too.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// Measures from its start.
pub struct Stopwatch {
    wall: Instant,
    own: Option<Duration>,
}

/// What a stopwatch has measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// CPU time of the thread, or the wall's where that is not to be had.
    pub own: Duration,
    /// By the clock on the wall.
    pub wall: Duration,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        let own = thread_time();
        Stopwatch {
            wall: Instant::now(),
            own,
        }
    }

    /// Until now, on the thread that started it.
    pub fn read(&self) -> Took {
        let wall = self.wall.elapsed();
        let own = self.own.and_then(|before| Some(thread_time()? - before));
        Took {
            own: own.unwrap_or(wall),
            wall,
        }
    }
}

impl AddAssign for Took {
    fn add_assign(&mut self, other: Took) {
        self.own += other.own;
        self.wall += other.wall;
    }
}

/// CPU time of this thread until now.
#[cfg(target_os = "linux")]
fn thread_time() -> Option<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).ok()
}

#[cfg(not(target_os = "linux"))]
fn thread_time() -> Option<Duration> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn sleeping_takes_time_on_the_wall_and_none_of_the_thread() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(50));
        let took = watch.read();
        assert!(took.wall >= Duration::from_millis(50), "{took:?}");
        assert!(took.own < Duration::from_millis(25), "{took:?}");
    }
}
