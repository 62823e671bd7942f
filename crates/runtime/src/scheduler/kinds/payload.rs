//! Payloads: the type that a handler wants, hidden, so that handlers of all types are one.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::task::{Context, IntoOutcome, Outcome};

/// A payload may be nested so deep. Text that is nested deeper than 127 is not read again, and the
/// payload is nested in its definition.
const DEPTH_MAX: usize = 100;

/// A handler that has its payload and waits to be called.
pub(super) type Call<'h> = Box<dyn FnOnce(&Context) -> Outcome + 'h>;

/// A handler with a payload, of whichever type.
pub(super) trait Takes: Send + Sync {
    /// Reads the payload. What is wrong with it comes back in words.
    fn read<'h>(&'h self, payload: &Value) -> Result<Call<'h>, String>;
}

struct Typed<P, F> {
    handler: F,
    payload: PhantomData<fn(P)>,
}

/// A handler of payloads `P`.
pub(super) fn typed<P, F, O>(handler: F) -> impl Takes + 'static
where
    P: DeserializeOwned + 'static,
    F: Fn(&Context, P) -> O + Send + Sync + 'static,
    O: IntoOutcome,
{
    let payload = PhantomData;
    Typed { handler, payload }
}

impl<P, F, O> Takes for Typed<P, F>
where
    P: DeserializeOwned + 'static,
    F: Fn(&Context, P) -> O + Send + Sync + 'static,
    O: IntoOutcome,
{
    fn read<'h>(&'h self, payload: &Value) -> Result<Call<'h>, String> {
        let read = P::deserialize(payload).map_err(|error| error.to_string())?;
        Ok(Box::new(move |context| {
            (self.handler)(context, read).into_outcome()
        }))
    }
}

/// The payload as data, or what is wrong with it in words.
pub(super) fn written<P: Serialize + ?Sized>(payload: &P) -> Result<Value, String> {
    let value = serde_json::to_value(payload).map_err(|error| error.to_string())?;
    check_depth(&value)?;
    Ok(value)
}

pub(super) fn check_depth(payload: &Value) -> Result<(), String> {
    fn is_within(value: &Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match value {
            Value::Array(values) => values.iter().all(|value| is_within(value, depth)),
            Value::Object(values) => values.values().all(|value| is_within(value, depth)),
            _ => true,
        }
    }
    if is_within(payload, DEPTH_MAX) {
        Ok(())
    } else {
        Err(format!("it is nested deeper than {DEPTH_MAX}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Value {
        (1..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
    }

    #[test]
    fn what_is_nested_too_deep_to_be_read_again_is_refused() {
        assert!(written(&nested(DEPTH_MAX)).is_ok());
        assert!(written(&nested(DEPTH_MAX + 1)).is_err());
    }

    #[test]
    fn what_json_cannot_say_is_refused() {
        let keys = std::collections::HashMap::from([((1, 2), 3)]);
        let error = written(&keys).unwrap_err();
        assert!(error.contains("string"), "{error}");
    }
}
