//! One adapter per engine; each does what its user would do and nothing more.

mod locked_heap;
mod locked_local;
mod wheel;

pub use locked_heap::LockedHeap;
pub use locked_local::LockedLocalWheel;
pub use wheel::WheelAndDriver;
