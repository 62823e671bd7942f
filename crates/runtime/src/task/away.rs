//! An attempt whose handler is a future: a worker starts it, and the user's runtime takes it on.
//!
//! ```text
//!  worker:   start (run.rs) --> depart: the handler makes a future, the spawner gets it
//!  runtime:  poll, poll, ready --> finish (conclude.rs), on the thread that polled it last
//!            dropped before     --> finish, as a failure that says so
//!  driver:   over time (over_time.rs): the next poll drops the future
//! ```
//!
//! Nothing of it holds a worker. From the start on the run is where every run is that goes: its
//! state, its places, its timer and its part in a shutdown are those of a handler that has not
//! returned. [`RunFuture`] is what returns, once, in whatever way it ends.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as PollContext, Poll, Waker};

use super::attempt::{Attempt, Ended};
use super::awaiting::Place;
use super::context::Given;
use super::run::{Started, enter, leave, panicked};
use super::traced::{Kept, Traced};
use super::waiting::WaitingRun;
use super::{Code, Context, Failing, Outcome, Task};
use crate::panics::{contain, discard};
use crate::scheduler::Permit;

/// What a handler makes, its outcome found.
type Going = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Takes runs to a runtime: what [`run_async`](crate::TaskBuilder::run_async) is given.
///
/// Every `Fn(RunFuture)` is one. It is called on a worker of the scheduler, once for each attempt, and
/// has to see to it that the future is polled, whatever becomes of the value that its runtime hands
/// back for it: `tokio` goes on when that is dropped, `smol` wants a `detach`. A run that a spawner
/// drops has failed.
///
/// # Examples
///
/// ```
/// use wheel_runtime::{RunFuture, Spawner};
///
/// /// Takes runs to a tokio runtime.
/// struct OnTokio(tokio::runtime::Handle);
///
/// impl Spawner for OnTokio {
///     fn spawn(&self, run: RunFuture) {
///         self.0.spawn(run);
///     }
/// }
/// ```
pub trait Spawner: Send + Sync + 'static {
    /// Sees to it that `run` is polled to its end. Should be quick: a worker waits.
    fn spawn(&self, run: RunFuture);
}

impl<F: Fn(RunFuture) + Send + Sync + 'static> Spawner for F {
    fn spawn(&self, run: RunFuture) {
        self(run);
    }
}

/// The user's part of a task whose handler is a future.
pub(crate) struct Away {
    /// `None` once they are being dropped.
    make: Option<Box<dyn Fn(Context) -> Going + Send + Sync>>,
    spawner: Option<Box<dyn Spawner>>,
}

/// An attempt of a run, for a runtime to poll.
///
/// When its handler's future is done, so is this, and what came of the attempt has been written down.
/// Dropped before, the attempt has failed; with a [`Retry`](crate::Retry) policy it is made again.
/// Panics of the handler end in it. Polled after it was done it is done.
#[must_use = "dropping it fails the run"]
pub struct RunFuture {
    /// `None` once the attempt is over.
    run: Option<Run>,
    was_polled: bool,
}

struct Run {
    task: Arc<Task>,
    attempt: Attempt,
    failing: Option<Arc<Failing>>,
    context: Context,
    going: Going,
    /// Where it stands among those who wait for the token, if its time is limited.
    place: Option<Place>,
    /// Of its concurrency key, unless the watch of its time has it.
    permit: Option<Permit>,
    traced: Kept,
}

/// How the future of a handler came to its end.
enum Gone {
    With(Outcome),
    /// Its time was over, and it was dropped.
    Late,
}

impl Away {
    pub(crate) fn new(
        make: Box<dyn Fn(Context) -> Going + Send + Sync>,
        spawner: Box<dyn Spawner>,
    ) -> Arc<Away> {
        let (make, spawner) = (Some(make), Some(spawner));
        Arc::new(Away { make, spawner })
    }

    fn make(&self, context: Context) -> Going {
        self.make.as_ref().expect("taken when it is dropped")(context)
    }

    fn spawn(&self, run: RunFuture) {
        let spawner = self.spawner.as_ref();
        spawner.expect("taken when it is dropped").spawn(run);
    }
}

/// Each by itself: a panic in one `Drop` ends here.
impl Drop for Away {
    fn drop(&mut self) {
        discard(self.make.take());
        discard(self.spawner.take());
    }
}

impl fmt::Debug for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Away").finish_non_exhaustive()
    }
}

