//! What waits for a worker: an inbound channel that anyone fills, and behind it what is in order
//! (`order.rs`), which only workers touch.
//!
//! ```text
//!  driver --send--> [ inbound channel ] --any worker, under the lock--> [ ready, in order ] --> run
//! ```
//!
//! Ground rules: `push` never takes the lock of what is ready, so a worker that is preempted while it
//! sorts ten thousand jobs delays other workers, never the driver. Workers never block *in* the
//! channel either: a sleeping receiver would make the sender take the channel's lock of sleepers.
//! They sleep in `sleepers.rs`.
//!
//! The counters are Relaxed throughout: they are numbers for people and for thresholds. [O74]
//! The channel and the lock hand the jobs over.

use std::time::Duration;

use wheel_sync::atomic::Ordering;
use wheel_sync::channel::{Receiver, Sender, unbounded};
use wheel_sync::counting::AtomicUsize;
use wheel_sync::{CachePadded, Mutex};

use super::order::Ordered;
use crate::executor::Job;

pub(crate) struct Queue {
    inbound: Sender<Batch>,
    outbound: Receiver<Batch>,
    ready: CachePadded<Mutex<Ordered>>,
    /// Jobs that came, ever. Counted before they are sent.
    came: AtomicUsize,
    /// Jobs that went. Written under the lock only.
    went: AtomicUsize,
    /// Jobs that have become void since the last sweep; those that a worker has met meanwhile are
    /// counted too.
    void: AtomicUsize,
    /// What waits beyond so many is dropped, the oldest of the lowest class first.
    kept_max: usize,
    /// How many were.
    displaced: AtomicUsize,
}

/// One hand-over. A single job needs no vector of its own.
enum Batch {
    One(Job),
    Many(Vec<Job>),
}

/// A job, and whether another one waits behind it.
pub(crate) struct Taken {
    pub(crate) job: Job,
    pub(crate) more: bool,
}

impl Queue {
    /// In the order of `order.rs`, with this ageing period.
    pub(crate) fn new(ageing: Duration) -> Queue {
        let (inbound, outbound) = unbounded();
        Queue {
            inbound,
            outbound,
            ready: CachePadded::new(Mutex::new(Ordered::new(ageing))),
            came: AtomicUsize::new(0),
            went: AtomicUsize::new(0),
            void: AtomicUsize::new(0),
            kept_max: usize::MAX,
            displaced: AtomicUsize::new(0),
        }
    }

    /// Keeps so many at most: the rest is dropped by the next worker that comes.
    pub(crate) fn keeping(mut self, max: usize) -> Queue {
        self.kept_max = max;
        self
    }

    /// How many jobs were dropped for others.
    pub(crate) fn displaced(&self) -> usize {
        self.displaced.load(Ordering::Relaxed)
    }

    /// Puts all of `jobs` into the queue as one batch. Does not block.
    pub(crate) fn push(&self, jobs: &mut Vec<Job>) {
        let count = jobs.len();
        self.came.fetch_add(count, Ordering::Relaxed);
        let batch = match count {
            0 => return,
            1 => Batch::One(jobs.swap_remove(0)),
            _ => Batch::Many(std::mem::take(jobs)),
        };
        if self.inbound.send(batch).is_err() {
            unreachable!("the queue holds both ends of its channel");
        }
    }

    /// The job that goes first. Workers only: takes their lock.
    pub(crate) fn take(&self) -> Option<Taken> {
        let mut ready = self.ready.lock();
        // Spares the fence of a receive where nothing came, which is most of the time.
        if !self.outbound.is_empty() {
            self.pull(&mut ready);
        }
        let over = ready.len().saturating_sub(self.kept_max);
        let displaced = self.displace(&mut ready, over);
        let job = ready.pop()?;
        self.count_gone(1);
        let taken = Taken {
            job,
            more: !ready.is_empty(),
        };
        drop(ready);
        // Outside of the lock: it tells their tasks.
        drop(displaced);
        Some(taken)
    }

    fn displace(&self, ready: &mut Ordered, over: usize) -> Vec<Job> {
        if over == 0 {
            return Vec::new();
        }
        let displaced: Vec<Job> = (0..over).map_while(|_| ready.pop_oldest()).collect();
        self.count_gone(displaced.len());
        self.displaced.fetch_add(displaced.len(), Ordering::Relaxed);
        displaced
    }

    /// Whether something waits. Workers only, before they sleep.
    pub(crate) fn has_work(&self) -> bool {
        !self.outbound.is_empty() || !self.ready.lock().is_empty()
    }

