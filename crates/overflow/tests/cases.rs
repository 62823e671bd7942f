//! The cases in which other engines went wrong, for the heap alone.

mod heap;

wheel_testkit::engine_cases!(heap::Heap::build);
