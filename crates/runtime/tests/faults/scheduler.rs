//! `Scheduler`: whatever is done, wherever.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wheel_runtime::{
    Context, Executor, InlineExecutor, Job, ManualClock, OnConflict, Outcome, Schedule, Scheduler,
    TaskFilter, TaskState,
};
use wheel_sync::Mutex;

use crate::{FOR_EVER, HANG, Held, assert_all_dropped, bomb, contained, each_ends, ms};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Submit,
    ReplaceItself,
    CancelItself,
    CancelAnother,
    RescheduleItself,
    RescheduleAnother,
    TriggerItself,
    TriggerAnother,
    Look,
    WaitUntilIdle,
    WaitUntilEmpty,
    ReplayTheDead,
    PurgeTheDead,
    MoveTheClock,
    ShutDown,
    ShutDownTwice,
    DropTheLastHandle,
    Panic,
    PanicWithABomb,
}

pub(crate) const ACTS: [Act; 19] = [
    Act::Submit,
    Act::ReplaceItself,
    Act::CancelItself,
    Act::CancelAnother,
    Act::RescheduleItself,
    Act::RescheduleAnother,
    Act::TriggerItself,
    Act::TriggerAnother,
    Act::Look,
    Act::WaitUntilIdle,
    Act::WaitUntilEmpty,
    Act::ReplayTheDead,
    Act::PurgeTheDead,
    Act::MoveTheClock,
    Act::ShutDown,
    Act::ShutDownTwice,
    Act::DropTheLastHandle,
    Act::Panic,
    Act::PanicWithABomb,
];

/// Where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Handler,
    HandlerOnTheDriver,
    RecurringHandler,
    TextOfAnError,
    DropOfAnError,
    DropAfterTheRun,
    DropAfterTheRunOnTheDriver,
    DropAtCancel,
    DropWhenReplaced,
    DropOfADuplicate,
    DropWhenTheOldOneIsKept,
    DropOfOneTooMany,
    DropOfABadId,
    DropOfWhatWasRefused,
    DropAtShutdown,
    DropWithTheLastHandle,
    DropOfWhatAnExecutorRefused,
    Executor,
    CountOfTheExecutor,
    DropOfTheExecutor,
}

const PLACES: [Place; 20] = [
    Place::Handler,
    Place::HandlerOnTheDriver,
    Place::RecurringHandler,
    Place::TextOfAnError,
    Place::DropOfAnError,
    Place::DropAfterTheRun,
    Place::DropAfterTheRunOnTheDriver,
    Place::DropAtCancel,
    Place::DropWhenReplaced,
    Place::DropOfADuplicate,
    Place::DropWhenTheOldOneIsKept,
    Place::DropOfOneTooMany,
    Place::DropOfABadId,
    Place::DropOfWhatWasRefused,
    Place::DropAtShutdown,
    Place::DropWithTheLastHandle,
    Place::DropOfWhatAnExecutorRefused,
    Place::Executor,
    Place::CountOfTheExecutor,
    Place::DropOfTheExecutor,
];

/// What an act works on. Holds the only handle, so that an act can drop the last one.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) clock: ManualClock,
    pub(crate) scheduler: Arc<Mutex<Option<Scheduler>>>,
    pub(crate) alive: Arc<AtomicUsize>,
    pub(crate) acted: Arc<AtomicUsize>,
}

impl Scene {
    pub(crate) fn scheduler(&self) -> Option<Scheduler> {
        self.scheduler.lock().clone()
    }

