//! loom's threads, with a token to park on, and a small number for each one.
//!
//! Not loom's own `park`: an `unpark` there also ends a wait for a lock, so that it does not bear
//! two threads that unpark at once. Here each thread has a token under a lock, as std describes
//! it: `unpark` gives the token, `park` waits for it and takes it. A model has no time, so a
//! timeout never comes.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub use loom::thread::{ThreadId, yield_now};
pub use std::thread::panicking;

use super::{Condvar, Mutex};

/// The stack of a thread, in words: four times loom's own.
const STACK: usize = 0x4000;

#[derive(Debug, Default)]
struct Token {
    given: Mutex<bool>,
    changed: Condvar,
}

loom::thread_local! {
    static TOKEN: RefCell<Option<Arc<Token>>> = RefCell::new(None);
}

/// A thread that can be woken.
#[derive(Clone, Debug)]
pub struct Thread {
    thread: loom::thread::Thread,
    token: Arc<Token>,
}

impl Thread {
    /// Which thread it is.
    pub fn id(&self) -> ThreadId {
        self.thread.id()
    }

    /// What it was called.
    pub fn name(&self) -> Option<&str> {
        self.thread.name()
    }

    /// Gives the thread its token, which ends one `park`.
    pub fn unpark(&self) {
        *self.token.given.lock() = true;
        self.token.changed.notify_one();
    }
}

/// The calling thread.
pub fn current() -> Thread {
    let token = TOKEN.with(|token| {
        let mut token = token.borrow_mut();
        Arc::clone(token.get_or_insert_with(Arc::default))
    });
    Thread {
        thread: loom::thread::current(),
        token,
    }
}

/// Waits for the token and takes it.
pub fn park() {
    let token = current().token;
    let mut given = token.given.lock();
    while !*given {
        given = token.changed.wait(given);
    }
    *given = false;
}

/// As [`park`]: the timeout never comes.
pub fn park_timeout(_timeout: Duration) {
    park();
}

/// How many threads a model should think of as at work at once.
///
/// # Errors
///
/// None.
pub fn available_parallelism() -> io::Result<std::num::NonZeroUsize> {
    Ok(std::num::NonZeroUsize::MIN)
}

/// A thread that can be waited for.
#[derive(Debug)]
pub struct JoinHandle<T> {
    inside: loom::thread::JoinHandle<T>,
    thread: Thread,
}

impl<T> JoinHandle<T> {
    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// None: a panic ends the model.
    pub fn join(self) -> std::thread::Result<T> {
        self.inside.join()
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

/// Describes a thread.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Names it.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Starts it.
    ///
    /// # Errors
    ///
    /// None: loom panics when there are too many threads.
    pub fn spawn<T: Send + 'static>(
        self,
        run: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        let token = Arc::new(Token::default());
        let own = Arc::clone(&token);
        let mut builder = loom::thread::Builder::new().stack_size(STACK);
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        let inside = builder.spawn(move || {
            TOKEN.with(|token| *token.borrow_mut() = Some(own));
            run()
        })?;
        let thread = Thread {
            thread: inside.thread().clone(),
            token,
        };
        Ok(JoinHandle { inside, thread })
    }
}

/// Starts a thread without a name.
pub fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let started = Builder::new().spawn(run);
    started.expect("loom refuses no thread with an error")
}

/// A number that no other thread of the execution has.
///
/// loom numbers its threads from 0 in each execution and shows the number only in `Debug`.
pub fn slot() -> Option<usize> {
    let id = format!("{:?}", loom::thread::current().id());
    id.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// `std::thread_local!` for one constant: a variable of a thread of the model.
///
/// loom runs all its threads on one of the system's, which would share a variable of std.
#[doc(hidden)]
#[macro_export]
macro_rules! modelled_thread_local {
    ($(#[$about:meta])* static $name:ident: $type:ty = const { $value:expr };) => {
        $crate::loom::thread_local! {
            $(#[$about])*
            static $name: $type = $value;
        }
    };
}
