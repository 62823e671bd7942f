//! What the pool promises, by counting and order, never by time.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::*;
use wheel_sync::atomic::AtomicUsize;

/// Long enough to say "it hangs".
const HANG: Duration = Duration::from_secs(20);

fn pool(workers: usize) -> Pool {
    Pool::builder().workers(workers).build().unwrap()
}

/// A job that says that it runs and then waits until it may end.
fn gate() -> (Job, Receiver<()>, Sender<()>) {
    let (started, has_started) = channel();
    let (open, opened) = channel::<()>();
    let job = Job::new(move || {
        started.send(()).unwrap();
        // An error means that the test has ended.
        let _ = opened.recv_timeout(HANG);
    });
    (job, has_started, open)
}

fn counting(count: usize, counter: &Arc<AtomicUsize>) -> Vec<Job> {
    (0..count)
        .map(|_| {
            let counter = counter.clone();
            Job::new(move || {
                counter.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect()
}

#[test]
fn impossible_worker_counts_are_refused_with_what_would_be_right() {
    for workers in [0, 1025, usize::MAX] {
        let error = Pool::builder().workers(workers).build().unwrap_err();
        assert!(error.to_string().contains("from 1 to 1024"), "{error}");
    }
}

#[test]
fn every_job_runs_once() {
    let (pool, counter) = (pool(4), Arc::new(AtomicUsize::new(0)));
    for batch in [1, 2, 300, 1, 0, 77] {
        pool.execute(&mut counting(batch, &counter));
    }
    pool.shutdown(HANG).unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 381);
    assert_eq!(pool.queued(), 0);
}

#[test]
fn ten_thousand_jobs_for_one_busy_worker_do_not_stop_the_hand_over() {
    let (pool, counter) = (pool(1), Arc::new(AtomicUsize::new(0)));
    let (busy, started, open) = gate();
    pool.execute(&mut vec![busy]);
    started.recv_timeout(HANG).unwrap();
    pool.execute(&mut counting(10_000, &counter));
    // The next tick's hand-over comes back although nothing has run.
    pool.execute(&mut counting(1, &counter));
    assert_eq!(counter.load(Ordering::SeqCst), 0);
    assert_eq!(pool.queued(), 10_001);
    open.send(()).unwrap();
    pool.shutdown(HANG).unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 10_001);
}

#[test]
fn all_workers_come_when_a_batch_needs_them() {
    let pool = pool(3);
    let (gates, rest): (Vec<Job>, Vec<_>) = (0..3)
        .map(|_| gate())
        .map(|(job, started, open)| (job, (started, open)))
        .unzip();
    pool.execute(&mut { gates });
    // Each waits for its own gate, so all three started means three workers.
    for (started, _) in &rest {
        started.recv_timeout(HANG).unwrap();
    }
    drop(rest);
    pool.shutdown(HANG).unwrap();
}

#[test] // HP-03
fn one_hanging_job_leaves_the_other_workers_to_the_rest() {
    let (pool, counter) = (pool(2), Arc::new(AtomicUsize::new(0)));
    let (hanging, started, open) = gate();
    pool.execute(&mut vec![hanging]);
    started.recv_timeout(HANG).unwrap();
    let (done, is_done) = channel();
    pool.execute(&mut counting(1_000, &counter));
    pool.execute(&mut vec![Job::due_at(u64::MAX, move || {
        done.send(()).unwrap()
    })]);
    is_done.recv_timeout(HANG).unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 1_000);
    drop(open);
}

#[test]
fn a_panic_is_counted_and_the_worker_lives_on() {
    let (pool, counter) = (pool(1), Arc::new(AtomicUsize::new(0)));
    pool.execute(&mut vec![Job::new(|| panic!("of the test"))]);
    pool.execute(&mut counting(2, &counter));
    pool.shutdown(HANG).unwrap();
    assert_eq!(pool.panics(), 1);
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

#[test]
fn a_closed_pool_leaves_the_jobs_with_the_caller() {
    let pool = pool(1);
    pool.shutdown(HANG).unwrap();
    let mut jobs = vec![Job::new(|| ())];
    pool.execute(&mut jobs);
    assert_eq!(jobs.len(), 1);
}

#[test] // SD-01
fn shutdown_twice_and_from_two_threads_returns() {
    let pool = pool(2);
    thread::scope(|s| {
        s.spawn(|| pool.shutdown(HANG).unwrap());
        s.spawn(|| pool.shutdown(HANG).unwrap());
    });
    pool.shutdown(HANG).unwrap();
}

#[test]
fn a_grace_that_is_over_reports_what_runs_and_drops_what_waits() {
    let (pool, counter) = (pool(1), Arc::new(AtomicUsize::new(0)));
    let (busy, started, open) = gate();
    pool.execute(&mut vec![busy]);
    started.recv_timeout(HANG).unwrap();
    pool.execute(&mut counting(5, &counter));
    let busy = pool.shutdown(Duration::ZERO).unwrap_err();
    assert_eq!((busy.running, busy.dropped), (1, 5));
    open.send(()).unwrap();
    pool.shutdown(HANG).unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 0);
}

#[test] // SD-13
fn shutdown_and_drop_from_inside_a_job_do_not_wait_for_themselves() {
    let pool = Arc::new(pool(2));
    let (sent, done) = channel();
    let mut jobs: Vec<Job> = (0..2)
        .map(|_| {
            let (pool, sent) = (pool.clone(), sent.clone());
            Job::new(move || {
                sent.send(pool.shutdown(HANG)).unwrap();
                drop(pool);
            })
        })
        .collect();
    pool.execute(&mut jobs);
    drop(pool);
    for _ in 0..2 {
        assert_eq!(done.recv_timeout(HANG).unwrap(), Ok(()));
    }
}

#[test] // SD-11
fn shutdown_right_after_the_start_never_blocks() {
    for _ in 0..50 {
        pool(2).shutdown(HANG).unwrap();
    }
}

#[test]
fn threads_carry_the_name_that_was_asked_for() {
    let pool = Pool::builder()
        .workers(1)
        .thread_name("orders")
        .build()
        .unwrap();
    assert_eq!(first_name_of(&pool).as_deref(), Some("orders-0"));
}

#[test]
fn a_nul_in_a_name_is_left_out_and_no_panic() {
    let pool = Pool::builder().workers(1).thread_name("or\0ders");
    let pool = pool.build().unwrap();
    assert_eq!(first_name_of(&pool).as_deref(), Some("orders-0"));
}

fn first_name_of(pool: &Pool) -> Option<String> {
    let (sent, name) = channel();
    pool.execute(&mut vec![Job::new(move || {
        let name = thread::current().name().map(str::to_owned);
        sent.send(name).unwrap();
    })]);
    name.recv_timeout(HANG).unwrap()
}

#[test]
fn what_is_handed_over_while_the_pool_is_closed_runs() {
    let (pool, counter) = (pool(2), Arc::new(AtomicUsize::new(0)));
    let shared = &pool.shared;
    // The pool is closed after the look at it and before the push, and the workers have all the
    // time to leave.
    shared.hand_over(|| {
        assert_eq!(
            pool.shutdown(Duration::from_millis(20))
                .unwrap_err()
                .running,
            2
        );
        shared.queue.push(&mut counting(1, &counter));
    });
    pool.shutdown(HANG).unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 1);
}

