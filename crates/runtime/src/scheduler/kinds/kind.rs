//! A kind as its user describes it.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::payload::{Takes, typed};
use super::share;
use crate::panics::discard;
use crate::policy::{Breaker, PolicyError, Reaction, Retry, Rules};
use crate::task::{Context, IntoOutcome};

/// The longest name, in bytes.
pub(super) const NAME_MAX: usize = 128;

/// A handler with a name, for tasks that are data: each brings a payload, which the handler gets.
///
/// The simple case is [`Scheduler::register`](crate::Scheduler::register); this is for one with more
/// to say, by [`Scheduler::register_kind`](crate::Scheduler::register_kind).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use wheel_runtime::{Breaker, Context, Kind, Scheduler};
///
/// fn send(_run: &Context, to: String) -> Result<(), String> {
///     println!("sending to {to}");
///     Ok(())
/// }
/// fn send_faster(_run: &Context, to: String) -> Result<(), String> {
///     println!("sending to {to}, faster");
///     Ok(())
/// }
///
/// let scheduler = Scheduler::builder().build()?;
/// let breaker = Breaker::after(5).half_open_after(Duration::from_secs(30));
/// let mail = Kind::new("send_mail", send).variant("faster", 5, send_faster).breaker(breaker);
/// scheduler.register_kind(mail)?;
/// let task = scheduler.task("mail-1001").kind("send_mail", "a@example.org");
/// task.after(Duration::ZERO).submit()?.wait();
/// assert_eq!(scheduler.kinds()[0].attempts, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a kind does nothing until it is registered"]
pub struct Kind {
    pub(super) name: Arc<str>,
    pub(super) breaker: Option<Breaker>,
    pub(super) code: KindCode,
}

/// The user's code in a kind, and what goes with it.
pub(super) struct KindCode {
    handler: Arc<dyn Takes>,
    variants: Vec<Variant>,
    pub(super) retry: Option<Retry>,
    pub(super) rules: Rules,
    pub(super) fallbacks: Vec<(u32, Arc<dyn Takes>)>,
}

struct Variant {
    name: Arc<str>,
    percent: u32,
    handler: Arc<dyn Takes>,
}

/// Why a kind was not registered. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// A name of a kind or a variant has 1 to 128 bytes and no control characters.
    InvalidName(String),
    /// There is a kind of this name: it stays.
    Duplicate(String),
    /// Two variants have this name.
    DuplicateVariant(String),
    /// A number of a policy or of the variants is not possible.
    Policy(PolicyError),
    /// The scheduler is shutting down, or has been shut down.
    ShuttingDown,
}