impl WaitingRun {
    /// On a worker: the attempt has started, and goes on elsewhere.
    pub(super) fn depart(mut self, task: &Arc<Task>, started: Started, away: Arc<Away>) {
        let Code {
            handler,
            failing,
            terms,
        } = started.code;
        drop(handler);
        let mut attempt = started.attempt;
        let given = Given {
            token: started.token,
            last_error: started.last_error,
            terms,
        };
        let context = Context::of_attempt(task, &attempt, &self.occasion, given);
        let outside = enter(task, attempt.ticket);
        let traced = Traced::begin(task, &attempt, &self.occasion);
        // What the user gave is in this thread's hands as well, also when the run is over before.
        task.core.activity.begin();
        match contain(|| away.make(context.clone())) {
            Ok(going) => {
                let run = RunFuture {
                    run: Some(Run {
                        task: Arc::clone(task),
                        attempt,
                        failing,
                        context,
                        going,
                        place: None,
                        permit: self.permit.take(),
                        traced: traced.keep(),
                    }),
                    was_polled: false,
                };
                // A panic drops the run, which says what is to be said of it.
                task.call_hook("the spawner", || away.spawn(run));
            }
            Err(message) => {
                let gone = Gone::With(panicked(task, &message));
                task.over_with_future(&mut attempt, failing, context, gone);
            }
        }
        discard([away]);
        task.core.activity.end();
        traced.end();
        leave(outside);
    }
}

impl Task {
    /// The future of an attempt has come to its end, and has been dropped.
    fn over_with_future(
        self: &Arc<Task>,
        attempt: &mut Attempt,
        failing: Option<Arc<Failing>>,
        context: Context,
        gone: Gone,
    ) {
        let ended = match (gone, &failing) {
            (Gone::With(outcome), Some(failing)) => {
                self.stand_in(attempt, failing, &context, outcome)
            }
            (Gone::With(outcome), None) => Ended::Returned(outcome),
            (Gone::Late, _) => Ended::OverTime(attempt.limit().of),
        };
        attempt.values = context.end();
        drop(context);
        self.finish(attempt, failing, ended);
    }
}

impl Run {
    /// Polls the future of the handler, which is inside of the attempt meanwhile.
    fn poll(&mut self, cx: &mut PollContext<'_>) -> Poll<Gone> {
        if self.attempt.has_limit() && self.is_late(cx.waker()) {
            return Poll::Ready(Gone::Late);
        }
        match contain(|| self.going.as_mut().poll(cx)) {
            Ok(polled) => polled.map(Gone::With),
            Err(message) => Poll::Ready(Gone::With(panicked(&self.task, &message))),
        }
    }

    /// Whether its time is over. If not, whoever finds that out wakes it.
    fn is_late(&mut self, waker: &Waker) -> bool {
        // In this order: the driver reads its clock before it wakes.
        self.context.token().await_at(&mut self.place, waker);
        let now = self.task.core.engine.clock().now();
        self.attempt.limit().passed(now).is_some()
    }

    /// It is over: what came of it is written down.
    fn end(self, gone: Gone) {
        let Run {
            task,
            mut attempt,
            failing,
            context,
            going,
            mut place,
            permit,
            traced: _traced,
        } = self;
        context.token().leave(&mut place);
        // What it captured is dropped while the run counts as going.
        discard([going]);
        task.over_with_future(&mut attempt, failing, context, gone);
        drop(permit);
    }
}

impl Future for RunFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut PollContext<'_>) -> Poll<()> {
        let this = &mut *self;
        this.was_polled = true;
        let Some(run) = &mut this.run else {
            return Poll::Ready(());
        };
        let outside = enter(&run.task, run.attempt.ticket);
        let traced = run.traced.enter();
        let polled = run.poll(cx);
        let polled = polled.map(|gone| {
            if let Some(run) = this.run.take() {
                run.end(gone);
            }
        });
        traced.end();
        leave(outside);
        polled
    }
}

impl Drop for RunFuture {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else { return };
        let error = if self.was_polled {
            "the runtime dropped the run before it was over"
        } else {
            "the runtime dropped the run before it began"
        };
        let outside = enter(&run.task, run.attempt.ticket);
        let traced = run.traced.enter();
        run.end(Gone::With(Outcome::Failure(error.to_owned())));
        traced.end();
        leave(outside);
    }
}

impl fmt::Debug for RunFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = self.run.as_ref().map(|run| &run.context);
        f.debug_struct("RunFuture")
            .field("context", &context)
            .finish_non_exhaustive()
    }
}
