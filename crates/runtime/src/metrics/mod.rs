//! The numbers of `stats()` for what collects metrics: as text for Prometheus, over HTTP if wanted,
//! and through the facade of the crate `metrics`.
//!
//! ```text
//!  Scheduler::stats, Timers::stats --families.rs--> page.rs: families with samples
//!  SystemClock::discipline --clocks.rs--------------^
//!                                    text.rs (prometheus) <--/ \--> facade.rs (metrics)
//!                                    server/: GET /metrics, GET /health
//! ```
//!
//! Ground rules: nothing is counted here, so who asks for nothing pays nothing. A source that is
//! looked at is not kept alive. Names and meanings are in docs/METRICS.md; a test holds the page to
//! the list.

mod clocks;
mod families;
mod page;
mod exposition;
#[cfg(feature = "metrics")]
mod facade;
#[cfg(feature = "prometheus")]
mod text;
#[cfg(feature = "prometheus")]
mod server;

pub use exposition::Exposition;
#[cfg(feature = "metrics")]
pub use facade::MetricsPublisher;
#[cfg(feature = "prometheus")]
pub use server::{MetricsServer, ServeError};
