//! The numbers as metrics: what Prometheus reads, what the server answers, what the facade is given.

mod client;
mod page;

mod facade;
mod server;
mod text;
