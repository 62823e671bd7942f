//! Who listens, and telling them.
//!
//! Places stand in blocks that are never given back, each twice as long as the one before, so who
//! tells walks them without a lock. A place is used again by the next one who comes.

use std::sync::Arc;

use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::counting::AtomicUsize;
use wheel_sync::{Mutex, OnceLock};

use super::event::{Event, EventKind};
use super::place::Place;
use crate::clock::Clock;

/// Places of the first block.
const FIRST: usize = 2;

pub(crate) struct Events {
    pub(super) clock: Clock,
    /// How many listen. Std's under a checker too, where nobody does.
    listening: AtomicUsize,
    first: OnceLock<Box<Block>>,
    /// For who comes and who goes.
    door: Mutex<()>,
    is_closed: AtomicBool,
}

struct Block {
    places: Box<[Place]>,
    next: OnceLock<Box<Block>>,
}

/// Whom something has happened to.
pub(crate) struct Subject {
    pub(crate) task: Arc<str>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) serial: u64,
}

impl Events {
    pub(crate) fn new(clock: Clock) -> Arc<Events> {
        Arc::new(Events {
            clock,
            listening: AtomicUsize::new(0),
            first: OnceLock::new(),
            door: Mutex::new(()),
            is_closed: AtomicBool::new(false),
        })
    }

    /// Whether anybody listens: what costs something to find out is found out only then.
    pub(crate) fn are_heard(&self) -> bool {
        // Relaxed: whoever began to listen before what is told now, by any order of the two, is
        // seen; there is nothing else behind it. [O110]
        self.listening.load(Ordering::Relaxed) != 0
    }

    /// Tells all who listen. Does not block. Of a task, under its lock.
    #[cold]
    pub(crate) fn tell(&self, subject: Option<Subject>, kind: EventKind) {
        let (task, name, serial) = match subject {
            Some(Subject { task, name, serial }) => (Some(task), name, serial),
            None => (None, None, 0),
        };
        let event = Event {
            at: self.clock.wall(),
            task,
            name,
            serial,
            kind,
        };
        let mut places = self.places().filter(|place| place.is_taken()).peekable();
        while let Some(place) = places.next() {
            if places.peek().is_none() {
                place.put(event);
                return;
            }
            place.put(event.clone());
        }
    }

    /// The same of the scheduler itself.
    pub(crate) fn tell_of_scheduler(&self, kind: EventKind) {
        if self.are_heard() {
            self.tell(None, kind);
        }
    }

    /// Nothing more will happen: who has taken what is left is told so.
    pub(crate) fn close(&self) {
        // Behind the door, so that who comes in is either seen here or sees that it is closed.
        let door = self.door.lock();
        // Release: what was told before; pairs with `is_closed`. [O111]
        self.is_closed.store(true, Ordering::Release);
        self.places().for_each(Place::wake);
        drop(door);
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: whoever sees it sees all that was told before it. [O111]
        self.is_closed.load(Ordering::Acquire)
    }

    /// Somebody listens from now on: at which place.
    pub(super) fn come_in(&self, capacity: usize) -> usize {
        let door = self.door.lock();
        let free = self.places().position(|place| !place.is_taken());
        let number = free.unwrap_or_else(|| self.add_block());
        self.place(number).take(capacity);
        // Relaxed: as in `are_heard`. [O110]
        self.listening.fetch_add(1, Ordering::Relaxed);
        drop(door);
        number
    }

    /// Nobody listens at this place any more.
    pub(super) fn go(&self, number: usize) {
        let door = self.door.lock();
        // Relaxed: who still sees it tells a place that nobody is at. [O110]
        self.listening.fetch_sub(1, Ordering::Relaxed);
        self.place(number).leave();
        drop(door);
    }

    pub(super) fn place(&self, number: usize) -> &Place {
        let place = self.places().nth(number);
        place.expect("a place stays where it is")
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.blocks().flat_map(|block| block.places.iter())
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let first = self.first.get();
        std::iter::successors(first, |block| block.next.get()).map(|block| &**block)
    }

    /// The number of the first place of a new block. With the door closed.
    fn add_block(&self) -> usize {
        let last = self.blocks().last();
        let before = self.places().count();
        let len = last.map_or(FIRST, |last| 2 * last.places.len());
        let block = Box::new(Block {
            places: (0..len).map(|_| Place::new()).collect(),
            next: OnceLock::new(),
        });
        let end = last.map_or(&self.first, |last| &last.next);
        assert!(end.set(block).is_ok(), "a block was added at the same time");
        before
    }
}
