//! Values that a run carries, by their types: what its task was given, and what interceptors and
//! handlers add.
//!
//! Ground rules: the values are the user's, so they are dropped with no lock held and not on the
//! driver. One of a run is in the contexts of its attempts and, between two of them, in its
//! `Trial`.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use wheel_sync::Mutex;

use crate::panics::discard;

type Value = Arc<dyn Any + Send + Sync>;

/// One of each type.
#[derive(Clone, Default)]
pub(crate) struct Values(Vec<(TypeId, Value)>);

impl Values {
    /// The value of this type that was there before comes back.
    pub(crate) fn set<T: Any + Send + Sync>(&mut self, value: T) -> Option<Value> {
        let (id, value) = (TypeId::of::<T>(), Arc::new(value));
        match self.0.iter_mut().find(|(of, _)| *of == id) {
            Some((_, place)) => Some(std::mem::replace(place, value)),
            None => {
                self.0.push((id, value));
                None
            }
        }
    }

    #[cfg(feature = "serde")]
    pub(crate) fn has_none(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let id = TypeId::of::<T>();
        let (_, value) = self.0.iter().find(|(of, _)| *of == id)?;
        Arc::clone(value).downcast().ok()
    }
}

/// Each by itself: a panic in one `Drop` ends here.
impl Drop for Values {
    fn drop(&mut self) {
        discard(self.0.drain(..));
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Values").field(&self.0.len()).finish()
    }
}

/// Those of one run. A clone is the same.
#[derive(Clone, Debug, Default)]
pub(super) struct RunValues(Arc<Mutex<Values>>);

impl RunValues {
    pub(super) fn set<T: Any + Send + Sync>(&self, value: T) {
        let before = self.0.lock().set(value);
        discard(before);
    }

    pub(super) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.0.lock().get()
    }

    /// Whether dropping it drops nothing of the user's. Does not block; in doubt, no.
    pub(super) fn is_empty(&self) -> bool {
        let values = self.0.try_lock();
        values.is_some_and(|values| values.0.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_value_of_each_type_and_the_last_one_counts() {
        let values = RunValues::default();
        values.set(7_u32);
        values.set("request 17");
        values.set(8_u32);
        assert_eq!(values.get::<u32>().as_deref(), Some(&8));
        assert_eq!(values.get::<&str>().as_deref(), Some(&"request 17"));
        assert_eq!(values.get::<u64>(), None);
    }
}
