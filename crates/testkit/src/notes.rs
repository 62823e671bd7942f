//! What the threads of a concurrent run have seen, and the judgement over all of it.
//!
//! Where threads meet an engine at once, no order of their operations is known and the sorted map
//! cannot play along. What each thread has seen still fits together in one way only: every key
//! belongs to one timer, every timer has one life from its insert over its resets to its end, and
//! it ends once, by the last key and, if it fires, at the last due tick that it was given.
//!
//! Each thread keeps notes of its own; they are added up when no call is in flight.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

/// How a value left the engine.
#[derive(Clone, Copy, Debug)]
enum End<K> {
    Fired(K, u64),
    Cancelled(K),
    Unfired,
}

/// What a thread has seen of an engine whose keys are `K`. Values are numbers, each inserted once.
#[derive(Clone, Debug)]
pub struct Notes<K> {
    /// Key, due tick, value.
    pub inserted: Vec<(K, u64, u64)>,
    /// Old key, new key, due tick.
    pub reset: Vec<(K, K, u64)>,
    /// The key that the value was cancelled by, and the value.
    pub cancelled: Vec<(K, u64)>,
    /// Values that came back at once.
    pub refused: Vec<u64>,
    /// Key, due tick, value.
    pub fired: Vec<(K, u64, u64)>,
    /// Values that came back at close.
    pub unfired: Vec<u64>,
}

impl<K> Default for Notes<K> {
    fn default() -> Notes<K> {
        Notes {
            inserted: Vec::new(),
            reset: Vec::new(),
            cancelled: Vec::new(),
            refused: Vec::new(),
            fired: Vec::new(),
            unfired: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash + Debug> Notes<K> {
    /// Takes in what another thread has seen.
    pub fn add(&mut self, other: Notes<K>) {
        self.inserted.extend(other.inserted);
        self.reset.extend(other.reset);
        self.cancelled.extend(other.cancelled);
        self.refused.extend(other.refused);
        self.fired.extend(other.fired);
        self.unfired.extend(other.unfired);
    }

    /// How many fired, were cancelled, reset, refused, unfired.
    pub fn counts(&self) -> [usize; 5] {
        [
            self.fired.len(),
            self.cancelled.len(),
            self.reset.len(),
            self.refused.len(),
            self.unfired.len(),
        ]
    }

    /// The timers that have not ended: by value, the last key and the last due tick.
    ///
    /// To be asked when no call is in flight and the notes of all threads are in.
    ///
    /// # Panics
    ///
    /// When the notes do not fit together, or a timer has ended twice.
    pub fn pending(&self) -> BTreeMap<u64, (K, u64)> {
        let mut lives = self.lives();
        lives.pending.retain(|id, _| {
            let ends = lives.ends.get(id).map_or(0, Vec::len);
            assert!(ends <= 1, "{id} has ended {ends} times");
            ends == 0
        });
        lives.pending
    }

    /// Follows every timer from its insert to its end, when all must have ended. Then tries every
    /// key that was ever given out: `is_stale` must say that it does nothing. Returns how many
    /// inserts there were, refused ones included.
    ///
    /// # Panics
    ///
    /// When a value was lost, left twice, left by an old key or at an old due tick, or a key is
    /// good.
    pub fn judge(&self, mut is_stale: impl FnMut(K) -> bool) -> usize {
        let mut lives = self.lives();
        for (id, (key, due)) in lives.pending {
            let end = lives.ends.remove(&id).unwrap_or_default();
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
        let ends = lives.ends;
        assert!(ends.is_empty(), "what nobody inserted has ended: {ends:?}");
        for key in lives.keys {
            assert!(is_stale(key), "a stale key was good: {key:?}");
        }
        self.inserted.len() + self.refused.len()
    }

    /// Makes one life of what belongs to one timer.
    fn lives(&self) -> Lives<K> {
        let next: HashMap<K, (K, u64)> = self
            .reset
            .iter()
            .map(|&(old, new, due)| (old, (new, due)))
            .collect();
        assert_eq!(next.len(), self.reset.len(), "a key was reset twice");
        let mut ends: HashMap<u64, Vec<End<K>>> = HashMap::new();
        for &(key, due, id) in &self.fired {
            ends.entry(id).or_default().push(End::Fired(key, due));
        }
        for &(key, id) in &self.cancelled {
            ends.entry(id).or_default().push(End::Cancelled(key));
        }
        for &id in &self.unfired {
            ends.entry(id).or_default().push(End::Unfired);
        }
        let mut owners = HashMap::new();
        let mut keys = Vec::new();
        let mut pending = BTreeMap::new();
        for &(first, due, id) in &self.inserted {
            let (mut key, mut due) = (first, due);
            loop {
                assert_eq!(owners.insert(key, id), None, "{key:?} was given out twice");
                keys.push(key);
                let Some(&later) = next.get(&key) else { break };
                (key, due) = later;
            }
            pending.insert(id, (key, due));
        }
        Lives {
            keys,
            pending,
            ends,
        }
    }
}

/// Notes in the order of timers.
struct Lives<K> {
    /// Every key that was given out, in the order of inserts.
    keys: Vec<K>,
    /// Last key and due tick of each timer, ended or not.
    pending: BTreeMap<u64, (K, u64)>,
    ends: HashMap<u64, Vec<End<K>>>,
}
