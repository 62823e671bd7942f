//! Where panics of user code end: handlers, callbacks, hooks, and the `Drop` of what they captured.
//!
//! A panic comes back as its message. Its payload is dropped here, because that is user code again.
//! Call all of this with no lock held. What the [`Reporter`] counts is Relaxed throughout: it is for
//! people and publishes nothing. [O64]

use std::any::Any;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use wheel_sync::atomic::Ordering;
use wheel_sync::counting::AtomicU64;

/// Calls user code; a panic ends here and comes back as its message.
pub(crate) fn contain<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(message_of)
}

/// Drops `values` one by one; a panic in one does not keep the others.
pub(crate) fn discard<T>(values: impl IntoIterator<Item = T>) {
    for value in values {
        // Nobody asked for what this `Drop` has to say.
        let _ = contain(move || drop(value));
    }
}

/// One line about a panic that nobody else reports: `place: what panicked: message`.
pub(crate) fn tell_stderr(place: &str, message: &str) {
    let line = format!("{place}: {message}\n");
    // A closed standard error is no reason to panic again.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Called with the message of a panic.
pub(crate) type PanicHook = Box<dyn Fn(&str) + Send + Sync>;

/// Counts what goes wrong with callbacks, on whatever thread, and tells of panics.
pub(crate) struct Reporter {
    panics: AtomicU64,
    refused: AtomicU64,
    hook: Option<PanicHook>,
}

impl Reporter {
    pub(crate) fn new(hook: Option<PanicHook>) -> Reporter {
        Reporter {
            panics: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            hook,
        }
    }

    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// So many callbacks were not taken.
    pub(crate) fn count_refused(&self, callbacks: usize) {
        self.refused.fetch_add(callbacks as u64, Ordering::Relaxed);
    }

    /// Calls user code; a panic ends here.
    pub(crate) fn guard(&self, call: impl FnOnce()) {
        if let Err(message) = contain(call) {
            self.report(&message);
        }
    }

    /// A callback has panicked with this message.
    pub(crate) fn report(&self, message: &str) {
        self.panics.fetch_add(1, Ordering::Relaxed);
        // A hook that panics has had its say.
        let _ = contain(|| match &self.hook {
            Some(hook) => hook(message),
            None => tell_stderr("a timer callback panicked", message),
        });
    }
}

fn message_of(payload: Box<dyn Any + Send>) -> String {
    let message = if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    };
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Its Drop has panicked once; it does not get another chance.
        std::mem::forget(second);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_in_its_message() {
        assert_eq!(contain(|| 7), Ok(7));
        assert_eq!(
            contain(|| panic!("no paper")),
            Err::<(), _>("no paper".into())
        );
        assert_eq!(
            contain(|| panic!("{} left", 3)),
            Err::<(), _>("3 left".into())
        );
    }

    #[test]
    fn a_payload_whose_drop_panics_does_not_unwind() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        let ended = contain(|| std::panic::panic_any(Bomb));
        assert_eq!(ended, Err::<(), _>("a panic without a message".into()));
    }
}
