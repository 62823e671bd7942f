//! Threads that end: engines used from the destructors of thread-locals, and thousands of threads
//! that leave timers behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use wheel_runtime::{
    CancelOutcome, Context, ManualClock, OnConflict, Pool, Schedule, Scheduler, TaskFilter, Timers,
};

use crate::{HANG, Held, assert_all_dropped, at_thread_end, ends, ms};

/// Runs `body`, which leaves something for the end of its thread, on threads whose thread-locals
/// come into being in either order: ours before those of the engine, or after.
fn in_either_order(body: impl FnOnce() + Send + Clone + 'static) {
    for ours_first in [true, false] {
        let body = body.clone();
        let thread = thread::spawn(move || {
            if ours_first {
                at_thread_end(|| ());
            }
            body();
        });
        thread.join().unwrap();
    }
}

#[test]
fn timers_may_be_used_when_a_thread_ends() {
    ends("timers", || {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock.clone()).build().unwrap();
        let (alive, ran) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let callback = {
            let (alive, ran) = (Arc::clone(&alive), Arc::clone(&ran));
            move || {
                let (held, ran) = (Held::plain(&alive), Arc::clone(&ran));
                move || {
                    ran.fetch_add(1, Ordering::SeqCst);
                    drop(held);
                }
            }
        };
        let (inner, now, made) = (timers.clone(), clock.clone(), callback.clone());
        let use_all = move || {
            let kept = inner.after(ms(5), made()).unwrap();
            at_thread_end(move || {
                let key = inner.after(ms(1), made()).unwrap();
                let key = inner.reset(key, ms(2)).unwrap();
                assert!(inner.cancel(key) && inner.cancel(kept));
                inner.after(ms(3), made()).unwrap();
                inner.at(now.wall() + ms(3), made()).unwrap();
                assert!(!inner.is_empty() && inner.stats().pending > 0);
                now.advance(ms(1));
            });
        };
        in_either_order(use_all);
        clock.advance(ms(3));
        assert_eq!(ran.load(Ordering::SeqCst), 4);
        // The last thing that a thread does is to end the engine.
        for by_drop in [true, false] {
            let mut last = Some(Timers::builder().clock(clock.clone()).build().unwrap());
            last.as_ref().unwrap().after(ms(1), callback()).unwrap();
            let last = last.take();
            thread::spawn(move || {
                at_thread_end(move || match by_drop {
                    true => drop(last),
                    false => assert_eq!(last.unwrap().shutdown(), 1),
                });
            })
            .join()
            .unwrap();
        }
        timers.shutdown();
        assert_all_dropped(&alive);
    });
}

#[test]
fn the_driver_thread_may_use_its_timers_as_it_ends() {
    ends("timers", || {
        for close_by_hand in [true, false] {
            let clock = ManualClock::new();
            let timers = Timers::builder().clock(clock.clone()).build().unwrap();
            let (sent, told) = channel();
            let (inner, now) = (timers.clone(), clock.clone());
            let callback = move || {
                at_thread_end(move || {
                    let refused = inner.after(ms(1), || ()).is_err();
                    let unfired = inner.shutdown();
                    now.advance(ms(1));
                    sent.send((refused, unfired)).unwrap();
                });
            };
            timers.after(ms(1), callback).unwrap();
            timers.after(ms(50), || ()).unwrap();
            clock.advance(ms(1));
            match close_by_hand {
                true => assert_eq!(timers.shutdown(), 1),
                false => {
                    // The thread-local keeps a handle, so dropping this one ends nothing.
                    let other = timers.clone();
                    drop(timers);
                    assert_eq!(other.shutdown(), 1);
                }
            }
            assert_eq!(told.recv_timeout(HANG), Ok((true, 0)));
        }
    });
}

#[test]
fn a_scheduler_may_be_used_when_a_thread_ends() {
    ends("scheduler", || {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(2);
        let scheduler = scheduler.build().unwrap();
        let (alive, ran) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let (inner, held, count) = (scheduler.clone(), Arc::clone(&alive), Arc::clone(&ran));
        let use_all = move || {
            let handler = move || {
                let (held, count) = (Held::plain(&held), Arc::clone(&count));
                move |_: &Context| {
                    let _ = &held;
                    count.fetch_add(1, Ordering::SeqCst);
                }
            };
            inner.after(ms(1), handler()).unwrap();
            at_thread_end(move || {
                let x = || {
                    inner
                        .task("x")
                        .after(ms(5))
                        .on_conflict(OnConflict::Replace)
                };
                let task = x().run(handler()).unwrap();
                x().run(handler()).unwrap();
                inner.reschedule("x", Schedule::after(ms(0))).unwrap();
                assert!(inner.wait_idle_timeout(HANG), "it waits for what is due");
                assert!(inner.handle("x").is_none(), "it has run");
                assert_eq!(task.cancel(), CancelOutcome::NotFound);
                let y = inner.task("y").after(ms(500)).run(handler()).unwrap();
                let _ = inner.trigger("y");
                assert!(y.wait_timeout(HANG).is_some());
                assert!(inner.tasks(&TaskFilter::all()).len() <= 2);
            });
        };
        in_either_order(use_all);
        clock.advance(ms(1));
        assert!(scheduler.wait_empty_timeout(HANG));
        assert_eq!(ran.load(Ordering::SeqCst), 6);
        let last = scheduler.clone();
        thread::spawn(move || {
            at_thread_end(move || drop(last.shutdown(HANG).unwrap()));
        })
        .join()
        .unwrap();
        assert!(scheduler.after(ms(1), |_| ()).is_err());
        assert_all_dropped(&alive);
    });
}

