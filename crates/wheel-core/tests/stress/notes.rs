//! What the threads of a round have seen, and the judgement over all of it.

use std::collections::HashMap;

use wheel_core::{Key, Tick, Wheel};

/// How a value left the wheel.
#[derive(Clone, Copy, Debug)]
enum End {
    Fired(Key, u64),
    Cancelled(Key),
    Unfired,
}

/// What a thread has seen.
#[derive(Default)]
pub(crate) struct Notes {
    /// Key, due tick, value.
    pub(crate) inserted: Vec<(Key, u64, u64)>,
    /// Old key, new key, due tick.
    pub(crate) reset: Vec<(Key, Key, u64)>,
    pub(crate) cancelled: Vec<(Key, u64)>,
    pub(crate) refused: Vec<u64>,
    pub(crate) fired: Vec<(Key, u64, u64)>,
    pub(crate) unfired: Vec<u64>,
}

impl Notes {
    /// Takes in what another thread has seen.
    pub(crate) fn add(&mut self, other: Notes) {
        self.inserted.extend(other.inserted);
        self.reset.extend(other.reset);
        self.cancelled.extend(other.cancelled);
        self.refused.extend(other.refused);
        self.fired.extend(other.fired);
        self.unfired.extend(other.unfired);
    }

    /// How many fired, were cancelled, reset, refused, unfired.
    pub(crate) fn counts(&self) -> [usize; 5] {
        [
            self.fired.len(),
            self.cancelled.len(),
            self.reset.len(),
            self.refused.len(),
            self.unfired.len(),
        ]
    }

    /// Follows every timer from its insert to its end, and tries every key that there ever was with
    /// every engine. Returns how many timers there were.
    pub(crate) fn judge<T>(&self, wheels: &[Wheel<T>]) -> usize {
        let next: HashMap<Key, (Key, u64)> = self
            .reset
            .iter()
            .map(|&(old, new, due)| (old, (new, due)))
            .collect();
        assert_eq!(next.len(), self.reset.len(), "a key was reset twice");
        let mut ends: HashMap<u64, Vec<End>> = HashMap::new();
        for &(key, due, id) in &self.fired {
            ends.entry(id).or_default().push(End::Fired(key, due));
        }
        for &(key, id) in &self.cancelled {
            ends.entry(id).or_default().push(End::Cancelled(key));
        }
        for &id in &self.unfired {
            ends.entry(id).or_default().push(End::Unfired);
        }
        let mut keys = HashMap::new();
        for &(first, due, id) in &self.inserted {
            let (mut key, mut due) = (first, due);
            loop {
                assert_eq!(keys.insert(key, id), None, "{key:?} was given out twice");
                let Some(&later) = next.get(&key) else { break };
                (key, due) = later;
            }
            let end = ends.remove(&id).unwrap_or_default();
            match end[..] {
                [End::Unfired] => {}
                [End::Cancelled(by)] => assert_eq!(by, key, "{id} was cancelled by an old key"),
                [End::Fired(last, at)] => {
                    assert_eq!((last, at), (key, due), "{id} fired as what it was before");
                }
                _ => panic!(
                    "{id}, last {key:?} due {due}, has ended {} times: {end:?}",
                    end.len()
                ),
            }
        }
        assert!(ends.is_empty(), "what nobody inserted has ended: {ends:?}");
        for (&key, wheel) in keys
            .keys()
            .flat_map(|key| wheels.iter().map(move |wheel| (key, wheel)))
        {
            assert!(wheel.cancel(key).is_none(), "a stale key was good");
            let moved = wheel.reset(key, Tick::new(0));
            assert!(moved.is_none(), "a stale key was good");
        }
        self.inserted.len() + self.refused.len()
    }
}
