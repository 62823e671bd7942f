//! For the models only: where every entry is, so that they can assert that none was lost.
//!
//! Ground rule: no other thread is in a call meanwhile.

use crate::driver::Driver;
use crate::state::Phase;

/// Where the entries of a wheel are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// Ever used, given out to threads in batches.
    pub used: usize,
    /// Those that hold a timer, or did so and wait for the driver: live, vacant or busy.
    pub held: usize,
    /// Free ones that nobody can find any more.
    pub lost: usize,
}

impl<T> Driver<T> {
    /// Counts them.
    pub fn entries(&self) -> Entries {
        let engine = &self.engine;
        let used = engine.arena.used();
        let held = (0..used)
            .filter_map(|number| engine.arena.find(number))
            .filter(|(_, entry)| entry.state.look().phase() != Phase::Free)
            .count();
        let mut stock = Vec::new();
        while let Some(chain) = engine.arena.take() {
            stock.push(chain);
        }
        let in_stock: usize = stock.iter().map(|chain| chain.len()).sum();
        stock
            .into_iter()
            .rev()
            .for_each(|chain| engine.arena.give(chain));
        let at_hand = engine.places.at_hand() + self.freed() + in_stock;
        Entries {
            used: used as usize,
            held,
            lost: used as usize - held - at_hand,
        }
    }
}
