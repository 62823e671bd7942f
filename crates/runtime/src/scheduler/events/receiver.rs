//! The end that whoever listens has.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::event::{Event, EventKind};
use super::hub::Events;
use super::place::{Place, Told};
use crate::clock::Patience;

/// Takes the events of a scheduler, one at a time: [`Scheduler::events`](crate::Scheduler::events).
///
/// It is an iterator, which waits for the next event and ends with the scheduler: when a
/// [shutdown](crate::Scheduler::shutdown) is over, be it that its grace was, or when the scheduler and
/// all handles of its tasks are gone. Dropping the receiver
/// ends the listening. It keeps no scheduler alive.
pub struct EventReceiver {
    events: Arc<Events>,
    place: usize,
    /// Comes after what was said of those that were lost before it.
    held: Option<Event>,
}

/// There is no event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoEvent {
    /// None has come until now. Trying again helps.
    NotYet,
    /// The scheduler has ended, and no more will come.
    Ended,
}

impl EventReceiver {
    pub(super) fn new(events: Arc<Events>, capacity: usize) -> EventReceiver {
        let place = events.come_in(capacity);
        EventReceiver {
            events,
            place,
            held: None,
        }
    }

    /// The next event. Waits for it; `None` if no more will come.
    ///
    /// In a handler of the same scheduler it keeps that worker from everything else.
    pub fn recv(&mut self) -> Option<Event> {
        loop {
            match self.recv_timeout(Duration::MAX) {
                Ok(event) => return Some(event),
                Err(NoEvent::Ended) => return None,
                Err(NoEvent::NotYet) => {}
            }
        }
    }

    /// The next event, if it has come. Does not block.
    ///
    /// # Errors
    ///
    /// [`NoEvent`] says whether one may still come.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheel_runtime::{EventKind, NoEvent, Scheduler};
    ///
    /// let scheduler = Scheduler::builder().build()?;
    /// let mut events = scheduler.events();
    /// assert_eq!(events.try_recv(), Err(NoEvent::NotYet));
    /// scheduler.task("report").after(Duration::from_secs(60)).run(|_| ())?;
    /// let event = events.try_recv()?;
    /// assert_eq!((event.task.as_deref(), event.kind), (Some("report"), EventKind::Added));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_recv(&mut self) -> Result<Event, NoEvent> {
        self.recv_timeout(Duration::ZERO)
    }

    /// The next event. Waits for it for `limit` of real time at most.
    ///
    /// # Errors
    ///
    /// [`NoEvent`] says whether one may still come.
    pub fn recv_timeout(&mut self, limit: Duration) -> Result<Event, NoEvent> {
        let patience = Patience::new(limit);
        loop {
            // Before the look, so that what was told before the end is not missed.
            let is_over = self.events.is_closed();
            if let Some(event) = self.take() {
                return Ok(event);
            }
            if is_over {
                return Err(NoEvent::Ended);
            }
            if patience.left().is_none() {
                return Err(NoEvent::NotYet);
            }
            self.place().sleep(patience, || self.events.is_closed());
        }
    }

    /// How many events were lost to this receiver until now, because its queue was full.
    pub fn dropped(&self) -> u64 {
        self.place().dropped()
    }

    fn place(&self) -> &Place {
        self.events.place(self.place)
    }

    fn take(&mut self) -> Option<Event> {
        if let Some(event) = self.held.take() {
            return Some(event);
        }
        let (lost, event) = match self.place().pop() {
            Some(Told { event, lost: 0 }) => return Some(event),
            Some(Told { event, lost }) => (lost, Some(event)),
            None => match self.place().take_lost() {
                0 => return None,
                lost => (lost, None),
            },
        };
        let at = event.as_ref().map(|event| event.at);
        self.held = event;
        Some(Event {
            at: at.unwrap_or_else(|| self.events.clock.wall()),
            task: None,
            name: None,
            serial: 0,
            kind: EventKind::Lost { events: lost },
        })
    }
}

impl Iterator for EventReceiver {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.recv()
    }
}

impl Drop for EventReceiver {
    fn drop(&mut self) {
        self.events.go(self.place);
    }
}

impl fmt::Debug for EventReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventReceiver")
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for NoEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoEvent::NotYet => "no event has come yet: try again later",
            NoEvent::Ended => "the scheduler has ended: no more events will come",
        })
    }
}

impl std::error::Error for NoEvent {}
