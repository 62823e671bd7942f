//! Waiting until an instant: the future that the others are made of.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::error::SleepError;
use super::instant::Instant;
use super::wake::{WakeUp, Whose};
use crate::clock::Moment;
use crate::driver::{Engine, TimerKey};
use crate::timers::sink::Callback;

/// Done when it is due; see [`Timers::sleep`](crate::Timers::sleep).
///
/// Never early. Woken by the driver in the tick in which it is due. Dropping it takes its timer out of
/// the engine before the drop returns. It may be polled from another task, or with another waker,
/// each time; the latest one is woken. Polled after it was done it is done again, with the same
/// result, until it is [reset](Sleep::reset).
///
/// It keeps its engine alive, as a clone of [`Timers`](crate::Timers) does.
#[must_use = "futures do nothing unless they are polled"]
pub struct Sleep {
    engine: Engine<Callback>,
    due: Moment,
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// There is nothing in the engine.
    New,
    /// The timer of this key was inserted, with this waker.
    Armed(TimerKey, Whose),
    Over(Result<(), SleepError>),
}

impl Sleep {
    pub(super) fn until(engine: Engine<Callback>, due: Moment) -> Sleep {
        Sleep {
            engine,
            due,
            stage: Stage::New,
        }
    }

    /// When it is due; of a delay of zero, some instant that is past.
    pub fn due(&self) -> Instant {
        Instant::of(self.due)
    }

    pub(super) fn is_due_never(&self) -> bool {
        self.due == Moment::NEVER
    }

    /// Whether it has been polled to its end.
    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Over(_))
    }

    /// From now on it is due `delay` from this call, whether it was done or not. Rounded as a new
    /// one.
    ///
    /// A task that waits for it is woken at the new instant, or before, to poll it again. After it was
    /// done, it is to be polled again.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::Timers;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let mut idle = timers.sleep(Duration::from_secs(30));
    /// idle.reset(Duration::from_millis(1));
    /// smol::block_on(&mut idle)?;
    /// idle.reset(Duration::from_millis(1));
    /// smol::block_on(&mut idle)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reset(&mut self, delay: Duration) {
        self.move_to(self.engine.moment_after(delay));
    }

    /// From now on it is due at `instant`. Otherwise as [`reset`](Sleep::reset).
    pub fn reset_until(&mut self, instant: Instant) {
        self.move_to(instant.moment());
    }

    pub(super) fn move_to(&mut self, due: Moment) {
        self.due = due;
        if let Stage::Armed(key, whose) = self.stage {
            if let Some(key) = self.engine.reset_to(key, due) {
                self.stage = Stage::Armed(key, whose);
                return;
            }
            // It has fired, so its task was woken; or the engine is closing, and then this wakes it.
            drop(self.engine.cancel(key));
        }
        self.stage = Stage::New;
    }

    pub(super) fn engine(&self) -> &Engine<Callback> {
        &self.engine
    }

    /// Takes its timer out of the engine.
    pub(super) fn disarm(&mut self) {
        if let Stage::Armed(key, _) = self.stage {
            self.stage = Stage::New;
            if let Some(waker) = self.engine.cancel(key) {
                waker.forget();
            }
        }
    }

    pub(super) fn poll_due(&mut self, waker: &Waker) -> Poll<Result<(), SleepError>> {
        if let Stage::Armed(key, whose) = self.stage
            && self.engine.is_pending(key)
            && self.wakes(key, whose, waker)
        {
            return Poll::Pending;
        }
        let result = match self.stage {
            Stage::Over(result) => result,
            // New; or it has left the engine, and not by this future: it has fired, or the engine is
            // being closed. That is not told from the engine, where this thread may not see it yet,
            // but from the clock, and by trying.
            Stage::New | Stage::Armed(..) => match self.has_come_or_arm(waker) {
                Ok(true) => Ok(()),
                Ok(false) => return Poll::Pending,
                Err(error) => Err(error),
            },
        };
        self.stage = Stage::Over(result);
        Poll::Ready(result)
    }

    /// Whether it is due. If not, a timer of it is in the engine now.
    fn has_come_or_arm(&mut self, waker: &Waker) -> Result<bool, SleepError> {
        if self.engine.has_come(self.due) {
            return Ok(true);
        }
        self.arm(waker).map(|()| false)
    }

    fn arm(&mut self, waker: &Waker) -> Result<(), SleepError> {
        let (wake_up, whose) = WakeUp::of(waker);
        match self.engine.at_tick(self.due, wake_up) {
            Ok(key) => {
                self.stage = Stage::Armed(key, whose);
                Ok(())
            }
            Err(refused) => {
                let error = SleepError::of(&refused);
                refused.into_value().forget();
                Err(error)
            }
        }
    }

    /// Sees to it that the pending timer of this key wakes `waker`. False if it is pending no more.
    fn wakes(&mut self, key: TimerKey, whose: Whose, waker: &Waker) -> bool {
        if whose == Whose::of(waker) {
            return true;
        }
        let (wake_up, whose) = WakeUp::of(waker);
        let replaced = self.engine.replace(key, self.due, wake_up);
        let is_pending = replaced.is_ok();
        if is_pending {
            self.stage = Stage::Armed(key, whose);
        }
        let (Ok(unused) | Err(unused)) = replaced;
        unused.forget();
        is_pending
    }
}

impl Future for Sleep {
    type Output = Result<(), SleepError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_due(cx.waker())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.disarm();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("due", &self.due())
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}
