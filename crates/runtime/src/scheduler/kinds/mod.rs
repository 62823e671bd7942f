//! Tasks as data: handlers that are registered under a name, the kind, and get a payload.
//!
//! ```text
//!  Kind --register--> registry.rs: by name       TaskBuilder::kind, TaskDefinition
//!                        |                                   |  checked against the kind
//!                        |                                   v
//!                        '----------- bound.rs: the handler of a task <-- share.rs: which variant
//!                                        |
//!                                        v
//!                       counted.rs: the breaker lets it pass, or puts it off
//!
//!  a definition whose kind is not registered --> unresolved.rs, until it is
//! ```
//!
//! Ground rules: the registry has one lock, which is taken by whoever registers, submits or lists,
//! never by a run. A kind at work has one of its own, held for some instructions before and after
//! each attempt. User code (handlers, the reading of payloads, what is dropped) runs under neither.
//! A task of a kind is a task like any other; its handler is what differs.

mod kind;
mod error;
mod share;
mod payload;

mod registry;
mod bound;
mod counted;

mod definition;
mod written;
mod builder;
mod unresolved;

pub(crate) use bound::Made;
pub use builder::DefinitionError;
pub(super) use builder::OfKind;
pub use counted::KindInfo;
pub use definition::TaskDefinition;
pub use error::KindError;
pub use kind::{Kind, RegisterError};
pub(crate) use registry::Kinds;
pub use unresolved::{Submitted, UnresolvedTask};
