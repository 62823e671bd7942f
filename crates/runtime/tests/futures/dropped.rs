//! Futures that are dropped at every point at which they wait.

use std::pin::pin;
use std::task::Poll;

use wheel_runtime::Timers;

use crate::bed::{MS, Task, timers};

/// Waits in each of the ways that there are, at seven points. Ends after 12 ms.
async fn waits(timers: Timers) -> u32 {
    let mut interval = timers.interval(2 * MS).unwrap();
    timers.sleep(MS).await.unwrap(); // 1 ms
    interval.tick().await.unwrap(); // 2 ms
    let inner = async {
        timers.sleep(MS).await.unwrap(); // 3 ms
        interval.tick().await.unwrap() // 4 ms
    };
    timers.timeout(10 * MS, inner).await.unwrap();
    let too_long = timers.timeout(MS, timers.sleep(20 * MS)); // 5 ms
    assert!(too_long.await.unwrap_err().is_elapsed());
    let mut sleep = timers.sleep(20 * MS);
    sleep.reset(2 * MS);
    sleep.await.unwrap(); // 7 ms
    timers.sleep_until(timers.now() + 5 * MS).await.unwrap(); // 12 ms
    12
}

#[test]
fn wherever_a_future_is_dropped_it_leaves_no_timer_and_no_waker() {
    let mut ended = 0;
    for steps in 0..=14 {
        let (clock, timers) = timers();
        let task = Task::default();
        {
            let mut future = pin!(waits(timers.clone()));
            let mut is_over = false;
            for _ in 0..steps {
                if let Poll::Ready(at) = task.poll(&mut future) {
                    assert_eq!(at, 12);
                    is_over = true;
                    break;
                }
                assert!(!timers.is_empty(), "it would wait for ever");
                clock.advance(MS);
            }
            ended += u32::from(is_over);
        }
        assert_eq!((timers.len(), task.wakers()), (0, 0), "after {steps} steps");
        clock.advance(100 * MS);
    }
    assert_eq!(ended, 2, "those of 13 steps and more");
}
