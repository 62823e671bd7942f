//! The time that passes: tasks are added, something is done to them, the clock goes on, jumps, or is
//! set.

use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::{
    Context, InlineExecutor, ManualClock, Scheduler, SubmitError, TaskBuilder, TaskHandle, When,
};
use wheel_testkit::Random;

use crate::book::Book;
use crate::errands;
use crate::graphs::Graphs;
use crate::ledger::{Ledger, Notes, Temper};
use crate::plan::{At, Hands, Policies, policies, schedule};
use crate::points::{DAY, HOUR, Listed, Ms, Points, SECOND, Walls, length, ms_of, wall, wall_ms};

/// 2026-03-27T00:00:00Z: in the week from there, Berlin and Troll change their clocks.
const ORIGIN: Ms = 1_774_569_600 * SECOND;
const HANG: Duration = Duration::from_secs(60);

/// How large it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) tasks: u64,
    pub(crate) days: Ms,
}

pub(crate) struct World {
    pub(crate) hands: Hands,
    pub(crate) clock: ManualClock,
    pub(crate) scheduler: Scheduler,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) walls: Walls,
    pub(crate) listed: Listed,
    pub(crate) rng: Random,
    pub(crate) books: Vec<Book>,
    /// Numbers of tasks that may not have ended.
    pub(crate) live: Vec<usize>,
    pub(crate) graphs: Graphs,
    /// Tasks that come after another one, and what that has to come to.
    pub(crate) followers: Vec<(TaskHandle, usize, When)>,
    pub(crate) replays: u64,
    pub(crate) tally: Tally,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) stalls: u64,
    pub(crate) steps: u64,
    pub(crate) acts: u64,
}

impl World {
    pub(crate) fn new(seed: u64, size: Size, hands: Hands) -> World {
        let clock = ManualClock::starting_at(wall(ORIGIN));
        let builder = Scheduler::builder().clock(clock.clone()).seed(seed);
        let builder = builder.history(size.tasks as usize * 2).dead_letters(500);
        let builder = match hands {
            Hands::Driver => builder.executor(InlineExecutor),
            Hands::Workers => builder.workers(4),
        };
        let (scheduler, ledger) = (builder.build().unwrap(), Ledger::new(seed, clock.clone()));
        errands::register(&scheduler, &ledger);
        World {
            hands,
            clock,
            scheduler,
            ledger,
            walls: Walls::new(ORIGIN),
            listed: Listed::new(ORIGIN - 3 * DAY, ORIGIN + (size.days + 40) * DAY),
            rng: Random::new(seed),
            books: Vec::new(),
            live: Vec::new(),
            graphs: Graphs::default(),
            followers: Vec::new(),
            replays: 0,
            tally: Tally::default(),
        }
    }

    pub(crate) fn now(&self) -> Ms {
        ms_of(self.clock.now())
    }

    pub(crate) fn at(&self) -> At {
        At {
            now: self.now(),
            wall: wall_ms(self.clock.wall()),
        }
    }

    /// What is due by now has run.
    pub(crate) fn settle(&self) {
        self.clock.run_for(Duration::ZERO);
        if self.hands == Hands::Workers {
            assert!(self.scheduler.wait_idle_timeout(HANG), "runs hang");
            // What the end of a run has released is due as well.
            self.clock.run_for(Duration::ZERO);
            assert!(self.scheduler.wait_idle_timeout(HANG), "runs hang");
        }
    }

    /// All of it. Returns how the log looks.
    pub(crate) fn live_through(&mut self, size: Size) -> u64 {
        let rounds = (size.tasks / 50).max(200);
        let each = size.days * DAY / rounds as Ms;
        for round in 0..rounds {
            let until = size.tasks * (round + 1) / rounds;
            while (self.books.len() as u64) < until {
                self.add();
                if self.rng.below(200) == 0 {
                    self.add_graph();
                }
                if self.rng.below(10) == 0 {
                    self.add_follower();
                }
                self.act();
            }
            self.pass(each);
        }
        self.settle();
        self.ledger.hash()
    }

