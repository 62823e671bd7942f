//! A channel without a limit for the models: a queue under a lock.
//!
//! It stands for crossbeam's, of which it has what the product uses. What one thread wrote before
//! it sent is visible to the one that receives.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Mutex;

/// The end that fills the channel.
#[derive(Debug)]
pub struct Sender<T>(Arc<Mutex<VecDeque<T>>>);

/// The end that empties it.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Mutex<VecDeque<T>>>);

/// Both ends of a new channel.
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Mutex::new(VecDeque::new()));
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

impl<T> Sender<T> {
    /// Puts `message` behind the others.
    ///
    /// # Errors
    ///
    /// None here: nobody in the product drops the other end.
    pub fn send(&self, message: T) -> Result<(), T> {
        self.0.lock().push_back(message);
        Ok(())
    }
}

impl<T> Receiver<T> {
    /// Whether nothing is in it now.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Takes out what is in it, until it is empty.
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.0.lock().pop_front())
    }
}
