//! A channel without a limit for the models: a queue under a lock.
//!
//! It stands for crossbeam's, of which it has what the product uses. What one thread wrote before
//! it sent is visible to the one that receives. A look at an empty channel orders nothing and may
//! be old, which crossbeam's is not: so the models hold the product to what it orders itself. The
//! count behind that look is therefore Relaxed throughout.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Mutex;
use crate::atomic::{AtomicUsize, Ordering};

/// The end that fills the channel.
#[derive(Debug)]
pub struct Sender<T>(Arc<Channel<T>>);

/// The end that empties it.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Channel<T>>);

#[derive(Debug)]
struct Channel<T> {
    messages: Mutex<VecDeque<T>>,
    /// How many those are. Written under the lock, and read without it.
    count: AtomicUsize,
}

/// Both ends of a new channel.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel {
        messages: Mutex::new(VecDeque::new()),
        count: AtomicUsize::new(0),
    });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Puts `message` behind the others.
    ///
    /// # Errors
    ///
    /// None here: nobody in the product drops the other end.
    pub fn send(&self, message: T) -> Result<(), T> {
        let mut messages = self.0.messages.lock();
        messages.push_back(message);
        self.0.count.store(messages.len(), Ordering::Relaxed);
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Whether nothing is in it now.
    pub fn is_empty(&self) -> bool {
        self.0.count.load(Ordering::Relaxed) == 0
    }

    /// Takes out what is in it, until it is empty.
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| {
            if self.is_empty() {
                return None;
            }
            let mut messages = self.0.messages.lock();
            let message = messages.pop_front();
            self.0.count.store(messages.len(), Ordering::Relaxed);
            message
        })
    }
}
