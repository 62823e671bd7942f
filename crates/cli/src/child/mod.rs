//! Programs as child processes: started, followed to their end, and never left behind.
//!
//! Every program gets a process group of its own, so that a signal reaches whatever it has forked,
//! and so that Ctrl-C on the terminal reaches `wheel` alone, which then ends the programs in its
//! own order.
//!
//! ```text
//! worker thread:  Children::start -> Running::follow -> Ended
//!                      | registers the group | removes it, after stop.rs has told it, if it has to
//!                      v                     v
//!                 groups.rs: every group that lives
//!                      ^
//!                      | tells all of them
//! main thread:    Children::terminate, kill, wait_empty
//! ```
//!
//! Ground rules: a group is in the registry from its start until none of it is left; the first
//! process of a group is reaped under the lock of the registry, in the step that may remove the
//! group. So a signal never goes to a group whose number the system has given to somebody else.

mod exit;
mod follow;
mod groups;
mod orphans;
mod stop;

pub(crate) use follow::Ended;
pub(crate) use groups::{Children, Forced};
pub(crate) use orphans::adopt_orphans;
pub(crate) use stop::{Stops, Told};
