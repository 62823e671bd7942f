//! What waits for a worker, in the order in which it goes: class by class with ageing, and in a
//! class what was due first.
//!
//! A job gains a class for each ageing period that it has waited. That goes on by itself: of two
//! jobs the one whose `start of waiting - class * period` is less goes first, now and later, so
//! nothing is moved from class to class. The rank decides between the first jobs of the classes
//! only; within a class due decides, so that order never depends on when something was found.
//!
//! Waiting begins when the driver finds a job due, and not at its due: an hour in which the process
//! stood still ages nothing, and an instant of the past is no higher class.
//!
//! Due is compared by the millisecond. Within one, jobs that were handed over together go in the
//! exact order of their dues, and else first come, first served. A driver hands over in order of
//! ticks, and a millisecond is a whole number of those. So what comes is as a rule not due before
//! what came last, and a queue is all that it takes:
//!
//! ```text
//!  due:  7 7 8 8 9 9 9 12   <- in order: pushed behind, taken from the front
//!  due:  8 11               <- early: due before the last one in order when they came; a heap
//! ```
//!
//! A job that goes first is the first of one of the two. A million jobs of one tick cost a push and
//! a pop each, where a heap of a million costs twenty steps through memory.

use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use crate::executor::Job;
use crate::policy::Priority;
use crate::ranked::Ranked;

/// In nanoseconds, as dues are.
const GRAIN: u64 = 1_000_000;
const CLASSES: usize = Priority::High as usize + 1;
/// How much room stays after a burst.
const KEPT: usize = 4096;

/// The jobs of all classes.
pub(super) struct Ordered {
    classes: [Lane; CLASSES],
    /// Which of them are not empty, a bit each.
    occupied: u8,
    /// How long a job waits for each class that it gains; in nanoseconds.
    ageing_ns: u64,
    len: usize,
    arrivals: u64,
}

/// The jobs of one class.
#[derive(Default)]
struct Lane {
    in_order: VecDeque<Waiting>,
    early: BinaryHeap<Waiting>,
}

/// By the millisecond that it was due in, and of one millisecond first come, first served.
type Waiting = Ranked<(u64, u64), Job>;

