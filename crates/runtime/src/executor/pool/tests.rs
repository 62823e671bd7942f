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

/// Jobs that all have to run at once.
fn gates(count: usize) -> (Vec<Job>, Vec<(Receiver<()>, Sender<()>)>) {
    let gates = (0..count).map(|_| gate());
    gates
        .map(|(job, started, open)| (job, (started, open)))
        .unzip()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let patience = Patience::new(HANG);
    while !is_so() {
        assert!(patience.left().is_some(), "{what} never comes");
        thread::yield_now();
    }
}

#[test]
fn ranges_that_are_not_possible_are_refused_with_what_would_be_right() {
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let refused = [0..=4, 3..=2, 1..=1025];
    for workers in refused {
        let error = Pool::builder().workers(workers).build().unwrap_err();
        assert!(error.to_string().contains("to 1024"), "{error}");
    }
    let error = Pool::builder().ageing(Duration::ZERO).build().unwrap_err();
    assert!(error.to_string().contains("at least 1"), "{error}");
}

#[test]
fn an_elastic_pool_grows_to_its_most_and_no_further() {
    let pool = Pool::builder().workers(1..=4).build().unwrap();
    assert_eq!(pool.workers(), 1);
    let (mut jobs, held) = gates(5);
    pool.execute(&mut jobs);
    for (started, _) in &held[..4] {
        started.recv_timeout(HANG).unwrap();
    }
    assert_eq!((pool.workers(), pool.queued()), (4, 1));
    drop(held);
    pool.shutdown(HANG).unwrap();
}

#[test]
fn jobs_that_come_one_by_one_while_all_are_busy_find_a_worker() {
    let pool = Pool::builder().workers(1..=8).build().unwrap();
    let mut held = Vec::new();
    for _ in 0..8 {
        let (job, started, open) = gate();
        pool.execute(&mut vec![job]);
        // Nothing else waits meanwhile, so only the one ahead can take it.
        started
            .recv_timeout(HANG)
            .expect("the job waits for a busy worker");
        held.push(open);
    }
    drop(held);
    pool.shutdown(HANG).unwrap();
}

#[test]
fn an_elastic_pool_shrinks_to_its_least_when_idle_and_grows_again() {
    let short = Duration::from_millis(1);
    let pool = Pool::builder().workers(2..=6).keep_alive(short);
    let pool = pool.build().unwrap();
    for _ in 0..5 {
        let (mut jobs, held) = gates(6);
        pool.execute(&mut jobs);
        for (started, _) in &held {
            started.recv_timeout(HANG).unwrap();
        }
        drop(held);
        wait_for("the least", || pool.workers() == 2);
    }
    // Those that have left are not kept.
    let kept = pool.shared.floor.lock().threads.len();
    assert!(kept <= 16, "{kept} threads are remembered");
    pool.shutdown(HANG).unwrap();
}

#[test]
fn a_pool_that_breathes_all_the_time_loses_no_job() {
    let short = Duration::ZERO;
    let pool = Pool::builder().workers(1..=3).keep_alive(short);
    let (pool, counter) = (pool.build().unwrap(), Arc::new(AtomicUsize::new(0)));
    for round in 0..2_000 {
        let batch = 1 + round % 3;
        let before = counter.load(Ordering::SeqCst);
        pool.execute(&mut counting(batch, &counter));
        wait_for("the batch", || {
            counter.load(Ordering::SeqCst) == before + batch
        });
    }
    pool.shutdown(HANG).unwrap();
}

#[test]
fn workers_can_be_set_while_all_are_busy() {
    let pool = pool(2);
    let (mut jobs, held) = gates(2);
    pool.execute(&mut jobs);
    held.iter()
        .for_each(|(started, _)| started.recv_timeout(HANG).unwrap());
    let (job, started, open) = gate();
    pool.execute(&mut vec![job]);
    pool.set_workers(3).unwrap();
    started
        .recv_timeout(HANG)
        .expect("the new worker takes what waits");
    assert_eq!(pool.workers(), 3);
    pool.set_workers(1).unwrap();
    assert_eq!(pool.workers(), 3, "nothing is interrupted");
    drop((held, open));
    wait_for("one worker", || pool.workers() == 1);
    assert!(pool.set_workers(0).is_err());
    let (done, is_done) = channel();
    pool.execute(&mut vec![Job::new(move || done.send(()).unwrap())]);
    is_done.recv_timeout(HANG).unwrap();
    pool.shutdown(HANG).unwrap();
}

#[test]
fn more_than_a_block_of_workers_may_come_and_go() {
    let pool = pool(1);
    pool.set_workers(70).unwrap();
    let (mut jobs, held) = gates(70);
    pool.execute(&mut jobs);
    held.iter()
        .for_each(|(started, _)| started.recv_timeout(HANG).unwrap());
    pool.set_workers(1).unwrap();
    drop(held);
    wait_for("one worker", || pool.workers() == 1);
    pool.shutdown(HANG).unwrap();
}

#[test]
fn a_substitute_works_while_a_worker_hangs_and_leaves_when_it_is_back() {
    let (pool, counter) = (pool(1), Arc::new(AtomicUsize::new(0)));
    let (hanging, started, open) = gate();
    pool.execute(&mut vec![hanging]);
    started.recv_timeout(HANG).unwrap();
    assert!(pool.lend_substitute());
    assert!(!pool.lend_substitute(), "as many as there are workers");
    pool.execute(&mut counting(3, &counter));
    wait_for("the jobs", || counter.load(Ordering::SeqCst) == 3);
    assert_eq!(pool.workers(), 2);
    open.send(()).unwrap();
    pool.return_substitute();
    wait_for("one worker", || pool.workers() == 1);
    pool.execute(&mut counting(3, &counter));
    pool.shutdown(HANG).unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 6);
    assert!(!pool.lend_substitute(), "the pool has ended");
}

#[test]
fn without_substitutes_the_number_of_threads_is_strict() {
    let pool = Pool::builder().workers(1).replace_hung(0).build().unwrap();
    assert!(!pool.lend_substitute());
    assert_eq!(pool.workers(), 1);
}

#[test]
fn a_shutdown_waits_for_what_an_elastic_pool_has_hired() {
    for _ in 0..50 {
        let pool = Pool::builder().workers(1..=4).build().unwrap();
        let counter = Arc::new(AtomicUsize::new(0));
        pool.execute(&mut counting(40, &counter));
        pool.shutdown(HANG).unwrap();
        assert_eq!((counter.load(Ordering::SeqCst), pool.workers()), (40, 0));
    }
}
