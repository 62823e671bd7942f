//! Futures on the engine of a [`Timers`](crate::Timers), for any runtime: they know wakers and
//! nothing else.
//!
//! ```text
//!  poll:  due?  not yet: a timer in the engine, whose value is the waker      sleep.rs
//!  fire:  the value runs: it wakes          close: the value is dropped: it wakes, too     wake.rs
//!  poll:  the timer is not pending any more: done
//!  drop:  the timer is cancelled, and its waker comes back
//! ```
//!
//! The engine is the only thing that the future and the driver share. A waker is registered by
//! inserting it or by replacing the one that is there, so the race of a registration with what fires
//! is one about an entry of the wheel, which one atomic step decides: there is no flag beside it that
//! could say something else, no lock, and nothing that the driver could wait for.
//!
//! Nothing is in the engine before the first poll that cannot be answered at once.

mod error;
mod instant;
mod interval;
mod sleep;
mod timeout;
mod wake;

use std::time::Duration;

pub use error::{SleepError, TimeoutError};
pub use instant::Instant;
pub use interval::{Interval, MissedTicks, ZeroPeriod};
pub use sleep::Sleep;
pub use timeout::Timeout;

use super::Timers;
use crate::clock::Moment;

impl Timers {
    /// The reading of the engine's clock, for [`sleep_until`](Timers::sleep_until).
    pub fn now(&self) -> Instant {
        Instant::of(self.engine.clock().now())
    }

    /// A future that is done `delay` after this call.
    ///
    /// The delay is rounded up to the tick, and never cut short. Zero is done when it is first
    /// polled; [`Duration::MAX`], and all that is beyond 584 years, is never done. A timer is in the
    /// engine from the first poll on, until it is due or the future is dropped. Does not block.
    ///
    /// # Errors
    ///
    /// The future ends with a [`SleepError`] when the limit of pending timers is reached at its first
    /// poll, and when the engine is shut down before it is due.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// smol::block_on(timers.sleep(Duration::from_millis(5)))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sleep(&self, delay: Duration) -> Sleep {
        let due = self.engine.moment_after(delay);
        Sleep::until(self.engine.clone(), due)
    }

    /// A future that is done at `instant`, rounded up to the tick; when it is first polled, if that
    /// is past. Otherwise as [`sleep`](Timers::sleep).
    ///
    /// # Errors
    ///
    /// As [`sleep`](Timers::sleep).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let start = timers.now();
    /// smol::block_on(timers.sleep_until(start + Duration::from_millis(5)))?;
    /// assert!(timers.now().since(start) >= Duration::from_millis(5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn sleep_until(&self, instant: Instant) -> Sleep {
        Sleep::until(self.engine.clone(), instant.moment())
    }

    /// `future`, for `limit` at most, rounded up to the tick; [`Duration::MAX`] means no limit.
    ///
    /// The time runs from the first poll that leaves the future pending: what nobody polls takes no
    /// time. So a future that is ready at its first poll is never too late, also with a limit of
    /// zero, and costs neither a timer nor a reading of the clock. In later polls, too, the future
    /// comes first. When the time is over it is not polled any more, and it is dropped with the
    /// [`Timeout`].
    ///
    /// # Errors
    ///
    /// The future ends with a [`TimeoutError`] when its time is over. And when it is pending and no
    /// timer can be had, because the limit of them is reached or the engine was shut down: without
    /// one nobody would keep the time.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::{pending, ready};
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let limit = Duration::from_millis(5);
    /// assert_eq!(smol::block_on(timers.timeout(limit, ready(7)))?, 7);
    /// let over = smol::block_on(timers.timeout(limit, pending::<()>())).unwrap_err();
    /// assert!(over.is_elapsed());
    /// # Ok(())
    /// # }
    /// ```
    pub fn timeout<F: IntoFuture>(&self, limit: Duration, future: F) -> Timeout<F::IntoFuture> {
        let sleep = Sleep::until(self.engine.clone(), Moment::NEVER);
        Timeout::new(future.into_future(), limit, sleep)
    }

    /// Ticks again and again, on a grid of `period` that begins with this call: the k-th is due
    /// k periods from now, however late the others were. The first one comes after a period;
    /// [`start_now`](Interval::start_now) for one at once.
    ///
    /// # Errors
    ///
    /// [`ZeroPeriod`], if it is that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let period = Duration::from_millis(5);
    /// let mut interval = timers.interval(period)?;
    /// smol::block_on(async {
    ///     let first = interval.tick().await?;
    ///     let second = interval.tick().await?;
    ///     let periods = 1 + interval.missed() as u32;
    ///     assert_eq!(second.since(first), period * periods);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    pub fn interval(&self, period: Duration) -> Result<Interval, ZeroPeriod> {
        Interval::new(self, period)
    }
}