impl Ordered {
    pub(super) fn new(ageing: Duration) -> Ordered {
        Ordered {
            classes: Default::default(),
            occupied: 0,
            ageing_ns: u64::try_from(ageing.as_nanos()).unwrap_or(u64::MAX),
            len: 0,
            arrivals: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds jobs that were handed over together.
    pub(super) fn add_batch(&mut self, mut jobs: Vec<Job>) {
        // Costs next to nothing where they are in order, or in the opposite one.
        jobs.sort_by_key(Job::due_ns);
        jobs.into_iter().for_each(|job| self.add(job));
    }

    pub(super) fn add(&mut self, job: Job) {
        let rank = (grain(&job), self.arrivals);
        self.arrivals += 1;
        self.len += 1;
        let class = job.priority() as usize;
        self.occupied |= 1 << class;
        self.classes[class].add(Ranked { rank, value: job });
    }

    /// Takes the job that goes first.
    pub(super) fn pop(&mut self) -> Option<Job> {
        let class = self.goes_first()?;
        Some(self.pop_of(class))
    }

    /// Takes the job that was due first of the lowest class.
    pub(super) fn pop_oldest(&mut self) -> Option<Job> {
        (self.occupied != 0).then(|| self.pop_of(self.occupied.trailing_zeros() as usize))
    }

    fn pop_of(&mut self, class: usize) -> Job {
        let lane = &mut self.classes[class];
        let job = lane.pop().expect("a class with its bit is not empty");
        if lane.is_empty() {
            self.occupied &= !(1 << class);
        }
        self.len -= 1;
        job
    }

    /// When the job was due that was due first; to the millisecond, by its order. What has no due, or
    /// is void, does not count, as far as some looks into each lane can tell.
    pub(super) fn oldest_due_ns(&self) -> Option<u64> {
        const LOOKS: usize = 256;
        let waits = |waiting: &&Waiting| waiting.value.due_ns() != 0 && !waiting.value.is_void();
        let oldest = |lane: &Lane| {
            let in_order = lane.in_order.iter().take(LOOKS).find(waits);
            let peeked = lane.early.peek().filter(waits);
            let early = peeked.or_else(|| lane.early.iter().filter(waits).max());
            let dues = [in_order, early].into_iter().flatten();
            dues.map(|waiting| waiting.value.due_ns()).min()
        };
        self.classes.iter().filter_map(oldest).min()
    }

    /// The class whose first job goes first of all.
    fn goes_first(&self) -> Option<usize> {
        let highest = self.occupied.checked_ilog2()? as usize;
        if self.occupied == 1 << highest {
            return Some(highest);
        }
        let waits = (0..=highest).rev().filter_map(|class| {
            let first = self.classes[class].first()?;
            let since = first.waits_since_ns();
            Some((first.priority().rank_of_wait(since, self.ageing_ns), class))
        });
        // Of equal ranks the first one stays, which is the higher class.
        let first = waits.min_by_key(|&(rank, _)| rank);
        first.map(|(_, class)| class)
    }

    /// Takes out what `is_wanted` says no to.
    pub(super) fn take_unless(&mut self, is_wanted: impl Fn(&Job) -> bool) -> Vec<Job> {
        let is_wanted = |waiting: &Waiting| is_wanted(&waiting.value);
        let mut taken = Vec::new();
        for (class, lane) in self.classes.iter_mut().enumerate() {
            let early = std::mem::take(&mut lane.early).into_vec();
            let (wanted, unwanted): (Vec<_>, Vec<_>) = early.into_iter().partition(is_wanted);
            lane.early = wanted.into();
            taken.extend(unwanted.into_iter().map(|waiting| waiting.value));
            let in_order = std::mem::take(&mut lane.in_order);
            let (wanted, unwanted): (VecDeque<_>, VecDeque<_>) =
                in_order.into_iter().partition(is_wanted);
            lane.in_order = wanted;
            taken.extend(unwanted.into_iter().map(|waiting| waiting.value));
            if lane.is_empty() {
                self.occupied &= !(1 << class);
            }
        }
        self.len -= taken.len();
        taken
    }
}

impl Lane {
    fn add(&mut self, waiting: Waiting) {
        match self.in_order.back() {
            Some(last) if waiting.rank.0 < last.rank.0 => self.early.push(waiting),
            _ => self.in_order.push_back(waiting),
        }
    }

    fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.early.is_empty()
    }

    /// Whether the job that goes first is one of those that came early.
    fn first_is_early(&self) -> bool {
        match (self.early.peek(), self.in_order.front()) {
            (Some(early), Some(first)) => early > first,
            (early, _) => early.is_some(),
        }
    }

    fn first(&self) -> Option<&Job> {
        let first = if self.first_is_early() {
            self.early.peek()
        } else {
            self.in_order.front()
        };
        first.map(|waiting| &waiting.value)
    }

    fn pop(&mut self) -> Option<Job> {
        let taken = if self.first_is_early() {
            self.early.pop()
        } else {
            self.in_order.pop_front()
        };
        self.give_back_memory();
        taken.map(|waiting| waiting.value)
    }

    fn give_back_memory(&mut self) {
        if self.in_order.is_empty() && self.in_order.capacity() > KEPT {
            self.in_order = VecDeque::new();
        }
        if self.early.is_empty() && self.early.capacity() > KEPT {
            self.early = BinaryHeap::new();
        }
    }
}

/// The millisecond that a job was due in. A due of its own millisecond is of that one, like what is
/// rounded up to it.
fn grain(job: &Job) -> u64 {
    job.due_ns().div_ceil(GRAIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_sync::{Arc, Mutex};

    /// Adds jobs of these classes and dues, batch by batch, and returns the numbers of the jobs as
    /// they go.
    fn order_of(batches: &[&[(Priority, u64)]]) -> Vec<usize> {
        order_with(Duration::from_secs(1), batches)
    }

    fn order_with(ageing: Duration, batches: &[&[(Priority, u64)]]) -> Vec<usize> {
        let (mut ordered, went) = (Ordered::new(ageing), Arc::new(Mutex::new(Vec::new())));
        let mut number = 0;
        for batch in batches {
            let jobs = batch.iter().map(|&(class, due_ns)| {
                let (went, n) = (went.clone(), number);
                number += 1;
                Job::due_at(due_ns, move || went.lock().push(n)).of_class(class)
            });
            ordered.add_batch(jobs.collect());
        }
        while let Some(job) = ordered.pop() {
            job.run();
        }
        assert!(ordered.is_empty());
        Arc::into_inner(went).unwrap().into_inner()
    }

    const MS: u64 = GRAIN;

    #[test]
    fn a_higher_class_goes_first_whatever_is_due() {
        use Priority::{High, Low, Normal};
        let order = order_of(&[&[(Low, MS), (Normal, 2 * MS)], &[(High, 9 * MS), (Low, 0)]]);
        assert_eq!(order, [2, 1, 3, 0]);
    }

    #[test]
    fn what_waits_gains_a_class_with_each_period_to_the_nanosecond() {
        use Priority::{High, Low, Normal};
        let ageing = Duration::from_millis(10);
        let gains = |low: u64, high: u64| order_with(ageing, &[&[(Low, low), (High, high)]])[0];
        assert_eq!(gains(0, 20 * MS), 1, "of equal ranks the higher class");
        assert_eq!(gains(0, 20 * MS + 1), 0);
        let order = [(Low, 0), (Normal, 9 * MS), (High, 20 * MS), (Low, 1)];
        assert_eq!(order_with(ageing, &[&order]), [1, 2, 0, 3]);
    }

    #[test]
    fn without_ageing_classes_are_strict_at_both_ends_of_time() {
        use Priority::{High, Low, Normal};
        let jobs = [(Low, 0), (Normal, 0), (High, u64::MAX), (Normal, u64::MAX)];
        let order = order_with(Duration::MAX, &[&jobs]);
        assert_eq!(order, [2, 1, 3, 0]);
    }

    #[test]
    fn what_was_found_late_has_not_waited_meanwhile() {
        use Priority::{High, Low};
        let mut ordered = Ordered::new(Duration::from_secs(1));
        let hour = 3_600_000 * MS;
        ordered.add(Job::due_at(0, || ()).of_class(Low).found_at(hour));
        ordered.add(Job::due_at(hour, || ()).of_class(High).found_at(hour));
        let first = ordered.pop().unwrap();
        assert_eq!(first.priority(), High);
    }

    #[test]
    fn the_oldest_is_of_the_lowest_class() {
        use Priority::{High, Low, Normal};
        let mut ordered = Ordered::new(Duration::MAX);
        assert!(ordered.pop_oldest().is_none());
        for (class, due) in [(High, 1), (Normal, 2), (Low, 4), (Low, 3)] {
            ordered.add(Job::due_at(due * MS, || ()).of_class(class));
        }
        let dues = std::iter::from_fn(|| ordered.pop_oldest()).map(|job| job.due_ns() / MS);
        assert_eq!(dues.collect::<Vec<_>>(), [3, 4, 2, 1]);
        assert!(ordered.is_empty());
    }

    #[test]
    fn what_was_handed_over_together_goes_in_the_exact_order_of_dues() {
        let due = |ns| (Priority::Normal, ns);
        assert_eq!(order_of(&[&[due(3), due(1), due(2), due(1)]]), [1, 3, 2, 0]);
    }

    #[test]
    fn of_one_millisecond_the_batch_that_came_first_goes_first() {
        let due = |ns| (Priority::Normal, ns);
        // What is due on the millisecond is of the one that ends there.
        let order = order_of(&[
            &[due(5 * MS - 1), due(7 * MS)],
            &[due(4 * MS + 1), due(5 * MS)],
        ]);
        assert_eq!(order, [0, 2, 3, 1]);
    }

    #[test]
    fn any_batches_go_as_a_stable_sort_by_milliseconds_has_them() {
        // Dues from a generator of Lehmer's, some hundred of them within 40 ms.
        let mut seed = 7u64;
        let mut next = || {
            seed = seed * 48_271 % 0x7fff_ffff;
            seed % 40 * MS
        };
        let batches: Vec<Vec<_>> = (1..30)
            .map(|size| (0..size).map(|_| (Priority::Normal, next())).collect())
            .collect();
        let mut expected: Vec<(u64, usize, usize)> = Vec::new();
        for (batch, jobs) in batches.iter().enumerate() {
            for &(_, due) in jobs {
                expected.push((due, batch, expected.len()));
            }
        }
        expected.sort_unstable();
        let expected: Vec<usize> = expected.into_iter().map(|(_, _, n)| n).collect();
        let batches: Vec<&[_]> = batches.iter().map(Vec::as_slice).collect();
        assert_eq!(order_of(&batches), expected);
    }

    #[test]
    fn what_is_taken_out_leaves_the_others_in_order() {
        let mut ordered = Ordered::new(Duration::MAX);
        for due in [5, 3, 5, 4, 9] {
            ordered.add(Job::due_at(due * MS, || ()));
        }
        let taken = ordered.take_unless(|job| job.due_ns() != 5 * MS);
        assert_eq!(taken.len(), 2);
        let left = std::iter::from_fn(|| ordered.pop());
        assert_eq!(
            left.map(|job| job.due_ns() / MS).collect::<Vec<_>>(),
            [3, 4, 9]
        );
        assert!(ordered.is_empty());
    }
}