    pub(crate) fn handler(&self) -> impl Fn(&Context) + Send + Sync + 'static {
        let held = Held::plain(&self.alive);
        move |_| {
            let _ = &held;
        }
    }

    pub(crate) fn held(&self, act: Act) -> Held {
        let scene = self.clone();
        Held::calling(&self.alive, move || scene.act(act))
    }

    /// A handler whose captures act when they are dropped.
    fn acting_when_dropped(&self, act: Act) -> impl Fn(&Context) + Send + Sync + 'static {
        let held = self.held(act);
        move |_| {
            let _ = &held;
        }
    }

    /// The task that acts is called `x`, and the other one `y`.
    pub(crate) fn act(&self, act: Act) {
        self.acted.fetch_add(1, Ordering::SeqCst);
        match act {
            Act::Panic => panic!("of the test"),
            Act::PanicWithABomb => resume_unwind(bomb()),
            Act::MoveTheClock => return self.clock.advance(ms(3)),
            Act::DropTheLastHandle => return drop(self.scheduler.lock().take()),
            _ => {}
        }
        let Some(scheduler) = self.scheduler() else {
            return;
        };
        match act {
            Act::Submit => drop(scheduler.after(ms(1), self.handler())),
            Act::ReplaceItself => {
                let task = scheduler.task("x").on_conflict(OnConflict::Replace);
                drop(task.after(ms(1)).run(self.handler()));
            }
            Act::CancelItself => drop(scheduler.cancel("x")),
            Act::CancelAnother => drop(scheduler.cancel("y")),
            Act::RescheduleItself => drop(scheduler.reschedule("x", Schedule::after(ms(2)))),
            Act::RescheduleAnother => drop(scheduler.reschedule("y", Schedule::after(ms(0)))),
            Act::TriggerItself => drop(scheduler.trigger("x")),
            Act::TriggerAnother => drop(scheduler.trigger("y")),
            Act::Look => {
                let all = scheduler.tasks(&TaskFilter::all());
                let infos = all.iter().map(|task| scheduler.get(&task.id));
                assert!(infos.count() <= 5);
                drop((scheduler.stats(), scheduler.handle("x")));
            }
            Act::WaitUntilIdle => drop(scheduler.wait_idle_timeout(FOR_EVER)),
            // Not as long as `y` is pending.
            Act::WaitUntilEmpty => drop(scheduler.wait_empty_timeout(ms(1))),
            Act::ReplayTheDead => {
                let dead = scheduler.dead_letters();
                dead.list()
                    .iter()
                    .for_each(|letter| drop(dead.replay(letter.id)));
            }
            Act::PurgeTheDead => assert!(scheduler.dead_letters().purge() <= 1),
            Act::ShutDown => drop(scheduler.shutdown(FOR_EVER)),
            Act::ShutDownTwice => {
                drop((scheduler.shutdown(ms(0)), scheduler.shutdown(FOR_EVER)));
            }
            _ => unreachable!("done above"),
        }
    }
}

/// Acts on the driver thread: when it is called the first time, or asked for its count.
struct Acts(Scene, Act, Place);

impl Acts {
    fn act_at(&self, place: Place) {
        // Again and again it could keep the driver for ever, by what it makes due.
        let acted = self.0.acted.load(Ordering::SeqCst) > 0;
        let always = [Act::Panic, Act::PanicWithABomb].contains(&self.1);
        if self.2 == place && (always || !acted) {
            self.0.act(self.1);
        }
    }
}

impl Executor for Acts {
    fn execute(&self, jobs: &mut Vec<Job>) {
        self.act_at(Place::Executor);
        InlineExecutor.execute(jobs);
    }

    fn queued(&self) -> usize {
        self.act_at(Place::CountOfTheExecutor);
        0
    }
}

/// Acts when it is dropped.
struct ActsWhenDropped(#[expect(dead_code, reason = "it is there to be dropped")] Held);

impl Executor for ActsWhenDropped {
    fn execute(&self, jobs: &mut Vec<Job>) {
        InlineExecutor.execute(jobs);
    }
}

/// Leaves everything.
struct Refuses;

impl Executor for Refuses {
    fn execute(&self, _: &mut Vec<Job>) {}
}

/// Acts when it is turned into text, and when it is dropped.
struct ActingError {
    text: Option<(Scene, Act)>,
    _held: Option<Held>,
}

impl fmt::Display for ActingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((scene, act)) = &self.text {
            scene.act(*act);
        }
        f.write_str("out of paper")
    }
}

