//! What can be seen from inside only: heap order, places, pages, generations.

mod order;

mod keys;
mod memory;

mod sweep;
