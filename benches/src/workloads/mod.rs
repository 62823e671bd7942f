//! The work that contestants are given, one file each, and how one is run.
//!
//! A workload is a function over `C: Contestant` that sets an engine up, warms it up, does a fixed
//! amount of seeded work, checks that the engine did it, and returns a [`Sample`]. Values that fire
//! or come back go through `black_box`.

mod pair_fifo;
mod pair_random;
mod insert;
mod fire_all;
mod sparse;
mod memory;
mod threads;
mod lateness;
mod idle;
mod driver;
mod two_wheels;
mod held;
mod storm;
mod tasks;
mod slow_tasks;
#[cfg(feature = "rivals")]
mod timeouts;

use std::fmt;
use std::str::FromStr;

use crate::measure::{Sample, figure};
use crate::{Contestant, contestants};

pub use fire_all::{fill_hour, fire_tick_by_tick};
pub use insert::fill;
pub use pair_fifo::Service;
pub use pair_random::Shuffle;

/// An hour in ticks of a millisecond.
pub const HOUR_TICKS: u64 = 3_600_000;

/// How much work a cell does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// As little as still shows the order of things.
    Quick,
    /// Enough for a figure to be quoted.
    Full,
}

impl Effort {
    /// One of two amounts.
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }
}

macro_rules! workloads {
    ($($variant:ident $name:literal $unit:literal $about:literal,)*) => {
        /// A kind of work.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Workload {
            $(#[doc = $about] $variant,)*
        }

        impl Workload {
            /// All of them, in the order in which they are reported.
            pub const ALL: &'static [Workload] = &[$(Workload::$variant,)*];

            /// The name in every table.
            pub const fn name(self) -> &'static str {
                match self { $(Workload::$variant => $name,)* }
            }

            /// What one operation is, for `ns_per_op`.
            pub const fn operation(self) -> &'static str {
                match self { $(Workload::$variant => $unit,)* }
            }

            /// What it does, in a sentence.
            pub const fn about(self) -> &'static str {
                match self { $(Workload::$variant => $about,)* }
            }
        }
    };
}

workloads! {
    PairFifo "pair_fifo" "pair"
        "A 30 s timeout is set, and cancelled 1,024 operations later; driver work included.",
    PairRandom "pair_random" "pair"
        "A random one of all pending is cancelled, one with a random delay up to 1 h set instead; sweeping included.",
    Insert "insert" "insert"
        "Timers with random delays up to 1 h are set in an empty engine; the driver's part apart.",
    FireAll "fire_all" "timer fired"
        "The clock goes through an hour tick by tick until all have fired.",
    TickMax "tick_max" "call, the longest"
        "The longest single advance of such an hour.",
    Sparse "sparse" "hour"
        "An hour in which nothing is due, in one call, with all pending over an hour away.",
    Memory "memory" "timer"
        "Resident bytes per pending timer at rest, and the peak of a storm of pairs.",
    MtLocal "mt_local" "pair"
        "Threads set 30 s timeouts and cancel their own, 1,024 open each, while the driver ticks in real time.",
    MtRemote "mt_remote" "pair"
        "The same, but the next thread cancels what a thread has set.",
    MtJitter "mt_jitter" "pair"
        "As mt_local, the timeouts 30 s to 31 s.",
    TwoWheels "two_wheels" "pair"
        "mt_jitter on one wheel, and on two with a driver thread each, every thread on one of them.",
    Driver "driver" "timer placed, moved once and fired"
        "What the driver does with an entry: placing, moving to a finer level, firing; or freeing one that was cancelled.",
    Lateness "lateness" "timer"
        "10 thousand timers over 2 s of real time, against the asked instant.",
    Idle "idle" "second"
        "100 thousand timers over an hour away, left alone: wake-ups and CPU of all threads.",
    Storm "storm" "timer"
        "1 million timers due in one tick, run by a pool of workers.",
    Tasks "tasks" "task"
        "No-op tasks through the scheduler end to end; and 1 million inserted.",
    SlowTasks "slow_tasks" "task"
        "500 tasks of 80 ms at once on 16 workers.",
    Timeouts "timeouts" "future that is ready at once"
        "A 30 s limit around a future that is ready at once, around one that is pending once; and sleeps set and dropped.",
}

