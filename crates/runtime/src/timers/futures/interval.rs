//! Ticks on a grid.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::error::SleepError;
use super::instant::Instant;
use super::sleep::Sleep;
use crate::clock::Moment;
use crate::timers::Timers;

/// Ticks on a grid; see [`Timers::interval`](crate::Timers::interval).
pub struct Interval {
    /// Due with the next tick.
    sleep: Sleep,
    period: Duration,
    missed_ticks: MissedTicks,
    /// Since the latest tick.
    skipped: u64,
    /// Before the latest tick.
    missed: u64,
}

/// What becomes of the ticks of an [`Interval`] that were missed: the next one was due before they
/// were asked for. The grid stays what it is in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MissedTicks {
    /// One comes at once and stands for all of them. It names the latest of their instants.
    #[default]
    OneTick,
    /// Each of them comes, without a pause between them.
    EachTick,
    /// None comes: the next tick is one that is yet to be due. With a period that is no longer than a
    /// tick of the engine, as `OneTick`.
    Skip,
}

/// An interval with a period of zero would do nothing but tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZeroPeriod;

impl Interval {
    pub(super) fn new(timers: &Timers, period: Duration) -> Result<Interval, ZeroPeriod> {
        if period.is_zero() {
            return Err(ZeroPeriod);
        }
        Ok(Interval {
            sleep: timers.sleep(period),
            period,
            missed_ticks: MissedTicks::default(),
            skipped: 0,
            missed: 0,
        })
    }

    /// The first tick is due now, and the grid begins with it.
    #[must_use]
    pub fn start_now(mut self) -> Interval {
        let now = self.sleep.engine().clock().now();
        self.sleep.move_to(now);
        self
    }

    /// What becomes of ticks that were missed; [`MissedTicks::OneTick`] unless told otherwise.
    #[must_use]
    pub fn missed_ticks(mut self, missed_ticks: MissedTicks) -> Interval {
        self.missed_ticks = missed_ticks;
        self
    }

    /// Waits for the next tick: the instant of the grid that it is for. Never early; late when the
    /// task was. The future may be dropped at any time, and no tick is lost by that.
    ///
    /// # Errors
    ///
    /// As [`sleep`](Timers::sleep). The next call tries again.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{ManualClock, Timers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = ManualClock::new();
    /// let timers = Timers::builder().clock(clock.clone()).build()?;
    /// let (start, period) = (timers.now(), Duration::from_secs(10));
    /// let mut interval = timers.interval(period)?;
    /// clock.advance(Duration::from_secs(35));
    /// // For the one of 30 s, and for those of 10 s and 20 s as well.
    /// assert_eq!(smol::block_on(interval.tick())?, start + 3 * period);
    /// assert_eq!(interval.missed(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn tick(&mut self) -> Result<Instant, SleepError> {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// The same for who implements a future or a stream.
    ///
    /// # Errors
    ///
    /// As [`tick`](Interval::tick).
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Result<Instant, SleepError>> {
        loop {
            let slept = ready!(self.sleep.poll_due(cx.waker()));
            let due = self.sleep.due().moment();
            if let Err(error) = slept {
                self.sleep.move_to(due);
                return Poll::Ready(Err(error));
            }
            if let Some(tick) = self.take_tick(due) {
                return Poll::Ready(Ok(tick));
            }
        }
    }

    /// How many ticks were missed for which the latest one stands as well; or, if those are
    /// skipped, how many were before it.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// The period of the grid.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// The grid begins anew: the next tick is due after a period from now.
    pub fn reset(&mut self) {
        self.sleep.reset(self.period);
        (self.skipped, self.missed) = (0, 0);
    }

    /// The tick that was due at `due` has come, maybe with others. `None` if all are skipped.
    fn take_tick(&mut self, due: Moment) -> Option<Instant> {
        let engine = self.sleep.engine();
        let now = engine.clock().now();
        let missed_ticks = match self.missed_ticks {
            // Each one would be skipped.
            MissedTicks::Skip if self.period <= engine.tick_duration() => MissedTicks::OneTick,
            missed_ticks => missed_ticks,
        };
        let from = match missed_ticks {
            // To wait for the tick of the engine is no lateness.
            MissedTicks::Skip => engine.tick_start(due),
            _ => due,
        };
        let behind = now.since(from).as_nanos() / self.period.as_nanos();
        // The parts are nanoseconds in 64 bits.
        let behind = u64::try_from(behind).unwrap_or(u64::MAX);
        let latest = match missed_ticks {
            MissedTicks::EachTick => due,
            MissedTicks::OneTick => {
                self.skipped = behind;
                self.later(due, behind)
            }
            MissedTicks::Skip if behind == 0 => due,
            MissedTicks::Skip => {
                self.skipped = self.skipped.saturating_add(behind).saturating_add(1);
                let next = self.later(due, behind.saturating_add(1));
                self.sleep.move_to(next);
                return None;
            }
        };
        self.missed = std::mem::take(&mut self.skipped);
        self.sleep.move_to(self.later(latest, 1));
        Some(Instant::of(latest))
    }

    fn later(&self, moment: Moment, periods: u64) -> Moment {
        let period = u64::try_from(self.period.as_nanos()).unwrap_or(u64::MAX);
        moment.after(Duration::from_nanos(period.saturating_mul(periods)))
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interval")
            .field("period", &self.period)
            .field("next_due", &self.sleep.due())
            .field("missed_ticks", &self.missed_ticks)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ZeroPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interval: a period of 0 is not possible: it must be longer")
    }
}

impl std::error::Error for ZeroPeriod {}
