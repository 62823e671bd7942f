//! A cheap reading that is never below the true time: the processor's cycle counter, anchored
//! often.
//!
//! `Instant::now` costs as much as a whole insert. Computing a due only needs a time that is not
//! too early, so this extrapolates from the last true reading, and errs upwards on purpose:
//!
//! ```text
//!   upper = ns0 + (tsc - tsc0) * rate * 5/4 + margin     for 100 us after the anchor (tsc0, ns0)
//! ```
//!
//! `tsc0` is taken *before* the true reading `ns0`, so the sum holds also when the thread was
//! preempted in between. Five quarters, because the kernel may slew its clock by up to 11 % against
//! the counter, in either direction and at any time, also while the rate was measured; with an
//! anchor that is 100 us old at most, that is 25 us. After that the next caller reads the true
//! clock and leaves a new anchor.
//!
//! Used only where Linux itself keeps time by this counter, so that it is known to be constant and
//! equal on all processors. Each new anchor is checked against the last one. A counter that
//! disagrees (a suspended machine, a moved virtual one) is calibrated anew, and given up when it
//! keeps disagreeing. Elsewhere, and until it is calibrated, a reading is the true one.
//!
//! Any thread reads and anchors. The anchor is published under a version (a seqlock whose data are
//! atomics); a reader that meets a writer reads the true clock instead of waiting.
//!
//! ```text
//!  writer                                     reader
//!  1 version becomes odd     (Acquire)        1 read the version        (Acquire, pairs with 4)
//!  2 fence                   (Release)        2 read the data           (Relaxed)
//!  3 write the data          (Relaxed)        3 fence                   (Acquire, pairs with 2)
//!  4 version becomes even    (Release)        4 read the version again  (Relaxed)
//! ```
//!
//! A reader that got any datum of 3 sees, by the two fences, at least the version of 1 in its last
//! step: it differs from the one it began with, or is odd. Data are Relaxed everywhere, because the
//! version orders them; so are the loads of `faults` and of a version that a compare-and-swap will
//! check, because they are hints. [O70]

use wheel_sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use super::Moment;

/// How old an anchor may be, in upper nanoseconds.
const WINDOW_NS: u64 = 125_000;
/// Reads that the processor reorders, and rounding.
const MARGIN_NS: u64 = 250;
/// Longer than the window on any counter, and short enough that products fit 64 bits.
const MOST_CYCLES: u64 = 1 << 21;
/// The first calibration needs this long, and later ones renew it.
const FIRST_BASE_NS: u64 = 10_000_000;
const LATER_BASE_NS: u64 = 1_000_000_000;
/// And they may not take longer, a tenth of a second and some seconds, or a suspension could hide in
/// them: the counter may go on while the clock stands.
const FIRST_BASE_CYCLES: u64 = 1 << 28;
const LATER_BASE_CYCLES: u64 = 1 << 33;
/// A true reading that took longer, because the thread was preempted, makes no anchor.
const QUICK_CYCLES: u64 = 6_000;
/// After so many disagreements the counter is given up.
const MOST_FAULTS: u32 = 8;

/// The two sources, so that tests can play them.
pub(super) trait Sources {
    /// The cycle counter.
    fn cycles(&self) -> u64;
    /// The true clock, in nanoseconds since its origin.
    fn nanos(&self) -> u64;
}

/// What is known about the counter. All data are written under an odd version only.
#[derive(Debug, Default)]
pub(super) struct CheapClock {
    version: AtomicU64,
    anchor_cycles: AtomicU64,
    anchor_ns: AtomicU64,
    /// When the true reading of the anchor was over.
    anchor_end: AtomicU64,
    /// Upper nanoseconds per cycle, times 2^32; 0 until calibrated.
    rate: AtomicU64,
    /// Where the running calibration began; read and written by writers only.
    base_cycles: AtomicU64,
    base_ns: AtomicU64,
    faults: AtomicU32,
}

/// One true reading between two of the counter.
#[derive(Clone, Copy)]
struct Sample {
    before: u64,
    nanos: u64,
    after: u64,
}

impl CheapClock {
    pub(super) fn new() -> CheapClock {
        CheapClock::default()
    }

    /// Never below the true time; at most 30 us above it, and what the call itself takes.
    #[inline]
    pub(super) fn now_upper(&self, sources: &impl Sources) -> Moment {
        match self.extrapolate(sources) {
            Some((anchor_ns, ahead)) => {
                Moment::from_nanos(anchor_ns.saturating_add(ahead + MARGIN_NS))
            }
            None => Moment::from_nanos(self.read_and_anchor(sources)),
        }
    }

    /// The most likely time, usually within a microsecond of the true one, on either side. For
    /// statistics.
    #[inline]
    pub(super) fn now_about(&self, sources: &impl Sources) -> Moment {
        match self.extrapolate(sources) {
            Some((anchor_ns, ahead)) => Moment::from_nanos(anchor_ns.saturating_add(ahead * 4 / 5)),
            None => Moment::from_nanos(self.read_and_anchor(sources)),
        }
    }