#[test]
fn a_pool_shut_down_by_what_its_own_thread_drops_as_it_ends_harms_nothing() {
    use std::cell::RefCell;

    struct ShutsDown(Arc<Pool>, Sender<bool>);
    impl Drop for ShutsDown {
        fn drop(&mut self) {
            let ended = self.0.shutdown(HANG);
            self.1.send(ended.is_ok()).unwrap();
        }
    }
    thread_local! {
        static LAST: RefCell<Option<ShutsDown>> = const { RefCell::new(None) };
    }
    for workers in [1, 3] {
        let pool = Arc::new(pool(workers));
        let (sent, ended) = channel();
        let leaves_one = || {
            let held = ShutsDown(pool.clone(), sent.clone());
            Job::new(move || LAST.set(Some(held)))
        };
        pool.execute(&mut vec![leaves_one(), leaves_one()]);
        // Dropped without a wait: the threads end by themselves.
        pool.shared.close();
        assert!(ended.recv_timeout(HANG).expect("it hangs"));
        pool.shutdown(HANG).unwrap();
    }
}

#[test]
fn any_thread_name_will_do() {
    let named = |name: &str| Pool::builder().workers(1).thread_name(name).build();
    for name in ["", "a\0b", "\u{1f600}", &"long".repeat(1000)] {
        named(name).unwrap().shutdown(HANG).unwrap();
    }
}

#[test]
fn captured_values_whose_drop_panics_do_not_end_the_process_when_they_are_dropped_unrun() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("of the test");
        }
    }
    let pool = pool(1);
    let (job, started, open) = gate();
    let mut jobs = vec![job];
    jobs.extend((0..3).map(|_| {
        let bomb = Bomb;
        Job::new(move || drop(bomb))
    }));
    pool.execute(&mut jobs);
    started.recv_timeout(HANG).unwrap();
    assert_eq!(pool.shutdown(Duration::ZERO).unwrap_err().dropped, 3);
    drop(open);
    pool.shutdown(HANG).unwrap();
}

mod elastic;