    /// Takes out all that waits, to be dropped by the caller (who holds no lock then).
    pub(crate) fn take_all(&self) -> Vec<Job> {
        let mut ready = self.ready.lock();
        self.pull(&mut ready);
        let jobs = ready.take_unless(|_| false);
        self.count_gone(jobs.len());
        jobs
    }

    /// One of the jobs has become void. When those may be half of all, they are dropped: so what is
    /// queued and cancelled again and again takes no more room while every worker is busy. Not for
    /// the driver: may take the workers' lock.
    pub(crate) fn note_void(&self) {
        const FEW: usize = 1024;
        let void = self.void.fetch_add(1, Ordering::Relaxed) + 1;
        if void < FEW || void < self.len() / 2 {
            return;
        }
        self.void.store(0, Ordering::Relaxed);
        let mut ready = self.ready.lock();
        self.pull(&mut ready);
        let void = ready.take_unless(|job| !job.is_void());
        self.count_gone(void.len());
        // Their drop is the business of others, so it happens outside of the lock.
        drop(ready);
        drop(void);
    }

    /// When the job was due that was due first. Not for the driver: takes the workers' lock.
    pub(crate) fn oldest_due_ns(&self) -> Option<u64> {
        let mut ready = self.ready.lock();
        self.pull(&mut ready);
        ready.oldest_due_ns()
    }

    pub(crate) fn len(&self) -> usize {
        let went = self.went.load(Ordering::Relaxed);
        self.came.load(Ordering::Relaxed).saturating_sub(went)
    }

    /// So many jobs were taken out. Under the lock, so no read-modify-write is needed.
    fn count_gone(&self, jobs: usize) {
        let went = self.went.load(Ordering::Relaxed);
        self.went.store(went.wrapping_add(jobs), Ordering::Relaxed);
    }

    fn pull(&self, ready: &mut Ordered) {
        for batch in self.outbound.try_iter() {
            match batch {
                Batch::One(job) => ready.add(job),
                Batch::Many(jobs) => ready.add_batch(jobs),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Work;
    use wheel_sync::Arc;

    /// Dues in milliseconds.
    fn run_order(batches: Vec<Vec<u64>>) -> Vec<(u64, usize)> {
        let queue = Queue::new(Duration::MAX);
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut number = 0;
        for batch in batches {
            let mut jobs = Vec::new();
            for due in batch {
                let (order, n) = (order.clone(), number);
                number += 1;
                let job = move || order.lock().push((due, n));
                jobs.push(Job::due_at(due * 1_000_000, job));
            }
            queue.push(&mut jobs);
            assert!(jobs.is_empty());
        }
        assert_eq!(queue.len(), number);
        while let Some(taken) = queue.take() {
            assert_eq!(taken.more, queue.has_work());
            taken.job.run();
        }
        assert_eq!(queue.len(), 0);
        Arc::into_inner(order).unwrap().into_inner()
    }

    #[test] // OF-02
    fn what_was_due_first_goes_first_whenever_it_arrived() {
        assert_eq!(
            run_order(vec![vec![20], vec![10, 30], vec![15]]),
            [(10, 1), (15, 3), (20, 0), (30, 2)]
        );
    }

    #[test]
    fn of_the_same_due_the_first_to_arrive_goes_first() {
        let order = run_order(vec![vec![7, 7], vec![7; 50], vec![7]]);
        assert!(order.is_sorted(), "{order:?}");
    }

    struct Cancelled(Arc<AtomicUsize>);
    impl Work for Cancelled {
        fn run(self: Box<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn is_void(&self) -> bool {
            true
        }
    }

    #[test]
    fn what_is_queued_and_cancelled_again_and_again_takes_no_more_room() {
        let (queue, ran) = (Queue::new(Duration::MAX), Arc::new(AtomicUsize::new(0)));
        for _ in 0..3_000 {
            queue.push(&mut vec![Job::new(|| ())]);
        }
        for _ in 0..20_000 {
            queue.push(&mut vec![Job::due_at(7, Cancelled(ran.clone()))]);
            queue.note_void();
        }
        assert!(
            queue.len() <= 2 * 3_000 + 1_024,
            "{} are queued",
            queue.len()
        );
        let mut left = 0;
        while let Some(taken) = queue.take() {
            left += usize::from(!taken.job.is_void());
        }
        assert_eq!(left, 3_000);
    }

    #[test]
    fn taking_all_leaves_nothing() {
        let queue = Queue::new(Duration::MAX);
        queue.push(&mut vec![Job::new(|| ()), Job::new(|| ())]);
        queue.push(&mut vec![Job::new(|| ())]);
        assert_eq!(queue.take_all().len(), 3);
        assert!(!queue.has_work());
        assert_eq!(queue.len(), 0);
        assert!(queue.take().is_none());
    }
}
