//! A wheel under several threads: the users' operations, the driver's, and the judgement at each
//! quiet moment.
//!
//! ```text
//!   phase    users insert, cancel, reset, pass keys on, try stale ones, move the clock
//!            the driver advances with random budgets, asks for the next due, sleeps, is woken
//!   quiet    the users have ended and the driver rests: it overlooks nothing; len is exact
//!   settle   the clock moves; what is due leaves, and next_due says so
//!   end      cancelled or closed: one life for each timer, each life one end, entries come back
//! ```

mod seen;

mod driver;
mod end;
mod plan;
mod round;
mod user;

pub use plan::{Dues, End, Plan};
pub use round::play;
