//! loom's atomics, in a coat that knows where each operation was written (`weaken`) and lets loom
//! try all that matters (`turns`).

pub use loom::sync::atomic::Ordering;

use std::panic::Location;

use super::turns::Turns;
use super::weaken::{Part, ordering_at};

/// The ordering of an operation that has one.
#[track_caller]
fn only(operation: &'static str, written: Ordering) -> Ordering {
    let weakened = ordering_at(Location::caller(), operation, Part::Only, written);
    weakened.expect("only a fence can be taken away")
}

/// The orderings of an operation that may fail.
#[track_caller]
fn both(operation: &'static str, success: Ordering, failure: Ordering) -> (Ordering, Ordering) {
    let caller = Location::caller();
    let success = ordering_at(caller, operation, Part::Success, success);
    let failure = ordering_at(caller, operation, Part::Failure, failure);
    success
        .zip(failure)
        .expect("only a fence can be taken away")
}

/// loom's fence.
#[track_caller]
pub fn fence(order: Ordering) {
    if let Some(order) = ordering_at(Location::caller(), "fence", Part::Only, order) {
        loom::sync::atomic::fence(order);
    }
}

macro_rules! coat {
    ($name:ident $(<$param:ident>)?, $value:ty, [$($rmw:ident)*]) => {
        #[doc = concat!("loom's `", stringify!($name), "`.")]
        #[derive(Debug)]
        pub struct $name $(<$param>)? (loom::sync::atomic::$name $(<$param>)?, Turns);

        impl $(<$param>)? $name $(<$param>)? {
            /// An atomic that holds `value`.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$name::new(value), Turns::default())
            }

            /// Reads it.
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.1.before_load();
                self.0.load(only("load", order))
            }

            /// Writes it.
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                self.1.before_store();
                self.0.store(value, only("store", order));
            }

            /// Writes it and returns what was there.
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.1.before_store();
                self.0.swap(value, only("swap", order))
            }

            /// Writes it if it is `current`.
            ///
            /// # Errors
            ///
            /// What is there instead.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let (success, failure) = both("compare_exchange", success, failure);
                self.1.before_store();
                self.0.compare_exchange(current, new, success, failure)
            }

            /// As `compare_exchange`; here it does not fail for no reason.
            ///
            /// # Errors
            ///
            /// What is there instead.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let (success, failure) = both("compare_exchange_weak", success, failure);
                self.1.before_store();
                self.0.compare_exchange(current, new, success, failure)
            }

            /// Writes what `next` makes of it, until that succeeds or `next` makes nothing.
            ///
            /// # Errors
            ///
            /// What is there, if `next` makes nothing of it.
            #[track_caller]
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                next: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let (set, fetch) = both("fetch_update", set, fetch);
                self.1.before_load();
                self.1.before_store();
                self.0.fetch_update(set, fetch, next)
            }

            $(
                #[doc = concat!("As std's `", stringify!($rmw), "`.")]
                #[track_caller]
                pub fn $rmw(&self, value: $value, order: Ordering) -> $value {
                    self.1.before_store();
                    self.0.$rmw(value, only(stringify!($rmw), order))
                }
            )*
        }
    };
}

macro_rules! default {
    ($($name:ident)*) => {
        $(
            impl Default for $name {
                fn default() -> Self {
                    Self::new(Default::default())
                }
            }
        )*
    };
}

coat!(AtomicBool, bool, [fetch_and fetch_or]);
coat!(AtomicI64, i64, [fetch_add fetch_sub fetch_max]);
coat!(AtomicU32, u32, [fetch_add fetch_sub fetch_and fetch_or fetch_max]);
coat!(AtomicU64, u64, [fetch_add fetch_sub fetch_and fetch_or fetch_max]);
coat!(AtomicUsize, usize, [fetch_add fetch_sub fetch_and fetch_or fetch_max]);
coat!(AtomicPtr<T>, *mut T, []);
default!(AtomicBool AtomicI64 AtomicU32 AtomicU64 AtomicUsize);