fn scene(place: Place, act: Act) -> Scene {
    let scene = Scene {
        clock: ManualClock::new(),
        scheduler: Arc::default(),
        alive: Arc::default(),
        acted: Arc::default(),
    };
    let builder = Scheduler::builder().clock(scene.clock.clone()).max_tasks(5);
    let builder = match place {
        Place::HandlerOnTheDriver | Place::DropAfterTheRunOnTheDriver => {
            builder.executor(InlineExecutor)
        }
        Place::DropOfWhatAnExecutorRefused => builder.executor(Refuses),
        Place::Executor | Place::CountOfTheExecutor => {
            builder.executor(Acts(scene.clone(), act, place))
        }
        Place::DropOfTheExecutor => builder.executor(ActsWhenDropped(scene.held(act))),
        _ => builder.workers(2),
    };
    *scene.scheduler.lock() = Some(builder.build().unwrap());
    scene
}

/// Brings the act about.
fn act_at(scene: &Scene, place: Place, act: Act) {
    let (inner, scheduler) = (scene.clone(), scene.scheduler().unwrap());
    let acting = || scene.acting_when_dropped(act);
    let x = |after| scheduler.task("x").after(after);
    let far = Duration::from_secs(3600);
    let added = match place {
        Place::Handler | Place::HandlerOnTheDriver => {
            x(ms(1)).run(move |_| inner.act(act)).map(drop)
        }
        Place::RecurringHandler => {
            let acts_once = move |context: &Context| {
                if context.run() == 1 {
                    inner.act(act);
                }
            };
            scheduler.task("x").every(ms(1)).run(acts_once).map(drop)
        }
        Place::TextOfAnError => {
            let text = move || Some((inner.clone(), act));
            let fails = move |_: &Context| {
                Err::<(), _>(ActingError {
                    text: text(),
                    _held: None,
                })
            };
            x(ms(1)).run(fails).map(drop)
        }
        Place::DropOfAnError => {
            let fails = move |_: &Context| {
                Err::<(), _>(ActingError {
                    text: None,
                    _held: Some(inner.held(act)),
                })
            };
            x(ms(1)).run(fails).map(drop)
        }
        Place::DropAfterTheRun
        | Place::DropAfterTheRunOnTheDriver
        | Place::DropOfWhatAnExecutorRefused => x(ms(1)).run(acting()).map(drop),
        Place::DropAtCancel
        | Place::DropWhenReplaced
        | Place::DropAtShutdown
        | Place::DropWithTheLastHandle => x(far).run(acting()).map(drop),
        Place::DropOfADuplicate | Place::DropWhenTheOldOneIsKept | Place::DropOfOneTooMany => {
            x(ms(5)).run(scene.handler()).map(drop)
        }
        Place::Executor | Place::CountOfTheExecutor | Place::DropOfTheExecutor => {
            x(ms(1)).run(scene.handler()).map(drop)
        }
        Place::DropOfABadId | Place::DropOfWhatWasRefused => Ok(()),
    };
    added.expect("there is room");
    contained(|| match place {
        Place::DropAtCancel => drop(scheduler.cancel("x")),
        Place::DropWhenReplaced => {
            let task = x(ms(1)).on_conflict(OnConflict::Replace);
            drop(task.run(scene.handler()));
        }
        Place::DropOfADuplicate => drop(x(ms(1)).run(acting())),
        Place::DropWhenTheOldOneIsKept => {
            drop(x(ms(1)).on_conflict(OnConflict::Keep).run(acting()));
        }
        Place::DropOfOneTooMany => {
            while scheduler.after(far, scene.handler()).is_ok() {}
            drop(scheduler.after(far, acting()));
        }
        Place::DropOfABadId => drop(scheduler.task("#1").after(far).run(acting())),
        Place::DropOfWhatWasRefused => {
            drop(scheduler.shutdown(HANG));
            drop(scheduler.after(far, acting()));
        }
        Place::DropAtShutdown => drop(scheduler.shutdown(HANG)),
        _ => {}
    });
    drop(scheduler);
    if place == Place::DropWithTheLastHandle || place == Place::DropOfTheExecutor {
        // The act finds no handle any more.
        scene.clock.advance(ms(1));
        let last = scene.scheduler.lock().take();
        contained(|| drop(last));
    }
    scene.clock.advance(ms(1));
}

