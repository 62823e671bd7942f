//! What waits for a worker: an inbound channel that anyone fills, and behind it an ordered heap
//! that only workers touch.
//!
//! ```text
//!  driver --send--> [ inbound channel ] --any worker, under the lock--> [ ready heap ] --> run
//! ```
//!
//! Ground rules: `push` never takes the lock of the heap, so a worker that is preempted while it
//! sorts ten thousand jobs delays other workers, never the driver. Workers never block *in* the
//! channel either: a sleeping receiver would make the sender take the channel's lock of sleepers.
//! They sleep in `sleepers.rs`.
//!
//! The two counters are Relaxed throughout: they are numbers for people and for thresholds. [O74]
//! The channel and the lock hand the jobs over.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;

use wheel_sync::Mutex;
use wheel_sync::atomic::Ordering;
use wheel_sync::channel::{Receiver, Sender, unbounded};
use wheel_sync::counting::AtomicUsize;

use crate::executor::Job;

pub(crate) struct Queue {
    inbound: Sender<Batch>,
    outbound: Receiver<Batch>,
    ready: Mutex<Ready>,
    /// Jobs in the channel and in the heap. Counted before they are sent, so it never lags behind.
    queued: AtomicUsize,
    /// Jobs that have become void since the last sweep; those that a worker has met meanwhile are
    /// counted too.
    void: AtomicUsize,
}

/// One hand-over. A single job needs no vector of its own.
enum Batch {
    One(Job),
    Many(Vec<Job>),
}

#[derive(Default)]
struct Ready {
    heap: BinaryHeap<Waiting>,
    arrivals: u64,
}

struct Waiting {
    job: Job,
    /// Breaks ties: first come, first served.
    arrival: u64,
}

/// A job, and whether another one waits behind it.
pub(crate) struct Taken {
    pub(crate) job: Job,
    pub(crate) more: bool,
}

impl Queue {
    pub(crate) fn new() -> Queue {
        let (inbound, outbound) = unbounded();
        Queue {
            inbound,
            outbound,
            ready: Mutex::new(Ready::default()),
            queued: AtomicUsize::new(0),
            void: AtomicUsize::new(0),
        }
    }

    /// Puts all of `jobs` into the queue as one batch. Does not block.
    pub(crate) fn push(&self, jobs: &mut Vec<Job>) {
        let count = jobs.len();
        self.queued.fetch_add(count, Ordering::Relaxed);
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
        self.pull(&mut ready);
        let job = ready.heap.pop()?.job;
        ready.give_back_memory();
        self.queued.fetch_sub(1, Ordering::Relaxed);
        Some(Taken {
            job,
            more: !ready.heap.is_empty(),
        })
    }

    /// Whether something waits. Workers only, before they sleep.
    pub(crate) fn has_work(&self) -> bool {
        !self.outbound.is_empty() || !self.ready.lock().heap.is_empty()
    }

    /// Takes out all that waits, to be dropped by the caller (who holds no lock then).
    pub(crate) fn take_all(&self) -> Vec<Job> {
        let mut ready = self.ready.lock();
        self.pull(&mut ready);
        let jobs: Vec<Job> = std::mem::take(&mut ready.heap)
            .into_iter()
            .map(|waiting| waiting.job)
            .collect();
        self.queued.fetch_sub(jobs.len(), Ordering::Relaxed);
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
        let all = std::mem::take(&mut ready.heap).into_vec();
        let (void, wanted): (Vec<_>, Vec<_>) = all.into_iter().partition(|w| w.job.is_void());
        ready.heap = wanted.into();
        self.queued.fetch_sub(void.len(), Ordering::Relaxed);
        // Their drop is the business of others, so it happens outside of the lock.
        drop(ready);
        drop(void);
    }

    pub(crate) fn len(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    fn pull(&self, ready: &mut Ready) {
        for batch in self.outbound.try_iter() {
            match batch {
                Batch::One(job) => ready.add(job),
                Batch::Many(jobs) => jobs.into_iter().for_each(|job| ready.add(job)),
            }
        }
    }
}

impl Ready {
    fn add(&mut self, job: Job) {
        let arrival = self.arrivals;
        self.arrivals += 1;
        self.heap.push(Waiting { job, arrival });
    }

    /// After a burst the heap does not keep the room that the burst took.
    fn give_back_memory(&mut self) {
        const KEPT: usize = 4096;
        if self.heap.is_empty() && self.heap.capacity() > KEPT {
            self.heap = BinaryHeap::new();
        }
    }
}

/// `BinaryHeap` pops the greatest, so the greatest is the one that goes first.
impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Order {
        let key = |w: &Waiting| (w.job.rank(), w.arrival);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Work;
    use wheel_sync::Arc;

    fn run_order(batches: Vec<Vec<u64>>) -> Vec<(u64, usize)> {
        let queue = Queue::new();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut number = 0;
        for batch in batches {
            let mut jobs = Vec::new();
            for due in batch {
                let (order, n) = (order.clone(), number);
                number += 1;
                jobs.push(Job::due_at(due, move || order.lock().push((due, n))));
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
        let (queue, ran) = (Queue::new(), Arc::new(AtomicUsize::new(0)));
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
        let queue = Queue::new();
        queue.push(&mut vec![Job::new(|| ()), Job::new(|| ())]);
        queue.push(&mut vec![Job::new(|| ())]);
        assert_eq!(queue.take_all().len(), 3);
        assert!(!queue.has_work());
        assert_eq!(queue.len(), 0);
        assert!(queue.take().is_none());
    }
}
