//! One adapter per engine; each does what its user would do and nothing more.

mod locked_heap;
mod wheel;

pub use locked_heap::LockedHeap;
pub use wheel::WheelAndDriver;
