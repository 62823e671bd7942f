//! Jumps of the system's clocks: what moved against what, and by how much.
//!
//! Three clocks say it all. The wall clock and the clock that counts suspended time run alike unless
//! somebody sets the wall clock; that one and the monotonic clock run alike unless the machine is
//! suspended. All three are slewed alike (NTP makes them run a little faster or slower), so a slew is no
//! jump. Which clock the engine lives by does not matter here.
//!
//! ```text
//!   wall - boot        changes when the wall clock is set          Forward, Back
//!   boot - monotonic   changes when the machine was suspended      Suspended
//! ```
//!
//! The driver looks, on its thread, and nobody else. A thread that is stopped between two readings
//! would see a jump where there is none; so the first clock is read again, and a look that took long
//! is not compared.

use std::time::Duration;

use super::{Clock, Moment};

/// What moves by less is no jump: a clock daemon may set the clock by some milliseconds again and
/// again.
const LEAST_NS: u128 = 500_000_000;
/// A look that took longer says nothing about the clocks.
const LOOK_NS_MAX: u64 = 50_000_000;
/// How often a driver looks that has no other reason to read the wall clock.
const EVERY: Duration = Duration::from_millis(100);

/// A jump of a clock, as the driver of an engine has noticed it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct ClockJump {
    /// Which clock, and in which direction.
    pub kind: ClockJumpKind,
    /// How far. Rounded down to a microsecond in statistics.
    pub by: Duration,
}

/// Which clock has jumped, and in which direction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ClockJumpKind {
    /// The wall clock was set forward.
    Forward,
    /// The wall clock was set back. A leap second is one of these, of a second.
    Back,
    /// The machine was suspended for so long. On Linux; elsewhere the monotonic clock may go on
    /// meanwhile, or the wall clock seems set forward.
    Suspended,
    /// The monotonic clock went back, which it should not.
    MonotonicBack,
}

impl ClockJumpKind {
    /// All of them.
    pub const ALL: [ClockJumpKind; 4] = [
        ClockJumpKind::Forward,
        ClockJumpKind::Back,
        ClockJumpKind::Suspended,
        ClockJumpKind::MonotonicBack,
    ];

    /// In one word, for labels: `forward`, `back`, `suspended` or `monotonic_back`.
    pub fn name(self) -> &'static str {
        match self {
            ClockJumpKind::Forward => "forward",
            ClockJumpKind::Back => "back",
            ClockJumpKind::Suspended => "suspended",
            ClockJumpKind::MonotonicBack => "monotonic_back",
        }
    }
}

/// All clocks, read one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readings {
    /// The monotonic clock, in nanoseconds since any origin.
    pub(super) mono_ns: u64,
    /// The clock that counts suspended time as well; where there is none, the monotonic clock.
    pub(super) boot_ns: u64,
    /// Since the Unix epoch.
    pub(super) wall_ns: i128,
    /// How long it took to read them.
    pub(super) took_ns: u64,
}

/// Compares each look at the clocks with the last one. Belongs to one driver.
#[derive(Debug)]
pub(crate) struct JumpWatch {
    last: Readings,
    /// By the engine's own clock.
    looked: Moment,
}

/// What a look has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The wall clock, in nanoseconds since the Unix epoch.
    pub(crate) wall_ns: i128,
    /// In the order in which to tell of them.
    pub(crate) jumps: [Option<ClockJump>; 2],
}

impl JumpWatch {
    pub(crate) fn new(clock: &Clock) -> JumpWatch {
        JumpWatch {
            last: clock.readings(),
            looked: clock.now(),
        }
    }

    /// Whether a driver looks at `now` that has no other reason. By hand always: nobody waits for
    /// the rest of the stretch then.
    #[inline]
    pub(crate) fn is_due(&self, clock: &Clock, now: Moment) -> bool {
        now.since(self.looked) >= EVERY || clock.as_manual().is_some()
    }

