//! Futures that wait for a token to be set: their wakers, beside the threads that do.
//!
//! They stand at the topmost token, for all of those below it, behind its lock. Whoever sets one of
//! them takes all wakers out under the lock and wakes them without it; a future whose token is not
//! set comes back. Without the feature `async` there are none, and they take no room.

#[cfg(feature = "async")]
use std::pin::Pin;
#[cfg(feature = "async")]
use std::task::{Context, Poll, Waker};

#[cfg(feature = "async")]
use super::CancelToken;
#[cfg(feature = "async")]
use crate::panics::contain;

/// Who waits.
#[derive(Debug, Default)]
pub(super) struct Awaiting {
    #[cfg(feature = "async")]
    wakers: Option<Box<Wakers>>,
}

#[cfg(feature = "async")]
#[derive(Debug, Default)]
struct Wakers {
    last_place: Place,
    by_place: Vec<(Place, Waker)>,
}

/// Names a future among those of a token, for ever.
#[cfg(feature = "async")]
pub(super) type Place = u64;

/// Those who are to be woken, without a lock and not by the driver: it is the user's code.
#[derive(Debug, Default)]
#[must_use = "they wait to be woken"]
pub(crate) struct ToWake {
    #[cfg(feature = "async")]
    wakers: Vec<(Place, Waker)>,
}

#[cfg(feature = "async")]
impl Awaiting {
    pub(super) fn is_empty(&self) -> bool {
        self.wakers
            .as_ref()
            .is_none_or(|wakers| wakers.by_place.is_empty())
    }

    pub(super) fn take(&mut self) -> ToWake {
        let wakers = self.wakers.as_mut();
        let wakers = wakers.map(|wakers| std::mem::take(&mut wakers.by_place));
        ToWake {
            wakers: wakers.unwrap_or_default(),
        }
    }

    fn find(&self, place: Option<Place>) -> Option<usize> {
        let by_place = &self.wakers.as_ref()?.by_place;
        by_place.iter().position(|(of, _)| Some(*of) == place)
    }

    /// Whether this waker stands at its place.
    fn has(&self, place: Option<Place>, waker: &Waker) -> bool {
        let at = self.find(place).zip(self.wakers.as_ref());
        at.is_some_and(|(at, wakers)| wakers.by_place[at].1.will_wake(waker))
    }

    /// Puts it at its place, or at a new one. The one that stood there.
    fn put(&mut self, place: &mut Option<Place>, waker: Waker) -> Option<Waker> {
        let at = self.find(*place);
        let wakers = self.wakers.get_or_insert_default();
        if let Some(at) = at {
            return Some(std::mem::replace(&mut wakers.by_place[at].1, waker));
        }
        let place = place.get_or_insert_with(|| {
            wakers.last_place += 1;
            wakers.last_place
        });
        wakers.by_place.push((*place, waker));
        None
    }

    fn remove(&mut self, place: Place) -> Option<Waker> {
        let at = self.find(Some(place))?;
        let wakers = self.wakers.as_mut()?;
        Some(wakers.by_place.swap_remove(at).1)
    }
}

#[cfg(feature = "async")]
impl ToWake {
    pub(crate) fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }

    /// A panic of one does not keep the others.
    pub(crate) fn wake(self) {
        for (_, waker) in self.wakers {
            // Nobody asked for what it has to say.
            let _ = contain(|| waker.wake());
        }
    }
}

#[cfg(not(feature = "async"))]
impl Awaiting {
    #[expect(clippy::unused_self, reason = "with futures there is something in it")]
    pub(super) fn is_empty(&self) -> bool {
        true
    }

    #[expect(clippy::unused_self, reason = "with futures there is something in it")]
    pub(super) fn take(&mut self) -> ToWake {
        ToWake {}
    }
}

#[cfg(not(feature = "async"))]
impl ToWake {
    #[expect(clippy::unused_self, reason = "with futures there is something in it")]
    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    pub(crate) fn wake(self) {}
}

#[cfg(feature = "async")]
impl CancelToken {
    /// A future that is done when the token is set, or one above it.
    ///
    /// Dropping it leaves nothing behind. Does not block.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{CancelToken, Timers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let timers = Timers::builder().build()?;
    /// let token = CancelToken::new();
    /// let waits = timers.timeout(Duration::from_millis(1), token.cancelled());
    /// assert!(smol::block_on(waits).is_err(), "nobody has set it");
    /// token.cancel();
    /// smol::block_on(token.cancelled());
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancelled(&self) -> Cancelled<'_> {
        Cancelled {
            token: self,
            place: None,
        }
    }

    /// From now on whoever sets this token, or another one below the same topmost one, wakes the
    /// waker. Whoever has looked before is to look again.
    pub(super) fn await_at(&self, place: &mut Option<Place>, waker: &Waker) {
        if self.awaiting().has(*place, waker) {
            return;
        }
        // What is the user's is cloned and dropped without the lock.
        let waker = waker.clone();
        let old = self.awaiting().put(place, waker);
        drop(old);
    }

    /// Nobody waits at this place any more.
    pub(super) fn leave(&self, place: &mut Option<Place>) {
        if let Some(place) = place.take() {
            let waker = self.awaiting().remove(place);
            drop(waker);
        }
    }
}

/// Done when a [`CancelToken`] is set; see [`cancelled`](CancelToken::cancelled).
#[cfg(feature = "async")]
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Cancelled<'a> {
    token: &'a CancelToken,
    place: Option<Place>,
}

#[cfg(feature = "async")]
impl Future for Cancelled<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.token.is_cancelled() {
            return Poll::Ready(());
        }
        this.token.await_at(&mut this.place, cx.waker());
        // Set meanwhile, by somebody who has found nobody to wake.
        if this.token.is_cancelled() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

#[cfg(feature = "async")]
impl Drop for Cancelled<'_> {
    fn drop(&mut self) {
        self.token.leave(&mut self.place);
    }
}