impl Workload {
    /// The figure by which engines are compared; the lower the better, in all of them.
    pub fn primary(self) -> &'static str {
        match self {
            Workload::Memory => figure::BYTES_PER_TIMER,
            Workload::Lateness => figure::LATE_P99,
            Workload::Idle => figure::WAKE_UPS,
            _ => figure::NS_PER_OP,
        }
    }

    /// The unit of that figure.
    pub fn unit(self) -> String {
        match self {
            Workload::Memory => "bytes a timer".to_owned(),
            Workload::Lateness => "us late at p99".to_owned(),
            Workload::Idle => "wake-ups a second".to_owned(),
            other => format!("ns a {}", other.operation()),
        }
    }

    /// Whether several threads use the engine at once.
    pub fn is_threaded(self) -> bool {
        matches!(
            self,
            Workload::MtLocal | Workload::MtRemote | Workload::MtJitter | Workload::TwoWheels
        )
    }

    /// Whether the bench must move the clock: an hour cannot be waited for.
    pub fn needs_clock_by_hand(self) -> bool {
        matches!(
            self,
            Workload::FireAll | Workload::TickMax | Workload::Sparse
        )
    }

    /// Whether it is about what runs due work, not about a timer engine.
    pub fn needs_workers(self) -> bool {
        matches!(
            self,
            Workload::Storm | Workload::Tasks | Workload::SlowTasks
        )
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Workload, String> {
        let found = Workload::ALL
            .iter()
            .find(|workload| workload.name() == name);
        found
            .copied()
            .ok_or(format!("there is no workload `{name}`"))
    }
}

/// One box of the table: what is measured, of whom, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The work.
    pub workload: Workload,
    /// The contestant's name.
    pub engine: String,
    /// Another setup of the same engine, such as a finer tick; empty for the usual one.
    pub variant: String,
    /// Threads that use the engine; its own are not counted.
    pub threads: usize,
    /// Timers that are pending, or set, or fired.
    pub pending: u64,
}

impl Cell {
    /// The engine, and the setup if it is not the usual one.
    pub fn name(&self) -> String {
        if self.variant.is_empty() {
            return self.engine.clone();
        }
        format!("{}:{}", self.engine, self.variant)
    }

    /// As one argument of a command line.
    pub fn to_argument(&self) -> String {
        let Cell {
            workload,
            engine,
            variant,
            threads,
            pending,
        } = self;
        format!("{workload},{engine},{variant},{threads},{pending}")
    }

    /// From such an argument.
    pub fn from_argument(argument: &str) -> Result<Cell, String> {
        let fields: Vec<&str> = argument.split(',').collect();
        let &[workload, engine, variant, threads, pending] = fields.as_slice() else {
            return Err(format!("`{argument}` names no cell"));
        };
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
        Ok(Cell {
            workload: workload.parse()?,
            engine: engine.to_owned(),
            variant: variant.to_owned(),
            threads: usize::try_from(number(threads)?).unwrap_or(1),
            pending: number(pending)?,
        })
    }
}

/// Runs a cell once, in this process.
pub fn run(cell: &Cell, effort: Effort) -> Result<Sample, String> {
    contestants::visit(&cell.engine, Run { cell, effort }).unwrap_or_else(|| {
        Err(format!(
            "there is no engine `{}` in this build",
            cell.engine
        ))
    })
}

struct Run<'a> {
    cell: &'a Cell,
    effort: Effort,
}

impl contestants::Visitor for Run<'_> {
    type Answer = Result<Sample, String>;

    fn visit<C: Contestant>(self) -> Result<Sample, String> {
        let Run { cell, effort } = self;
        if let Some(reason) = contestants::left_out(C::NAME, cell.workload) {
            return Err(reason.to_owned());
        }
        match cell.workload {
            Workload::PairFifo => pair_fifo::run::<C>(cell.pending, effort),
            Workload::PairRandom => pair_random::run::<C>(cell.pending, effort),
            Workload::Insert => insert::run::<C>(cell.pending),
            Workload::FireAll => fire_all::run::<C>(cell.pending),
            Workload::TickMax => fire_all::run_tick_max::<C>(cell.pending),
            Workload::Sparse => sparse::run::<C>(cell.pending),
            Workload::Memory => memory::run::<C>(cell.pending, effort),
            Workload::MtLocal | Workload::MtRemote | Workload::MtJitter => {
                threads::run::<C>(cell.workload, cell.threads, effort)
            }
            Workload::TwoWheels => two_wheels::run(cell.threads, &cell.variant, effort),
            Workload::Driver => driver::run(cell.pending),
            Workload::Lateness => lateness::run::<C>(&cell.variant, effort),
            Workload::Idle => idle::run::<C>(cell.pending),
            Workload::Storm => storm::run(C::NAME, cell.pending),
            Workload::Tasks => tasks::run(cell.pending),
            Workload::SlowTasks => slow_tasks::run(),
            #[cfg(feature = "rivals")]
            Workload::Timeouts => timeouts::run(C::NAME, cell.pending, effort),
            #[cfg(not(feature = "rivals"))]
            Workload::Timeouts => Err("is measured beside tokio only".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_is_found_by_its_name_and_by_no_other() {
        for &workload in Workload::ALL {
            assert_eq!(workload.name().parse(), Ok(workload));
        }
        assert!("pair".parse::<Workload>().is_err());
    }

    #[test]
    fn a_cell_survives_the_way_from_one_process_to_another() {
        let cell = Cell {
            workload: Workload::Lateness,
            engine: "wheel".to_owned(),
            variant: "fine_tick".to_owned(),
            threads: 2,
            pending: 10_000,
        };
        assert_eq!(Cell::from_argument(&cell.to_argument()), Ok(cell));
        assert!(Cell::from_argument("lateness,wheel").is_err());
    }
}