    /// Reads the clocks. `now` is the reading by which the driver's pass goes.
    pub(crate) fn look(&mut self, clock: &Clock, now: Moment) -> Look {
        self.looked = now;
        let new = clock.readings();
        let mut jumps = [None; 2];
        if new.took_ns <= LOOK_NS_MAX {
            jumps = compare(&self.last, &new);
            self.last = new;
        }
        Look {
            wall_ns: new.wall_ns,
            jumps,
        }
    }

    /// The engine's clock went back: what its step does to the others is no jump of theirs.
    pub(crate) fn begin_again(&mut self, clock: &Clock, now: Moment) {
        self.last = clock.readings();
        self.looked = now;
    }
}

fn compare(old: &Readings, new: &Readings) -> [Option<ClockJump>; 2] {
    let asleep = |at: &Readings| i128::from(at.boot_ns) - i128::from(at.mono_ns);
    let set = |at: &Readings| at.wall_ns - i128::from(at.boot_ns);
    let suspended = asleep(new) - asleep(old);
    let stepped = set(new) - set(old);
    let kind = match stepped > 0 {
        true => ClockJumpKind::Forward,
        false => ClockJumpKind::Back,
    };
    [
        // Time that was counted twice is no suspension; the reading was not of one moment.
        jump(ClockJumpKind::Suspended, suspended.max(0)),
        jump(kind, stepped),
    ]
}

fn jump(kind: ClockJumpKind, by_ns: i128) -> Option<ClockJump> {
    let by_ns = by_ns.unsigned_abs();
    (by_ns >= LEAST_NS).then(|| ClockJump {
        kind,
        by: super::duration_of(by_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;

    fn readings(mono: i128, boot: i128, wall: i128) -> Readings {
        Readings {
            mono_ns: mono as u64,
            boot_ns: boot as u64,
            wall_ns: wall,
            took_ns: 0,
        }
    }

    fn found(new: Readings) -> Vec<(ClockJumpKind, i128)> {
        let old = readings(100 * SECOND, 200 * SECOND, 5_000 * SECOND);
        let jumps = compare(&old, &new).into_iter().flatten();
        jumps
            .map(|jump| (jump.kind, jump.by.as_nanos() as i128))
            .collect()
    }

    #[test]
    fn clocks_that_go_on_together_have_not_jumped() {
        for passed in [0, 1, SECOND, 10_000 * SECOND] {
            let on = |at: i128| at * SECOND + passed;
            assert_eq!(found(readings(on(100), on(200), on(5_000))), []);
        }
    }

    #[test]
    fn a_step_of_the_wall_clock_has_a_direction_and_a_size() {
        for by in [
            LEAST_NS as i128,
            SECOND,
            3_600 * SECOND,
            4_000_000_000 * SECOND,
        ] {
            let stepped = |by| readings(101 * SECOND, 201 * SECOND, 5_001 * SECOND + by);
            assert_eq!(found(stepped(by)), [(ClockJumpKind::Forward, by)]);
            assert_eq!(found(stepped(-by)), [(ClockJumpKind::Back, by)]);
        }
        let small = LEAST_NS as i128 - 1;
        for by in [small, -small] {
            assert_eq!(
                found(readings(100 * SECOND, 200 * SECOND, 5_000 * SECOND + by)),
                []
            );
        }
    }

    #[test]
    fn a_suspended_machine_is_no_step_of_the_wall_clock() {
        let hour = 3_600 * SECOND;
        let woken = readings(101 * SECOND, 201 * SECOND + hour, 5_001 * SECOND + hour);
        assert_eq!(found(woken), [(ClockJumpKind::Suspended, hour)]);
        let corrected = readings(101 * SECOND, 201 * SECOND + hour, 5_000 * SECOND + hour);
        let both = [
            (ClockJumpKind::Suspended, hour),
            (ClockJumpKind::Back, SECOND),
        ];
        assert_eq!(found(corrected), both);
    }

    #[test]
    fn the_system_clocks_of_a_quiet_machine_do_not_jump_between_looks() {
        let clock = Clock::default();
        let mut watch = JumpWatch::new(&clock);
        for _ in 0..10_000 {
            let look = watch.look(&clock, clock.now());
            assert_eq!(look.jumps, [None, None]);
        }
    }
}
