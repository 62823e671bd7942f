//! What must hold of the places that an engine tells of.
//!
//! An engine may look at a timer too early, so one may be in a slot before that of its due tick, but
//! never in a later one.

use crate::judge::Fault;
use crate::model::Model;
use crate::subject::Places;

impl Places {
    /// Everything that can be said of them while the timers of `model` are pending.
    pub(crate) fn judge(&self, model: &Model) -> Result<(), Fault> {
        if self.live != model.len() {
            return Err(format!("{} live, pending are {}", self.live, model.len()));
        }
        let in_slots: usize = self.slots.iter().map(|(_, len)| len).sum();
        if in_slots + self.elsewhere != self.live + self.vacant {
            return Err(format!(
                "{in_slots} in slots and {} elsewhere, but {} live and {} vacant",
                self.elsewhere, self.live, self.vacant
            ));
        }
        self.judge_slots(model)
    }

    /// Up to each tick at which a slot begins, as many are in slots as have to be met before it.
    fn judge_slots(&self, model: &Model) -> Result<(), Fault> {
        let dues: Vec<u64> = model.dues().collect();
        let mut slots = self.slots.clone();
        slots.retain(|&(_, len)| len > 0);
        slots.sort_unstable();
        let mut before = self.elsewhere;
        for (first, len) in slots {
            let due_before = dues.partition_point(|&due| due < first);
            if due_before > before {
                return Err(format!(
                    "{due_before} timers are due before {first}, {before} are in slots before it"
                ));
            }
            before += len;
        }
        Ok(())
    }

    /// An engine that has come to rest holds nothing.
    pub(crate) fn judge_rest(&self) -> Result<(), Fault> {
        match self.slots.iter().any(|&(_, len)| len > 0) || self.elsewhere + self.vacant > 0 {
            true => Err(format!("at rest it holds {self:?}")),
            false => Ok(()),
        }
    }
}
