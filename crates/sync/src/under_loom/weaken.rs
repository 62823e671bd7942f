//! Which atomic sites a model reaches, and what happens when one of them is weaker than written.
//!
//! A site is a call of an atomic operation in the product's source; `#[track_caller]` tells where
//! it stands. Two variables of the environment change what the operations do, so that one build of
//! the models serves every site:
//!
//! - `WHEEL_SITES=1`: each model prints the sites that it reached, a line each:
//!   `site FILE:LINE:COLUMN OPERATION PART ORDERING`.
//! - `WHEEL_WEAKEN="FILE:LINE:COLUMN PART ORDERING"`: that part of that one site has this ordering
//!   instead; `None` takes a fence away.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, OnceLock, PoisonError};

use loom::sync::atomic::Ordering;

/// Which of the orderings of a call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The only one.
    Only,
    /// That of a read-modify-write that stores.
    Success,
    /// That of one that does not.
    Failure,
}

enum Mode {
    AsWritten,
    Report(Mutex<Reached>),
    Weaken(Weakening),
}

/// By place and part: the operation and the ordering as written.
type Reached = BTreeMap<(&'static Location<'static>, Part), (&'static str, Ordering)>;

struct Weakening {
    file: String,
    line: u32,
    column: u32,
    part: String,
    /// `None`: the fence is not there.
    ordering: Option<Ordering>,
}

/// The ordering to use for what `caller` has `written`; `None` for a fence that is not there.
#[inline]
pub(super) fn ordering_at(
    caller: &'static Location<'static>,
    operation: &'static str,
    part: Part,
    written: Ordering,
) -> Option<Ordering> {
    match mode() {
        Mode::AsWritten => Some(written),
        Mode::Report(sites) => {
            let mut sites = sites.lock().unwrap_or_else(PoisonError::into_inner);
            sites.insert((caller, part), (operation, written));
            Some(written)
        }
        Mode::Weaken(weakening) if weakening.is_of(caller, part) => weakening.ordering,
        Mode::Weaken(_) => Some(written),
    }
}

/// Prints the sites that were reached since the last call, if that is wanted.
pub(super) fn report() {
    if let Mode::Report(sites) = mode() {
        let mut sites = sites.lock().unwrap_or_else(PoisonError::into_inner);
        for ((place, part), (operation, written)) in std::mem::take(&mut *sites) {
            println!("site {place} {operation} {part:?} {written:?}");
        }
    }
}

fn mode() -> &'static Mode {
    static MODE: OnceLock<Mode> = OnceLock::new();
    MODE.get_or_init(|| match std::env::var("WHEEL_WEAKEN") {
        Ok(text) => Mode::Weaken(Weakening::read(&text).unwrap_or_else(|| {
            panic!("WHEEL_WEAKEN is {text:?}, not \"FILE:LINE:COLUMN PART ORDERING\"")
        })),
        Err(_) if std::env::var_os("WHEEL_SITES").is_some() => Mode::Report(Mutex::default()),
        Err(_) => Mode::AsWritten,
    })
}

impl Weakening {
    fn read(text: &str) -> Option<Weakening> {
        let mut words = text.split(' ');
        let (place, part, ordering) = (words.next()?, words.next()?, words.next()?);
        let mut place = place.rsplitn(3, ':');
        let (column, line, file) = (place.next()?, place.next()?, place.next()?);
        let ordering = match ordering {
            "None" => None,
            // Each as the variable says, for the site that it names.
            "Relaxed" => Some(Ordering::Relaxed),
            "Acquire" => Some(Ordering::Acquire),
            "Release" => Some(Ordering::Release),
            "AcqRel" => Some(Ordering::AcqRel),
            _ => return None,
        };
        Some(Weakening {
            file: file.to_owned(),
            line: line.parse().ok()?,
            column: column.parse().ok()?,
            part: part.to_owned(),
            ordering,
        })
    }

    fn is_of(&self, caller: &Location<'_>, part: Part) -> bool {
        self.line == caller.line()
            && self.column == caller.column()
            && self.file == caller.file()
            && self.part == format!("{part:?}")
    }
}
