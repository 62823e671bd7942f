//! One to five workers, two threads that hand batches over, and one that shuts the pool down.
//!
//! Often one worker: beside others a lost wake is made up for by whoever is awake. And often a pool that
//! grows and shrinks, whose workers leave as soon as they have nothing to do.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{Executor, Job, Pool};
use wheel_sync::thread;
use wheel_testkit::Random;

use super::ledger::Ledger;
use super::{Shutdown, wait_a_while};

const WORKERS_MAX: u64 = 3;
/// How many more an elastic pool may have.
const MORE_MAX: u64 = 2;
const SUBMITTERS: usize = 2;
const BATCHES: u64 = 40;

struct Hall {
    pool: Pool,
    ledger: Ledger,
}

impl Hall {
    /// A job, which hands over `more` others in its turn.
    fn job(self: &Arc<Hall>, more: u64) -> (u64, Job) {
        let piece = self.ledger.open();
        let id = piece.id;
        let hall = Arc::clone(self);
        let job = Job::new(move || {
            piece.run(Duration::ZERO);
            if more > 0 {
                let mut jobs = (0..more).map(|_| hall.job(0).1).collect();
                hall.pool.execute(&mut jobs);
            }
        });
        (id, job)
    }
}

/// Plays it once.
///
/// # Panics
///
/// When a job is lost, or runs twice.
pub fn play_pool(shutdown: Shutdown, mut random: Random) {
    let least = random.between(1, WORKERS_MAX);
    let workers = least as usize..=random.between(least, least + MORE_MAX) as usize;
    let pool = Pool::builder().workers(workers).keep_alive(Duration::ZERO);
    let hall = Arc::new(Hall {
        pool: pool.build().expect("a model refuses no thread"),
        ledger: Ledger::default(),
    });
    let batches = match shutdown {
        Shutdown::Quiet => BATCHES,
        Shutdown::Midway => random.between(1, BATCHES),
    };
    let submitters: Vec<_> = (0..SUBMITTERS)
        .map(|_| {
            let (hall, mut random) = (Arc::clone(&hall), Random::new(random.number()));
            thread::spawn(move || {
                let mut handed_over = BTreeSet::new();
                for _ in 0..batches {
                    let jobs = (0..random.between(1, 4)).map(|_| hall.job(random.below(2)));
                    let (ids, mut jobs): (Vec<u64>, Vec<Job>) = jobs.unzip();
                    hall.pool.execute(&mut jobs);
                    let ids = BTreeSet::from_iter(ids);
                    if shutdown == Shutdown::Quiet && random.one_in(2) {
                        // No other batch makes up for a wake that this one has lost.
                        hall.ledger.wait_for(&ids);
                    }
                    handed_over.extend(ids);
                    if random.one_in(3) {
                        thread::yield_now();
                    }
                    if random.one_in(8) {
                        // As when it hires and sends away of itself.
                        let most = random.between(1, WORKERS_MAX + MORE_MAX) as usize;
                        let set = hall.pool.set_workers(1..=most);
                        set.expect("a model refuses no thread");
                    }
                }
                handed_over
            })
        })
        .collect();
    if shutdown == Shutdown::Midway {
        wait_a_while(&mut random);
        let ended = hall.pool.shutdown(Duration::MAX);
        ended.expect("all that was handed over has run");
    }
    let mut handed_over = BTreeSet::new();
    for submitter in submitters {
        handed_over.extend(submitter.join().expect("a submitter has failed"));
    }
    if shutdown == Shutdown::Quiet {
        // The shutdown wakes everybody, so it must not come before.
        hall.ledger.wait_for(&handed_over);
        let ended = hall.pool.shutdown(Duration::MAX);
        ended.expect("all that was handed over has run");
    }
    assert_eq!(hall.pool.queued(), 0, "jobs wait for nobody");
    for (id, entry) in hall.ledger.read() {
        let ran = entry.ran_at.len();
        assert!(ran <= 1, "job {id} has run {ran} times");
        assert_eq!(entry.dropped, 1, "job {id} was kept, or dropped twice");
        // What a job hands over may find the pool closed.
        if shutdown == Shutdown::Quiet && handed_over.contains(&id) {
            assert_eq!(ran, 1, "job {id} was lost");
        }
    }
}
