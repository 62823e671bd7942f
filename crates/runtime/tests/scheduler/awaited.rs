//! Tokens that are awaited.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use wheel_runtime::CancelToken;

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<F: Future>(future: Pin<&mut F>, woken: &Arc<Woken>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(woken));
    future.poll(&mut Context::from_waker(&waker))
}

fn count(woken: &Arc<Woken>) -> (usize, usize) {
    (
        woken.0.load(Ordering::Relaxed),
        Arc::strong_count(woken) - 1,
    )
}

#[test]
fn who_awaits_a_token_is_woken_once_it_is_set_and_the_latest_waker_counts() {
    let token = CancelToken::new();
    let (first, second) = (Arc::default(), Arc::default());
    let mut cancelled = pin!(token.cancelled());
    assert!(poll(cancelled.as_mut(), &first).is_pending());
    assert!(poll(cancelled.as_mut(), &first).is_pending());
    assert_eq!(count(&first), (0, 1));
    assert!(poll(cancelled.as_mut(), &second).is_pending());
    assert_eq!((count(&first), count(&second)), ((0, 0), (0, 1)));
    token.cancel();
    assert_eq!((count(&first), count(&second)), ((0, 0), (1, 0)));
    assert!(poll(cancelled.as_mut(), &second).is_ready());
    assert!(poll(pin!(token.cancelled()), &first).is_ready());
}

#[test]
fn a_future_that_is_dropped_waits_no_more() {
    let token = CancelToken::new();
    let woken = Arc::default();
    let mut others = Vec::new();
    for _ in 0..3 {
        let mut cancelled = Box::pin(token.cancelled());
        assert!(poll(cancelled.as_mut(), &woken).is_pending());
        others.push(cancelled);
    }
    drop(others.remove(1));
    assert_eq!(count(&woken), (0, 2));
    token.cancel();
    assert_eq!(count(&woken), (2, 0));
}

#[test]
fn who_awaits_one_below_hears_of_those_above_and_goes_on_waiting_for_others() {
    let top = CancelToken::new();
    let (one, other) = (top.child(), top.child());
    let woken = Arc::default();
    let mut waits = pin!(one.cancelled());
    assert!(poll(waits.as_mut(), &woken).is_pending());
    other.cancel();
    // Woken to look, it waits on.
    assert!(poll(waits.as_mut(), &woken).is_pending());
    assert_eq!(count(&woken).1, 1);
    top.cancel();
    assert!(poll(waits.as_mut(), &woken).is_ready());
}

#[test]
fn threads_and_futures_wait_for_one_token_at_once() {
    let token = CancelToken::new();
    thread::scope(|scope| {
        let blocks = scope.spawn(|| token.wait_timeout(std::time::Duration::MAX));
        let awaits = scope.spawn(|| smol::block_on(token.cancelled()));
        token.cancel();
        assert!(blocks.join().unwrap());
        awaits.join().unwrap();
    });
}
