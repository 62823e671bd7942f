//! What a run consists of: which cells, in which groups, and who is left out and why. Pure.

use crate::Workload;
use crate::contestants::{ALL, left_out};
use crate::workloads::{Cell, Effort};

/// Whom ours are measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rivals {
    /// Everyone this build has.
    All,
    /// The heap alone.
    Heap,
}

/// Which cells there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The least that shows the order of things.
    Quick,
    /// Everything.
    Full,
    /// What `docs/SCALING.md` rests on, of the wheel alone, with the work of a full run.
    Scaling,
}

impl Scope {
    /// How much work each cell does.
    pub fn effort(self) -> Effort {
        match self {
            Scope::Quick => Effort::Quick,
            Scope::Full | Scope::Scaling => Effort::Full,
        }
    }

    fn lines(self) -> &'static [Line] {
        match self {
            Scope::Quick => QUICK,
            Scope::Full => FULL,
            Scope::Scaling => SCALING,
        }
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Which cells.
    pub scope: Scope,
    /// Against whom.
    pub rivals: Rivals,
    /// Only cells whose label contains this.
    pub only: Option<String>,
}

/// Cells that are compared with each other: the same work, the same size.
#[derive(Clone, Debug)]
pub struct Group {
    /// The work.
    pub workload: Workload,
    /// Timers.
    pub pending: u64,
    /// Threads that use the engine.
    pub threads: usize,
    /// One for each contestant, in the order of the tables.
    pub cells: Vec<Cell>,
    /// How often each is run.
    pub rounds: usize,
}

/// A contestant that does not take part in a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The work.
    pub workload: Workload,
    /// The contestant.
    pub engine: String,
    /// In words.
    pub reason: String,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In the order in which they are run.
    pub groups: Vec<Group>,
    /// In the order of the tables.
    pub left_out: Vec<LeftOut>,
}

const OURS_AND_HEAP: &[&str] = &["wheel", "local_wheel", "heap"];
/// Those that a run of ten million is worth its time for.
const AT_TEN_MILLION: &[&str] = &["wheel", "local_wheel", "heap", "tokio"];
const TEN_MILLION: u64 = 10_000_000;
const MILLION: u64 = 1_000_000;

/// Sizes, threads and contestants of a workload; `None` for everyone.
type Line = (
    Workload,
    &'static [u64],
    &'static [usize],
    Option<&'static [&'static str]>,
);

const ONE: &[usize] = &[1];
const SIZES: &[u64] = &[1_000, 100_000, MILLION, TEN_MILLION];

const QUICK: &[Line] = &[
    (Workload::PairFifo, &[100_000], ONE, None),
    (Workload::PairRandom, &[MILLION], ONE, Some(OURS_AND_HEAP)),
    (Workload::Insert, &[MILLION], ONE, Some(OURS_AND_HEAP)),
    (Workload::FireAll, &[MILLION], ONE, Some(OURS_AND_HEAP)),
    (Workload::TickMax, &[MILLION], ONE, Some(OURS_AND_HEAP)),
    (Workload::Memory, &[MILLION], ONE, Some(OURS_AND_HEAP)),
    (Workload::MtLocal, &[2 * 1024], &[2], None),
    (Workload::MtRemote, &[2 * 1024], &[2], None),
];

const FULL: &[Line] = &[
    (Workload::PairFifo, SIZES, ONE, None),
    (Workload::PairRandom, SIZES, ONE, None),
    (Workload::Insert, SIZES, ONE, None),
    (Workload::FireAll, SIZES, ONE, None),
    (Workload::TickMax, SIZES, ONE, None),
    (Workload::Sparse, &[100_000], ONE, None),
    (
        Workload::Memory,
        &[100_000, MILLION, TEN_MILLION],
        ONE,
        None,
    ),
    (Workload::MtLocal, &[0], &[1, 2, 4, 8], None),
    (Workload::MtRemote, &[0], &[2, 4, 8], None),
    (Workload::MtJitter, &[0], &[1, 2, 4, 8], None),
    (Workload::TwoWheels, &[0], &[2, 4], None),
    (Workload::Driver, &[MILLION, TEN_MILLION], ONE, None),
    (Workload::Lateness, &[10_000], ONE, None),
    (Workload::Idle, &[100_000], ONE, None),
    (Workload::Storm, &[MILLION], ONE, None),
    (Workload::Tasks, &[MILLION], ONE, None),
    (Workload::SlowTasks, &[500], ONE, None),
    (Workload::Timeouts, &[100_000], ONE, None),
];