impl Kind {
    /// A kind called `name`: 1 to 128 bytes, no control characters. `handler` gets the context of
    /// the run and the payload, as it is read from what the task was submitted with; it may return
    /// what any handler may.
    pub fn new<P, F, O>(name: impl Into<String>, handler: F) -> Kind
    where
        P: DeserializeOwned + 'static,
        F: Fn(&Context, P) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        Kind {
            name: name.into().into(),
            breaker: None,
            code: KindCode {
                handler: Arc::new(typed(handler)),
                variants: Vec::new(),
                retry: None,
                rules: Rules::default(),
                fallbacks: Vec::new(),
            },
        }
    }

    /// Of a hundred ids, `percent` have another handler: to try a new one on a part of the tasks. All
    /// variants together have 100 at most; the rest has the handler of [`new`](Kind::new).
    ///
    /// Which one is decided by the id of the task alone, so the same id has the same variant in every
    /// process and every run. Its hash is FNV-1a with 64 bits, mixed as by SplitMix64. A larger
    /// percentage for the last variant moves ids to it and none away. A task without a name has any.
    /// [`Context::variant`](crate::Context::variant) names it.
    pub fn variant<P, F, O>(mut self, name: impl Into<String>, percent: u32, handler: F) -> Kind
    where
        P: DeserializeOwned + 'static,
        F: Fn(&Context, P) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        self.code.variants.push(Variant {
            name: name.into().into(),
            percent,
            handler: Arc::new(typed(handler)),
        });
        self
    }

    /// Keeps attempts away while they keep failing: see [`Breaker`].
    pub fn breaker(mut self, breaker: Breaker) -> Kind {
        self.breaker = Some(breaker);
        self
    }

    /// The retry policy of tasks that bring none. It is no part of their definitions.
    pub fn retry(mut self, retry: Retry) -> Kind {
        self.code.retry = Some(retry);
        self
    }

    /// As [`TaskBuilder::on_repeated_failure`](crate::TaskBuilder::on_repeated_failure), with the runs
    /// of all tasks of the kind in one row. [`Reaction::archive`] cancels the task whose run it was.
    pub fn on_repeated_failure(mut self, failures: u32, reaction: Reaction) -> Kind {
        self.code.rules.add(failures, reaction);
        self
    }

    /// As [`on_repeated_failure`](Kind::on_repeated_failure) with a [`Reaction::fallback`] that gets
    /// the payload.
    pub fn fallback_after<P, F, O>(mut self, failures: u32, fallback: F) -> Kind
    where
        P: DeserializeOwned + 'static,
        F: Fn(&Context, P) -> O + Send + Sync + 'static,
        O: IntoOutcome,
    {
        let fallback = Arc::new(typed(fallback));
        self.code.fallbacks.push((failures, fallback));
        self
    }

    /// Whether it can be kept to.
    pub(super) fn check(&self) -> Result<(), RegisterError> {
        let variants = &self.code.variants;
        let names = variants.iter().map(|variant| &variant.name);
        for (n, name) in names.clone().enumerate() {
            if names.clone().take(n).any(|other| other == name) {
                return Err(RegisterError::DuplicateVariant(name.to_string()));
            }
        }
        let mut named = [&self.name].into_iter().chain(names);
        if let Some(wrong) = named.find(|name| !is_possible(name)) {
            return Err(RegisterError::InvalidName(shown(wrong)));
        }
        let percent: u64 = variants
            .iter()
            .map(|variant| u64::from(variant.percent))
            .sum();
        if percent > 100 {
            let given = format!("{percent} percent in all");
            return Err(PolicyError::new("variant", given, "at most 100").into());
        }
        self.check_policies().map_err(RegisterError::Policy)
    }

    fn check_policies(&self) -> Result<(), PolicyError> {
        if let Some(breaker) = &self.breaker {
            breaker.check()?;
        }
        if let Some(retry) = &self.code.retry {
            retry.check()?;
        }
        self.code.rules.check()?;
        let mut fallbacks = self.code.fallbacks.iter();
        fallbacks.try_for_each(|(failures, _)| Rules::check_failures("fallback_after", *failures))
    }
}

impl KindCode {
    /// The handler of the task `id`, and the name of the variant if it has one.
    pub(super) fn of(&self, id: &str) -> (&Arc<dyn Takes>, Option<&Arc<str>>) {
        let percents = self.variants.iter().map(|variant| variant.percent);
        match share::place(id, percents) {
            Some(place) => {
                let variant = &self.variants[place];
                (&variant.handler, Some(&variant.name))
            }
            None => (&self.handler, None),
        }
    }
}

/// Drops each part of the user's by itself: a panic in one `Drop` ends here.
impl Drop for KindCode {
    fn drop(&mut self) {
        discard(self.variants.drain(..));
        discard(self.fallbacks.drain(..));
        std::mem::take(&mut self.rules).discard();
        if let Some(retry) = self.retry.take() {
            retry.discard();
        }
    }
}

/// Whether a kind or a variant may be called so.
pub(super) fn is_possible(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && !name.contains(char::is_control)
}

/// As much of a wrong name as there could be of a right one.
pub(super) fn shown(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

impl From<PolicyError> for RegisterError {
    fn from(error: PolicyError) -> RegisterError {
        RegisterError::Policy(error)
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::InvalidName(name) => write!(
                f,
                "name: {name:?} is not possible: 1 to {NAME_MAX} bytes without control characters"
            ),
            RegisterError::Duplicate(name) => write!(
                f,
                "name: the kind {name:?} is registered already: it stays, so take another name"
            ),
            RegisterError::DuplicateVariant(name) => {
                write!(
                    f,
                    "variant: two are called {name:?}: each needs a name of its own"
                )
            }
            RegisterError::Policy(error) => error.fmt(f),
            RegisterError::ShuttingDown => f.write_str("the scheduler is shutting down"),
        }
    }
}

impl std::error::Error for RegisterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RegisterError::Policy(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variants = self.code.variants.iter();
        let variants: Vec<_> = variants
            .map(|variant| (&variant.name, variant.percent))
            .collect();
        f.debug_struct("Kind")
            .field("name", &self.name)
            .field("variants", &variants)
            .field("breaker", &self.breaker)
            .field("retry", &self.code.retry)
            .finish_non_exhaustive()
    }
}
