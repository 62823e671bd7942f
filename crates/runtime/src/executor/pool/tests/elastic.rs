//! What a pool promises whose number of workers changes.

use super::*;

/// Says that the job has started; and opens its gate, at the latest when it is dropped.
type Held = (Receiver<()>, Sender<()>);

/// Jobs that all have to run at once.
fn gates(count: usize) -> (Vec<Job>, Vec<Held>) {
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
