//! What a task is called.
//!
//! A name, if the user gave one; else a number, which becomes text (`#17`) only when somebody asks.

use std::hash::BuildHasher;
use std::sync::OnceLock;

/// What a task is called, as others say it. Unique among the live tasks of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id<'a> {
    Named(&'a str),
    Numbered(u64),
}

/// What a task knows of its id.
pub(crate) struct OwnId {
    /// Tells tasks of the same id apart, and is the number of one without a name or a text.
    pub(crate) serial: u64,
    /// What a map finds it by.
    pub(crate) hash: u64,
    /// The name, or the text of the number: once somebody has asked for it, or if it is that of an
    /// earlier task.
    text: OnceLock<Box<str>>,
}

impl<'a> Id<'a> {
    /// The id that `text` names, be it a name or the text of a number.
    pub(crate) fn read(text: &'a str) -> Id<'a> {
        let number = text
            .strip_prefix('#')
            .and_then(|digits| digits.parse().ok());
        match number {
            Some(number) if text_of(number) == text => Id::Numbered(number),
            _ => Id::Named(text),
        }
    }

    /// What a map finds it by. Users choose names, so the hasher of those should have keys; numbers
    /// follow each other, and a product with an odd number spreads them.
    pub(crate) fn hash(self, hasher: &impl BuildHasher) -> u64 {
        match self {
            Id::Named(name) => hasher.hash_one(name),
            Id::Numbered(number) => number.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
    }
}

impl OwnId {
    /// Of a task without a name.
    pub(crate) fn numbered(serial: u64, hasher: &impl BuildHasher) -> OwnId {
        OwnId {
            serial,
            hash: Id::Numbered(serial).hash(hasher),
            text: OnceLock::new(),
        }
    }

    /// Of a task that is called `name`; `None` if it may not be called so.
    ///
    /// `#` is kept for numbers, and nobody can see an empty name.
    pub(crate) fn named(serial: u64, name: &str, hasher: &impl BuildHasher) -> Option<OwnId> {
        let may_be_given = !name.is_empty() && !name.starts_with('#');
        may_be_given.then(|| OwnId {
            serial,
            hash: Id::Named(name).hash(hasher),
            text: OnceLock::from(Box::from(name)),
        })
    }

    /// Of a task that has the id of an earlier one, of which `text` is the text.
    pub(crate) fn again(serial: u64, text: &str, hasher: &impl BuildHasher) -> OwnId {
        OwnId {
            serial,
            hash: Id::read(text).hash(hasher),
            text: OnceLock::from(Box::from(text)),
        }
    }

    pub(crate) fn id(&self) -> Id<'_> {
        match self.text.get() {
            Some(text) => Id::read(text),
            None => Id::Numbered(self.serial),
        }
    }

    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| text_of(self.serial).into())
    }
}

fn text_of(number: u64) -> String {
    format!("#{number}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheel_sync::RandomState;

    #[test]
    fn the_text_of_an_id_names_it() {
        let hasher = RandomState::new();
        let named = OwnId::named(3, "order-17", &hasher).unwrap();
        for own in [OwnId::numbered(17, &hasher), named] {
            let hash = own.id().hash(&hasher);
            assert_eq!(Id::read(own.text()), own.id());
            assert_eq!((own.hash, own.id().hash(&hasher)), (hash, hash));
        }
        assert_eq!(Id::read("#017"), Id::Named("#017"));
        assert_eq!(Id::read("#+1"), Id::Named("#+1"));
    }

    #[test]
    fn a_number_stays_one_when_somebody_has_asked_for_its_text() {
        let own = OwnId::numbered(17, &RandomState::new());
        assert_eq!((own.id(), own.text()), (Id::Numbered(17), "#17"));
        assert_eq!(own.id(), Id::Numbered(17));
    }

    #[test]
    fn a_task_that_is_made_again_has_the_id_of_the_earlier_one() {
        let hasher = RandomState::new();
        let named = OwnId::named(3, "order-17", &hasher).unwrap();
        for own in [OwnId::numbered(17, &hasher), named] {
            let again = OwnId::again(99, own.text(), &hasher);
            assert_eq!((again.id(), again.hash), (own.id(), own.hash));
            assert_eq!((again.text(), again.serial), (own.text(), 99));
        }
    }

    #[test]
    fn names_do_not_look_like_numbers() {
        let may_be_given = |name| OwnId::named(1, name, &RandomState::new()).is_some();
        assert!(may_be_given("order #17"));
        assert!(!may_be_given("#17"));
        assert!(!may_be_given(""));
    }
}
