//! What handlers have seen: each attempt against the one before it, and each run against the instants
//! of its task. None early, none twice, none that nobody asked for.

use std::collections::HashMap;

use wheel_runtime::Overlap;

use crate::book::Book;
use crate::ledger::Said;
use crate::plan::Hands;
use crate::points::{Era, Ms, Points, Walls};

impl Book {
    /// After the end: each attempt against the others, and against the instants.
    pub(crate) fn check_notes(&self, hands: Hands, walls: &Walls) -> u64 {
        let notes = self.notes.lock().unwrap();
        let mut nominals: Vec<Ms> = Vec::new();
        let mut strangers = 0;
        let mut last = None;
        let mut seen: HashMap<u64, usize> = HashMap::new();
        for (index, attempt) in notes.iter().enumerate() {
            if let Some(before) = seen.insert(attempt.run, index) {
                let before = &notes[before];
                assert_eq!(
                    attempt.nominal, before.nominal,
                    "{self:?}: {before:?} {attempt:?}"
                );
                assert!(
                    attempt.start > before.start,
                    "{self:?}: {before:?} {attempt:?}"
                );
                if hands == Hands::Workers && self.policies.has_timeout {
                    // What it said may have come too late to count.
                    continue;
                }
                let least = match before.said {
                    Said::RetryAfter(after) | Said::Snooze(after) => after,
                    _ => 1,
                };
                let is_snooze = matches!(before.said, Said::Snooze(_));
                let number = before.number + u32::from(!is_snooze);
                let is_final =
                    matches!(before.said, Said::Success | Said::Permanent | Said::Cancel);
                assert!(
                    attempt.start >= before.start + least,
                    "{self:?}: {attempt:?}"
                );
                assert_eq!(attempt.number, number, "{self:?}: {before:?} {attempt:?}");
                assert!(attempt.number <= self.policies.attempts_max, "{self:?}");
                assert!(!is_final, "{self:?}: {before:?} {attempt:?}");
                continue;
            }
            // What a schedule before has found due may still have waited.
            let of = self
                .eras
                .iter()
                .rev()
                .filter(|era| era.now <= attempt.start);
            let found = of.filter_map(|era| Some((era, era.find(attempt.nominal)?)));
            let found: Vec<_> = found.collect();
            if found.is_empty() {
                strangers += 1;
                continue;
            }
            let has_come = |(era, point): &&(&Era, Ms)| match era.by_wall {
                true => *point <= walls.highest(era.now, attempt.start).max(era.wall),
                false => *point <= attempt.start,
            };
            let era = found.iter().find(has_come);
            let (era, _) = era.unwrap_or_else(|| panic!("early: {attempt:?}, {self:?}"));
            if !matches!(era.points, Points::Once(_)) {
                nominals.push(attempt.nominal);
                let is_later = last.is_none_or(|last| attempt.nominal > last);
                // Beside each other they go by due, which a step of the wall clock turns round.
                let may_pass = matches!(self.policies.overlap, Overlap::Allow { .. });
                let by_hand = self.eras.len() > 1 || !self.replayed.is_empty();
                assert!(is_later || by_hand || may_pass, "{self:?}: {attempt:?}");
                last = Some(attempt.nominal);
            }
        }
        // A schedule given anew after the clock was set back names the same instants again.
        if self.eras.len() == 1 {
            let all = nominals.len();
            nominals.sort_unstable();
            nominals.dedup();
            let twice = all - nominals.len();
            assert!(
                twice <= self.replayed.len(),
                "{twice} twice: {self:?} {notes:?}"
            );
            if self.era().has_grid() {
                assert!(strangers <= self.hand, "{strangers} by nobody: {self:?}");
            }
        }
        seen.len() as u64
    }
}