#[test]
fn a_worker_may_use_its_scheduler_as_it_ends() {
    for drops_the_last in [true, false] {
        ends("scheduler", move || {
            let clock = ManualClock::new();
            let builder = Scheduler::builder().clock(clock.clone()).workers(1);
            let scheduler = builder.build().unwrap();
            let (sent, told) = channel();
            let slot = std::sync::Mutex::new(Some((scheduler.clone(), sent)));
            let handler = move |_: &Context| {
                let (inner, sent) = slot.lock().unwrap().take().unwrap();
                at_thread_end(move || {
                    let refused = inner.after(ms(1), |_| ()).is_err();
                    let idle = inner.wait_idle_timeout(HANG);
                    drop(inner.shutdown(HANG));
                    sent.send((refused, idle)).unwrap();
                });
            };
            scheduler.after(ms(1), handler).unwrap();
            clock.advance(ms(1));
            assert!(scheduler.wait_idle_timeout(HANG));
            if drops_the_last {
                scheduler.shutdown(HANG).unwrap();
                drop(scheduler);
            } else {
                scheduler.shutdown(HANG).unwrap();
            }
            assert_eq!(told.recv_timeout(HANG), Ok((true, true)));
        });
    }
}

#[test]
fn a_pool_may_be_shut_down_and_dropped_as_its_worker_ends() {
    ends("pool", || {
        let clock = ManualClock::new();
        let pool = Arc::new(Pool::builder().workers(2).build().unwrap());
        let timers = Timers::builder()
            .clock(clock.clone())
            .executor(Arc::clone(&pool));
        let timers = timers.build().unwrap();
        let (sent, told) = channel();
        for _ in 0..10 {
            let (inner, sent) = (Arc::clone(&pool), sent.clone());
            let callback = move || {
                at_thread_end(move || {
                    inner.shutdown(HANG).unwrap();
                    drop(inner);
                    sent.send(()).unwrap();
                });
            };
            timers.after(ms(1), callback).unwrap();
        }
        clock.advance(ms(1));
        timers.shutdown();
        pool.shutdown(HANG).unwrap();
        drop(pool);
        for _ in 0..10 {
            told.recv_timeout(HANG).unwrap();
        }
    });
}

#[test]
fn timers_outlive_the_thousands_of_threads_that_set_them() {
    const THREADS: usize = 2_000;
    ends("threads", || {
        let clock = ManualClock::new();
        let timers = Timers::builder().clock(clock.clone()).build().unwrap();
        let (alive, ran) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let mut cancelled = 0;
        for wave in 0..THREADS / 20 {
            let threads = (0..20).map(|n| {
                let (timers, clock) = (timers.clone(), clock.clone());
                let (alive, ran) = (Arc::clone(&alive), Arc::clone(&ran));
                thread::spawn(move || {
                    let callback = || {
                        let (held, ran) = (Held::plain(&alive), Arc::clone(&ran));
                        move || {
                            ran.fetch_add(1, Ordering::SeqCst);
                            drop(held);
                        }
                    };
                    timers.after(ms(10), callback()).unwrap();
                    timers.at(clock.wall() + ms(20), callback()).unwrap();
                    let key = timers.after(ms(30), callback()).unwrap();
                    assert!(n % 5 > 0, "this thread dies of a panic");
                    key
                })
            });
            for thread in threads.collect::<Vec<_>>() {
                // One thread cancels what another has set that has ended.
                if let Ok(key) = thread.join() {
                    cancelled += usize::from(timers.cancel(key));
                }
            }
            if wave % 10 == 9 {
                clock.advance(ms(5));
            }
        }
        assert_eq!(cancelled, THREADS / 5 * 4);
        clock.run_for(ms(100));
        assert_eq!(ran.load(Ordering::SeqCst), 3 * THREADS - cancelled);
        assert_eq!(timers.stats().fired as usize, 3 * THREADS - cancelled);
        assert!(timers.is_empty());
        assert_all_dropped(&alive);
    });
}

#[test]
fn tasks_outlive_the_thousands_of_threads_that_add_them() {
    const THREADS: usize = 1_000;
    ends("threads", || {
        let clock = ManualClock::new();
        let scheduler = Scheduler::builder().clock(clock.clone()).workers(2);
        let scheduler = scheduler.build().unwrap();
        let alive = Arc::default();
        for _ in 0..THREADS / 20 {
            let threads = (0..20).map(|n| {
                let (scheduler, alive) = (scheduler.clone(), Arc::clone(&alive));
                thread::spawn(move || {
                    let held = Held::plain(&alive);
                    let handler = move |_: &Context| {
                        let _ = &held;
                    };
                    drop(scheduler.after(ms(10), handler).unwrap());
                    assert!(n % 5 > 0, "this thread dies of a panic");
                })
            });
            threads
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|thread| drop(thread.join()));
        }
        assert_eq!(scheduler.stats().scheduled, THREADS);
        clock.advance(ms(10));
        assert!(scheduler.wait_empty_timeout(HANG));
        assert_eq!(scheduler.stats().succeeded as usize, THREADS);
        assert_all_dropped(&alive);
    });
}