const SCALING: &[Line] = &[
    (
        Workload::Driver,
        &[MILLION, TEN_MILLION],
        ONE,
        Some(WHEEL_ALONE),
    ),
    (
        Workload::PairFifo,
        &[1_000, TEN_MILLION],
        ONE,
        Some(WHEEL_ALONE),
    ),
    (Workload::Memory, &[TEN_MILLION], ONE, Some(WHEEL_ALONE)),
    (Workload::MtLocal, &[0], &[1, 2], Some(WHEEL_ALONE)),
    (Workload::MtJitter, &[0], &[1, 2], Some(WHEEL_ALONE)),
    (Workload::TwoWheels, &[0], &[2, 4], Some(WHEEL_ALONE)),
];
const WHEEL_ALONE: &[&str] = &["wheel"];

/// Other setups of the wheel that take part.
fn variants(workload: Workload) -> &'static [&'static str] {
    match workload {
        Workload::Lateness => &["fine_tick", "precise_wait"],
        Workload::TwoWheels => &["two"],
        _ => &[],
    }
}

fn rounds(effort: Effort, workload: Workload, pending: u64) -> usize {
    let cheap = matches!(workload, Workload::PairFifo | Workload::Insert);
    match effort {
        Effort::Full if cheap && pending < TEN_MILLION => 5,
        _ => 3,
    }
}

/// Plans a run of the engines that this build has.
pub fn plan(choice: &Choice) -> Plan {
    let mut plan = Plan::default();
    for &(workload, sizes, threads, some) in choice.scope.lines() {
        let engines = ALL.iter().copied().filter(|name| {
            crate::contestants::describe(name).is_some()
                && some.is_none_or(|some| some.contains(name))
                && (choice.rivals == Rivals::All || OURS_AND_HEAP.contains(name))
        });
        let (out, engines): (Vec<&str>, Vec<&str>) =
            engines.partition(|name| left_out(name, workload).is_some());
        let asked = |engine: &str| {
            let only = choice.only.as_deref();
            only.is_none_or(|only| format!("{workload}/{engine}").contains(only))
        };
        plan.left_out.extend(
            out.into_iter()
                .filter(|name| asked(name))
                .map(|name| LeftOut {
                    workload,
                    engine: name.to_owned(),
                    reason: left_out(name, workload).unwrap_or_default().to_owned(),
                }),
        );
        for &pending in sizes {
            for &threads in threads {
                let mut group = group(choice, workload, pending, threads, &engines);
                group.cells.retain(|cell| asked(&cell.name()));
                if !group.cells.is_empty() {
                    plan.groups.push(group);
                }
            }
        }
        if sizes.contains(&TEN_MILLION) {
            let not = engines.iter().filter(|name| !AT_TEN_MILLION.contains(name));
            plan.left_out
                .extend(not.filter(|name| asked(name)).map(|name| LeftOut {
                    workload,
                    engine: (*name).to_owned(),
                    reason: "at 10 million only: the run would take too long".to_owned(),
                }));
        }
    }
    plan
}