    /// The true time of the anchor, and how many upper nanoseconds have passed since.
    #[inline]
    fn extrapolate(&self, sources: &impl Sources) -> Option<(u64, u64)> {
        // Acquire: pairs with the end of publish, so that what follows is not older. [O65]
        let version = self.version.load(Ordering::Acquire);
        let from = self.anchor_cycles.load(Ordering::Relaxed);
        let anchor_ns = self.anchor_ns.load(Ordering::Relaxed);
        let rate = self.rate.load(Ordering::Relaxed);
        // Acquire fence: pairs with the one in publish; newer data than the version means a newer
        // version in the next load. [O66]
        fence(Ordering::Acquire);
        let torn = version % 2 == 1 || self.version.load(Ordering::Relaxed) != version;
        // A counter that went back wraps to something huge.
        let cycles = sources.cycles().wrapping_sub(from);
        if torn || rate == 0 || cycles >= MOST_CYCLES {
            return None;
        }
        let ahead = cycles.saturating_mul(rate) >> 32;
        (ahead <= WINDOW_NS).then_some((anchor_ns, ahead))
    }

    #[cold]
    fn read_and_anchor(&self, sources: &impl Sources) -> u64 {
        let before = sources.cycles();
        let nanos = sources.nanos();
        let after = sources.cycles();
        let sample = Sample {
            before,
            nanos,
            after,
        };
        let quick = after.wrapping_sub(before) <= QUICK_CYCLES;
        if quick && self.faults.load(Ordering::Relaxed) < MOST_FAULTS {
            self.publish(sample);
        }
        nanos
    }

    /// Makes `sample` the anchor, unless another thread is about to or has left a newer one.
    fn publish(&self, sample: Sample) {
        let version = self.version.load(Ordering::Relaxed);
        // Acquire: pairs with the last store of the writer before, whose data are checked below.
        // [O67]
        let odd = self.version.compare_exchange(
            version & !1,
            version | 1,
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if odd.is_err() {
            return;
        }
        // Release fence: pairs with the fence of readers, so that none takes new data for old. [O68]
        fence(Ordering::Release);
        self.replace(sample);
        // Release: publishes the anchor; pairs with the first load of extrapolate. [O69]
        self.version.store((version | 1) + 1, Ordering::Release);
    }

    /// Under an odd version.
    fn replace(&self, new: Sample) {
        let old = Sample {
            before: self.anchor_cycles.load(Ordering::Relaxed),
            nanos: self.anchor_ns.load(Ordering::Relaxed),
            after: self.anchor_end.load(Ordering::Relaxed),
        };
        let rate = self.rate.load(Ordering::Relaxed);
        let went_back = new.nanos < old.nanos;
        if went_back && new.before < old.after {
            // A reading that was overtaken on its way, which is as true as the one that overtook
            // it; or clock and counter went back together, and time must not come to the old anchor
            // again.
        } else if went_back || (rate != 0 && !agree(old, new, rate)) {
            self.faults.fetch_add(1, Ordering::Relaxed);
            self.rate.store(0, Ordering::Relaxed);
            self.set_base(new);
        } else if rate == 0 {
            self.calibrate(new, FIRST_BASE_NS, FIRST_BASE_CYCLES);
        } else {
            self.calibrate(new, LATER_BASE_NS, LATER_BASE_CYCLES);
        }
        self.anchor_cycles.store(new.before, Ordering::Relaxed);
        self.anchor_ns.store(new.nanos, Ordering::Relaxed);
        self.anchor_end.store(new.after, Ordering::Relaxed);
    }

    fn calibrate(&self, new: Sample, least_ns: u64, most_cycles: u64) {
        let base_cycles = self.base_cycles.load(Ordering::Relaxed);
        let base_ns = self.base_ns.load(Ordering::Relaxed);
        let cycles = new.before.saturating_sub(base_cycles);
        let usable = base_cycles != 0 && cycles != 0 && new.nanos >= base_ns;
        if !usable || cycles > most_cycles {
            self.set_base(new);
            return;
        }
        let nanos = new.nanos - base_ns;
        if nanos < least_ns {
            return;
        }
        let rate = (u128::from(nanos) << 32) / u128::from(cycles);
        let upper = rate + rate / 4 + 1;
        // A counter outside 250 MHz to 16 GHz is not one that this is made for.
        if ((1 << 28)..(1 << 34)).contains(&rate) {
            self.rate.store(upper as u64, Ordering::Relaxed);
        } else {
            self.faults.fetch_add(1, Ordering::Relaxed);
        }
        self.set_base(new);
    }

    fn set_base(&self, sample: Sample) {
        self.base_cycles.store(sample.after, Ordering::Relaxed);
        self.base_ns.store(sample.nanos, Ordering::Relaxed);
    }
}

/// Whether the true clock went on from `old` to `new` as the counter says: not above the upper
/// rate, which would break the promise, and not below four fifths of the measured one, which no slew
/// explains.
fn agree(old: Sample, new: Sample, rate: u64) -> bool {
    let nanos = u128::from(new.nanos - old.nanos) << 32;
    let most = u128::from(new.after.wrapping_sub(old.before)) * u128::from(rate);
    let least = u128::from(new.before.saturating_sub(old.after)) * u128::from(rate) * 16 / 25;
    new.before >= old.before && (least..=most).contains(&nanos)
}

/// The cycle counter, if Linux itself keeps time by it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) fn is_trusted() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(SOURCE).is_ok_and(|name| name.trim() == "tsc")
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) fn is_trusted() -> bool {
    false
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[inline]
pub(super) fn cycles() -> u64 {
    // SAFETY: every x86_64 processor has this instruction, it touches no memory, and Linux, which
    // keeps its own time by it in user space, has not forbidden it. [U27]
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) fn cycles() -> u64 {
    0
}

#[cfg(test)]
mod tests;