    fn add(&mut self) {
        let at = self.at();
        let number = self.books.len();
        let (schedule, era) = schedule(&mut self.rng, &mut self.listed, at);
        let notes = Notes::default();
        let task = self.scheduler.task(format!("t{number}")).schedule(schedule);
        let given = (&era, self.hands);
        let (task, mut policies) = policies(&mut self.rng, task, given, &self.ledger);
        let is_of_kind = self.rng.below(20) == 0;
        policies.is_of_kind = is_of_kind;
        let handle = match policies.is_of_kind {
            true => errands::submit(task, number as u64, (&self.ledger, &notes)),
            false => self.submit(task, number as u64, &policies, &notes),
        };
        let handle = handle.unwrap();
        self.books.push(Book::new(handle, policies, notes, era));
        self.live.push(number);
        // One by one: what is due in one tick comes in the order in which the driver learnt of it.
        self.settle();
    }

    fn add_graph(&mut self) {
        let At { now, wall } = self.at();
        let period = self.rng.between(1, 12) as Ms * HOUR;
        self.graphs
            .add(&self.scheduler, &self.ledger, (now, wall), period);
        self.settle();
    }

    fn submit(
        &self,
        task: TaskBuilder<'_>,
        number: u64,
        policies: &Policies,
        notes: &Notes,
    ) -> Result<TaskHandle, SubmitError> {
        let (ledger, notes, temper) = (Arc::clone(&self.ledger), notes.clone(), policies.temper);
        let lingers = policies.has_timeout && self.hands == Hands::Workers;
        task.run(move |run: &Context| {
            if lingers && run.run().is_multiple_of(4) {
                // Meanwhile the clock may go on, and its time be over.
                run.token().wait_timeout(Duration::from_micros(300));
            }
            ledger.attempt(number, temper, &notes, run)
        })
    }

    /// A task that comes after one that runs once.
    fn add_follower(&mut self) {
        let number = self.rng.below(self.books.len() as u64) as usize;
        let (before, book) = (number, &self.books[number]);
        if !matches!(book.era().points, Points::Once(_)) || !book.reborn.is_empty() {
            return;
        }
        let wanted = [When::Succeeded, When::Failed, When::Finished][self.rng.below(3) as usize];
        let (id, ledger) = (
            format!("f{}", self.followers.len()),
            Arc::clone(&self.ledger),
        );
        let follower = self.scheduler.task(id).depends_on(book.handle.id(), wanted);
        let number = 1_000_000_000 + self.followers.len() as u64;
        let (notes, fails) = (Notes::default(), Arc::clone(&self.ledger));
        let follower = follower.on_failure(move |_| fails.count_failure());
        let handler = move |run: &Context| ledger.attempt(number, Temper::Steady, &notes, run);
        self.followers
            .push((follower.run(handler).unwrap(), before, wanted));
        self.settle();
    }

    /// Time goes on, jumps, or the wall clock is set.
    fn pass(&mut self, each: Ms) {
        let rng = &mut self.rng;
        match rng.below(24) {
            0 | 1 => {
                self.tally.stalls += 1;
                self.clock.advance(length(each * rng.between(1, 2) as Ms));
            }
            2 => {
                self.tally.steps += 1;
                // After what was done last; never further than three hours from where it would be.
                self.clock.run_for(length(1));
                let off = rng.below(6 * 3_600) as Ms * SECOND - 3 * HOUR;
                let (now, to) = (ms_of(self.clock.now()), ORIGIN + off);
                self.walls.set(now, to + now);
                self.clock.set_wall(wall(to + now));
            }
            _ => {}
        }
        self.settle();
        let pieces = if self.hands == Hands::Workers { 20 } else { 1 };
        for _ in 0..pieces {
            self.clock.run_for(length(each / pieces));
        }
        // What is done by hand is done at instants that no schedule names.
        self.clock.run_for(length(1 + self.rng.below(7) as Ms));
        self.settle();
    }
}
