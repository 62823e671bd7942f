//! What a task is called.
//!
//! A name, if the user gave one; else a number, which becomes text (`#17`) only when somebody asks.

use std::fmt;
use std::sync::Arc;

/// What a task is called. Unique among the live tasks of a scheduler.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum TaskId {
    Named(Arc<str>),
    Numbered(u64),
}

impl TaskId {
    /// The id that `text` names, be it a name or the text of a number.
    pub(crate) fn read(text: &str) -> TaskId {
        let number = text
            .strip_prefix('#')
            .and_then(|digits| digits.parse().ok());
        match number.map(TaskId::Numbered) {
            Some(id) if id.to_string() == text => id,
            _ => TaskId::Named(text.into()),
        }
    }

    /// Whether a user may call a task so: `#` is kept for numbers, and nobody can see an empty
    /// name.
    pub(crate) fn may_be_given(name: &str) -> bool {
        !name.is_empty() && !name.starts_with('#')
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskId::Named(name) => f.write_str(name),
            TaskId::Numbered(number) => write!(f, "#{number}"),
        }
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_id_names_it() {
        for id in [TaskId::Numbered(17), TaskId::Named("order-17".into())] {
            assert_eq!(TaskId::read(&id.to_string()), id);
        }
        assert_eq!(TaskId::read("#017"), TaskId::Named("#017".into()));
        assert_eq!(TaskId::read("#+1"), TaskId::Named("#+1".into()));
    }

    #[test]
    fn names_do_not_look_like_numbers() {
        assert!(TaskId::may_be_given("order #17"));
        assert!(!TaskId::may_be_given("#17"));
        assert!(!TaskId::may_be_given(""));
    }
}
