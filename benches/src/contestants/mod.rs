//! One adapter per engine; each does what its user would do and nothing more. Its methods are
//! inlined, as the engines are generic and would be inlined into their user's code.

mod locked_heap;
mod locked_local;
mod wheel;

pub use locked_heap::LockedHeap;
pub use locked_local::LockedLocalWheel;
pub use wheel::WheelAndDriver;