// RE-02, SD-13
#[test]
fn whatever_is_done_wherever_the_scheduler_goes_on_and_every_value_is_dropped() {
    each_ends(&PLACES, &ACTS, cell);
}

fn cell(place: Place, act: Act) {
    let scene = scene(place, act);
    {
        let scheduler = scene.scheduler().unwrap();
        let y = scheduler.task("y").after(ms(50));
        y.run(scene.handler()).unwrap();
        scheduler.after(ms(1), scene.handler()).unwrap();
    }
    act_at(&scene, place, act);
    if let Some(scheduler) = scene.scheduler() {
        assert!(scheduler.wait_idle_timeout(HANG), "a run does not end");
        assert_goes_on(&scene, &scheduler, place, act);
        contained(|| drop(scheduler.shutdown(HANG)));
        let stats = scheduler.stats();
        let live = (stats.scheduled, stats.queued, stats.running);
        assert_eq!(live, (0, 0, 0), "{stats:?}");
        assert_eq!(stats.runs, stats.succeeded + stats.failed, "{stats:?}");
        assert!(scheduler.tasks(&TaskFilter::all()).is_empty());
    }
    let last = scene.scheduler.lock().take();
    contained(|| drop(last));
    assert_all_dropped(&scene.alive);
    assert!(scene.acted.load(Ordering::SeqCst) > 0, "nothing was done");
    scene.clock.advance(ms(1));
}

fn assert_goes_on(scene: &Scene, scheduler: &Scheduler, place: Place, act: Act) {
    let panics = [Act::Panic, Act::PanicWithABomb].contains(&act);
    if place == Place::DropOfOneTooMany {
        // Make room again.
        for task in scheduler.tasks(&TaskFilter::all()) {
            let _ = scheduler.cancel(&task.id);
        }
    }
    match scheduler.after(ms(1), scene.handler()) {
        Ok(task) => {
            scene.clock.advance(ms(1));
            let refuses =
                place == Place::DropOfWhatAnExecutorRefused || (place == Place::Executor && panics);
            let expected = match refuses {
                true => TaskState::Skipped,
                false => TaskState::Succeeded,
            };
            let ended = task.wait_timeout(HANG);
            // An executor that shuts down takes the run along.
            assert_eq!(ended, Some(expected));
        }
        Err(refused) => {
            assert_eq!(refused, wheel_runtime::SubmitError::ShuttingDown);
            let ends = [Act::ShutDown, Act::ShutDownTwice].contains(&act);
            let closed = [Place::DropOfWhatWasRefused, Place::DropAtShutdown].contains(&place);
            assert!(ends || closed, "something else has ended the engine");
        }
    }
    let handler_fails = [Place::Handler, Place::HandlerOnTheDriver].contains(&place);
    if panics && handler_fails {
        assert_eq!(scheduler.stats().panicked, 1);
    }
}

#[test]
fn a_panic_in_the_text_of_an_error_is_a_failed_run() {
    let scene = scene(Place::TextOfAnError, Act::Panic);
    act_at(&scene, Place::TextOfAnError, Act::Panic);
    let scheduler = scene.scheduler().unwrap();
    assert!(scheduler.wait_idle_timeout(HANG));
    let stats = scheduler.stats();
    assert_eq!((stats.failed, stats.panicked, stats.succeeded), (1, 1, 0));
    let outcome = scheduler.after(ms(0), |_| Outcome::Success).unwrap();
    assert_eq!(outcome.wait_timeout(HANG), Some(TaskState::Succeeded));
}
