//! Graphs that recur: each occurrence has its run or is skipped, and each node runs if those before
//! it say so.
//!
//! ```text
//!   a --> b --> d
//!    \--> c --/
//!    \- - > alarm, if a fails
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use wheel_runtime::{Context, GraphHandle, Schedule, Scheduler, TaskState, When, WhenNodeFails};

use crate::close::Closed;
use crate::ledger::{Ledger, Notes, Said, Temper};
use crate::points::{Era, Ms, Points, length};

const NODES: [&str; 5] = ["a", "b", "c", "d", "alarm"];

#[derive(Default)]
pub(crate) struct Graphs(Vec<One>);

struct One {
    handle: GraphHandle,
    notes: [Notes; 5],
    era: Era,
}

impl Graphs {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// One every `period` from `now` on.
    pub(crate) fn add(
        &mut self,
        scheduler: &Scheduler,
        ledger: &Arc<Ledger>,
        (now, wall): (Ms, Ms),
        period: Ms,
    ) {
        let number = self.0.len() as u64;
        let notes: [Notes; 5] = Default::default();
        let mut graph = scheduler.graph(format!("g{number}"));
        for (index, name) in NODES.iter().enumerate() {
            let (ledger, notes) = (Arc::clone(ledger), notes[index].clone());
            let fails = Arc::clone(&ledger);
            let number = 2_000_000_000 + number * 5 + index as u64;
            let handler = move |run: &Context| ledger.attempt(number, Temper::Moody, &notes, run);
            graph = graph.node_with(
                *name,
                move |task| task.on_failure(move |_| fails.count_failure()),
                handler,
            );
        }
        let graph = graph.chain(["a", "b", "d"]).chain(["a", "c", "d"]);
        let graph = graph.edge("a", "alarm", When::Failed);
        let graph = graph.on_failure(WhenNodeFails::SkipDependents);
        let handle = graph
            .schedule(Schedule::every(length(period)))
            .start()
            .unwrap();
        let era = Era {
            points: Points::Grid {
                first: now + period,
                period,
            },
            now,
            wall,
            by_wall: false,
            not_before: None,
            not_after: None,
            has_jitter: false,
        };
        self.0.push(One { handle, notes, era });
    }

    pub(crate) fn check(&self, scheduler: &Scheduler, now: Ms, closed: &mut Closed) {
        for graph in &self.0 {
            graph.check(scheduler, now, closed);
        }
    }
}

impl One {
    /// What the last attempt of each run of a node has said, by nominal instant.
    fn said(&self, node: usize) -> BTreeMap<Ms, Said> {
        let notes = self.notes[node].lock().unwrap();
        notes
            .iter()
            .map(|attempt| (attempt.nominal, attempt.said))
            .collect()
    }

    fn check(&self, scheduler: &Scheduler, now: Ms, closed: &mut Closed) {
        let info = self.handle.info();
        let starter = scheduler.get(&info.id).expect("it recurs");
        let due = self.era.count(now);
        let seen = starter.runs + starter.missed + starter.skipped;
        assert_eq!(seen, due, "{info:?}, {starter:?}");
        assert_eq!(
            info.runs + info.skipped,
            starter.runs,
            "{info:?}, {starter:?}"
        );
        let over = info.succeeded + info.failed + info.cancelled;
        let is_going = info.state == TaskState::Running;
        assert_eq!(info.runs, over + u64::from(is_going), "{info:?}");

        let said: [_; 5] = std::array::from_fn(|node| self.said(node));
        let nominals: BTreeSet<Ms> = said[0].keys().copied().collect();
        assert_eq!(nominals.len() as u64, info.runs, "{info:?}");
        let going = nominals.last().copied().filter(|_| is_going);
        for nominal in &nominals {
            assert!(
                self.era.find(*nominal).is_some(),
                "{nominal} of {nominals:?}: {:?} {info:?}",
                self.era
            );
            if Some(*nominal) == going {
                continue;
            }
            let ran = |node: usize| said[node].contains_key(nominal);
            let was_good = |node: usize| said[node].get(nominal) == Some(&Said::Success);
            let was_bad = ran(0) && !was_good(0) && said[0][nominal] != Said::Cancel;
            let wanted = [
                true,
                was_good(0),
                was_good(0),
                was_good(1) && was_good(2),
                was_bad,
            ];
            for (node, wanted) in wanted.into_iter().enumerate() {
                assert_eq!(ran(node), wanted, "{} for {nominal}: {info:?}", NODES[node]);
            }
        }
        let ran: usize = said.iter().map(BTreeMap::len).sum();
        let left_out = match going {
            None => nominals.len() * 5 - ran,
            Some(going) => {
                let before = said
                    .iter()
                    .flat_map(BTreeMap::keys)
                    .filter(|at| **at != going);
                let skipped = info
                    .nodes
                    .iter()
                    .filter(|node| node.state == TaskState::Skipped);
                (nominals.len() - 1) * 5 - before.count() + skipped.count()
            }
        };
        closed.runs += starter.runs + ran as u64;
        closed.missed += starter.missed;
        closed.skipped += starter.skipped + left_out as u64;
    }
}