fn group(
    choice: &Choice,
    workload: Workload,
    pending: u64,
    threads: usize,
    engines: &[&str],
) -> Group {
    let pending = if workload.is_threaded() {
        threads as u64 * 1024
    } else {
        pending
    };
    let cell = |engine: &str, variant: &str| Cell {
        workload,
        engine: engine.to_owned(),
        variant: variant.to_owned(),
        threads,
        pending,
    };
    let taking_part = engines
        .iter()
        .filter(|name| pending < TEN_MILLION || AT_TEN_MILLION.contains(name));
    let mut cells: Vec<Cell> = taking_part.map(|name| cell(name, "")).collect();
    if engines.contains(&"wheel") {
        cells.extend(variants(workload).iter().map(|name| cell("wheel", name)));
    }
    Group {
        workload,
        pending,
        threads,
        cells,
        rounds: rounds(choice.scope.effort(), workload, pending),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(scope: Scope, rivals: Rivals, only: Option<&str>) -> Plan {
        plan(&Choice {
            scope,
            rivals,
            only: only.map(str::to_owned),
        })
    }

    fn engines(plan: &Plan, workload: Workload, pending: u64) -> Vec<String> {
        let mut groups = plan.groups.iter();
        let found = groups.find(|group| group.workload == workload && group.pending == pending);
        found.map_or(Vec::new(), |group| {
            group.cells.iter().map(Cell::name).collect()
        })
    }

    #[test]
    fn a_quick_run_has_the_least_that_is_asked_of_it() {
        let plan = planned(Scope::Quick, Rivals::All, None);
        let build = ALL
            .iter()
            .filter(|n| crate::contestants::describe(n).is_some());
        assert_eq!(
            engines(&plan, Workload::PairFifo, 100_000).len(),
            build.count()
        );
        for workload in [
            Workload::PairRandom,
            Workload::Insert,
            Workload::FireAll,
            Workload::TickMax,
            Workload::Memory,
        ] {
            assert_eq!(engines(&plan, workload, MILLION), OURS_AND_HEAP);
        }
        for workload in [Workload::MtLocal, Workload::MtRemote] {
            let threaded = engines(&plan, workload, 2048);
            assert!(
                threaded.contains(&"mutex_wheel_per_thread".to_owned()),
                "{threaded:?}"
            );
            assert!(!threaded.contains(&"local_wheel".to_owned()));
        }
    }

    #[test]
    fn against_the_heap_there_is_nobody_else() {
        let plan = planned(Scope::Full, Rivals::Heap, None);
        assert_eq!(engines(&plan, Workload::PairFifo, MILLION), OURS_AND_HEAP);
    }

    #[test]
    fn a_pattern_picks_workloads_and_engines_by_their_label() {
        let plan = planned(Scope::Full, Rivals::All, Some("pair_fifo/heap"));
        let cells: Vec<_> = plan.groups.iter().flat_map(|group| &group.cells).collect();
        assert_eq!(cells.len(), SIZES.len());
        assert!(cells.iter().all(|cell| cell.engine == "heap"));
    }

    #[test]
    fn whoever_does_not_take_part_is_left_out_in_words() {
        let plan = planned(Scope::Full, Rivals::All, None);
        for &workload in Workload::ALL {
            let takes_part = |name: &str| {
                let mut cells = plan.groups.iter().flat_map(|group| &group.cells);
                cells.any(|cell| cell.workload == workload && cell.engine == name)
            };
            let excused = |name: &str| {
                let mut out = plan.left_out.iter();
                out.any(|left| {
                    left.workload == workload && left.engine == name && !left.reason.is_empty()
                })
            };
            for name in ALL
                .iter()
                .filter(|n| crate::contestants::describe(n).is_some())
            {
                assert!(takes_part(name) || excused(name), "{workload} {name}");
            }
        }
    }

    #[test]
    fn what_scaling_rests_on_is_the_wheel_alone_and_its_pair_of_wheels() {
        let plan = planned(Scope::Scaling, Rivals::All, None);
        let cells = plan.groups.iter().flat_map(|group| &group.cells);
        let names: Vec<String> = cells.map(Cell::name).collect();
        assert!(
            names.iter().all(|name| name.starts_with("wheel")),
            "{names:?}"
        );
        assert_eq!(names.iter().filter(|name| *name == "wheel:two").count(), 2);
        assert!(plan.left_out.is_empty(), "{:?}", plan.left_out);
    }
}
