//! How often clocks have jumped.
//!
//! The driver counts, and anybody reads, without a lock. Relaxed throughout: these are counts for
//! people, and publish nothing. [O64]

use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

use super::add_one;
use crate::clock::{ClockJump, ClockJumpKind};

/// Jumps of the clocks that a driver has noticed, of half a second and more.
///
/// Noticed when the driver is up: in each pass while something follows the wall clock, and at most
/// every 100 ms else. A driver that sleeps meanwhile notices when it gets up. What was set and set
/// back in between is not seen, and neither is a slew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ClockJumps {
    /// The wall clock was set forward.
    pub forward: u64,
    /// The wall clock was set back.
    pub back: u64,
    /// The machine was suspended.
    pub suspended: u64,
    /// The monotonic clock went back, by any amount. Stays 0 on a sound machine.
    pub monotonic_back: u64,
    /// The latest of all, to the microsecond.
    pub last: Option<ClockJump>,
}

impl ClockJumps {
    /// How many of one kind.
    pub fn of(&self, kind: ClockJumpKind) -> u64 {
        match kind {
            ClockJumpKind::Forward => self.forward,
            ClockJumpKind::Back => self.back,
            ClockJumpKind::Suspended => self.suspended,
            ClockJumpKind::MonotonicBack => self.monotonic_back,
        }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        let counts = ClockJumpKind::ALL.map(|kind| self.of(kind));
        counts.into_iter().sum()
    }
}

/// Counts jumps. One thread writes, any reads.
pub(crate) struct JumpRecorder {
    counts: [AtomicU64; ClockJumpKind::ALL.len()],
    /// The microseconds of the latest times four, and its kind in the two bits below; all ones if
    /// there was none.
    last: AtomicU64,
}

const NONE: u64 = u64::MAX;
const MICROS_MAX: u64 = (u64::MAX >> 2) - 1;

impl JumpRecorder {
    pub(crate) fn new() -> JumpRecorder {
        JumpRecorder {
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            last: AtomicU64::new(NONE),
        }
    }

    /// Adds one; called by one thread only.
    pub(crate) fn record(&self, jump: ClockJump) {
        let kind = jump.kind as u64;
        add_one(&self.counts[kind as usize]);
        let micros = u64::try_from(jump.by.as_micros()).unwrap_or(u64::MAX);
        let last = micros.min(MICROS_MAX) << 2 | kind;
        self.last.store(last, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> ClockJumps {
        let count = |kind: ClockJumpKind| self.counts[kind as usize].load(Ordering::Relaxed);
        let last = self.last.load(Ordering::Relaxed);
        ClockJumps {
            forward: count(ClockJumpKind::Forward),
            back: count(ClockJumpKind::Back),
            suspended: count(ClockJumpKind::Suspended),
            monotonic_back: count(ClockJumpKind::MonotonicBack),
            last: (last != NONE).then(|| ClockJump {
                kind: ClockJumpKind::ALL[(last & 3) as usize],
                by: Duration::from_micros(last >> 2),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_and_the_latest_is_kept_to_the_microsecond() {
        let recorder = JumpRecorder::new();
        assert_eq!(recorder.snapshot(), ClockJumps::default());
        for (nth, kind) in ClockJumpKind::ALL.into_iter().enumerate() {
            let by = Duration::from_nanos(1_234_567_890_123 + nth as u64);
            for _ in 0..=nth {
                recorder.record(ClockJump { kind, by });
            }
            let seen = recorder.snapshot();
            assert_eq!(seen.of(kind), 1 + nth as u64);
            let by = Duration::from_micros(1_234_567_890);
            assert_eq!(seen.last, Some(ClockJump { kind, by }));
        }
        assert_eq!(recorder.snapshot().total(), 1 + 2 + 3 + 4);
    }

    #[test]
    fn the_longest_jump_does_not_pass_for_another_kind_or_for_none() {
        let recorder = JumpRecorder::new();
        let kind = ClockJumpKind::MonotonicBack;
        recorder.record(ClockJump {
            kind,
            by: Duration::MAX,
        });
        let last = recorder.snapshot().last.unwrap();
        assert_eq!((last.kind, last.by.as_micros()), (kind, MICROS_MAX.into()));
    }
}
