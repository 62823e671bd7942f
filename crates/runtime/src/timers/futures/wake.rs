//! What the engine holds for a future: a waker, which is woken once, however it leaves the engine.
//!
//! It is what the callbacks of others are, so it runs where those do: on the driver thread, or on the
//! executor if one was given. A panic of it ends there.

use std::task::Waker;

use crate::executor::Work;

/// Wakes when it runs, and when it is dropped without that: by a close, or by an executor that has
/// refused it. The future then finds out why.
pub(super) struct WakeUp(Option<Waker>);

/// Which waker it is, so that the same one is not registered again.
///
/// Compared as [`Waker::will_wake`] does. That says something only while the waker it is of is in the
/// engine: of one that is gone another could have the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whose {
    data: usize,
    vtable: usize,
}

impl WakeUp {
    pub(super) fn of(waker: &Waker) -> (Box<WakeUp>, Whose) {
        let waker = waker.clone();
        let whose = Whose::of(&waker);
        (Box::new(WakeUp(Some(waker))), whose)
    }
}

impl Whose {
    pub(super) fn of(waker: &Waker) -> Whose {
        Whose {
            data: waker.data().addr(),
            vtable: std::ptr::from_ref(waker.vtable()).addr(),
        }
    }
}

impl Work for WakeUp {
    fn run(mut self: Box<Self>) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }

    fn forget(mut self: Box<Self>) {
        self.0 = None;
    }
}

impl Drop for WakeUp {
    fn drop(&mut self) {
        if let Some(waker) = self.0.take() {
            waker.wake();
        }
    }
}
