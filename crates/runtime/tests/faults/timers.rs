//! `Timers`: whatever is done, wherever.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wheel_runtime::{Executor, InlineExecutor, Job, ManualClock, TimerKey, Timers};
use wheel_sync::Mutex;

use crate::{Held, assert_all_dropped, bomb, contained, each_ends, ms};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Insert,
    InsertByTheWall,
    Cancel,
    Reset,
    ResetToNow,
    MoveTheClock,
    ShutDown,
    ShutDownTwice,
    DropTheLastHandle,
    Panic,
    PanicWithABomb,
}

const ACTS: [Act; 11] = [
    Act::Insert,
    Act::InsertByTheWall,
    Act::Cancel,
    Act::Reset,
    Act::ResetToNow,
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
    Callback,
    CallbackByTheWall,
    CallbackOnAnExecutor,
    DropAfterTheCallback,
    DropAtCancel,
    DropAtCancelByTheWall,
    DropOfWhatWasRefused,
    DropAtShutdown,
    DropWithTheLastHandle,
    DropOfWhatAnExecutorRefused,
    PanicHook,
    DropOfThePanicHook,
    Executor,
    DropOfTheExecutor,
}

const PLACES: [Place; 14] = [
    Place::Callback,
    Place::CallbackByTheWall,
    Place::CallbackOnAnExecutor,
    Place::DropAfterTheCallback,
    Place::DropAtCancel,
    Place::DropAtCancelByTheWall,
    Place::DropOfWhatWasRefused,
    Place::DropAtShutdown,
    Place::DropWithTheLastHandle,
    Place::DropOfWhatAnExecutorRefused,
    Place::PanicHook,
    Place::DropOfThePanicHook,
    Place::Executor,
    Place::DropOfTheExecutor,
];

/// What an act works on. Holds the only handle, so that an act can drop the last one.
#[derive(Clone)]
struct Scene {
    clock: ManualClock,
    timers: Arc<Mutex<Option<Timers>>>,
    victim: Arc<Mutex<Option<TimerKey>>>,
    alive: Arc<AtomicUsize>,
    acted: Arc<AtomicUsize>,
    ran: Arc<AtomicUsize>,
}

impl Scene {
    fn timers(&self) -> Option<Timers> {
        self.timers.lock().clone()
    }

    /// A callback that counts itself.
    fn callback(&self) -> impl FnOnce() + Send + 'static {
        let (held, ran) = (Held::plain(&self.alive), Arc::clone(&self.ran));
        move || {
            ran.fetch_add(1, Ordering::SeqCst);
            drop(held);
        }
    }

    /// A callback whose captures act when they are dropped.
    fn acting_when_dropped(&self, act: Act) -> impl FnOnce() + Send + 'static {
        let scene = self.clone();
        let held = Held::calling(&self.alive, move || scene.act(act));
        move || drop(held)
    }

    fn act(&self, act: Act) {
        self.acted.fetch_add(1, Ordering::SeqCst);
        let victim = self.victim.lock().take();
        match act {
            Act::Panic => panic!("of the test"),
            Act::PanicWithABomb => resume_unwind(bomb()),
            Act::MoveTheClock => return self.clock.advance(ms(3)),
            Act::DropTheLastHandle => return drop(self.timers.lock().take()),
            _ => {}
        }
        let Some(timers) = self.timers() else { return };
        match act {
            Act::Insert => drop(timers.after(ms(1), self.callback())),
            Act::InsertByTheWall => {
                drop(timers.at(self.clock.wall() + ms(1), self.callback()));
            }
            Act::Cancel => {
                let _ = victim.map(|key| timers.cancel(key));
            }
            Act::Reset => drop(victim.map(|key| timers.reset(key, ms(2)))),
            Act::ResetToNow => drop(victim.map(|key| timers.reset(key, ms(0)))),
            Act::ShutDown => drop(timers.shutdown()),
            Act::ShutDownTwice => drop((timers.shutdown(), timers.shutdown())),
            _ => unreachable!("done above"),
        }
    }
}

/// Acts on the driver thread.
struct Acts(Scene, Act);

impl Executor for Acts {
    fn execute(&self, jobs: &mut Vec<Job>) {
        self.0.act(self.1);
        InlineExecutor.execute(jobs);
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

fn scene(place: Place, act: Act) -> Scene {
    let scene = Scene {
        clock: ManualClock::new(),
        timers: Arc::default(),
        victim: Arc::default(),
        alive: Arc::default(),
        acted: Arc::default(),
        ran: Arc::default(),
    };
    let inner = scene.clone();
    let held = || {
        let inner = scene.clone();
        Held::calling(&scene.alive, move || inner.act(act))
    };
    let builder = Timers::builder().clock(scene.clock.clone());
    let builder = match place {
        Place::CallbackOnAnExecutor => builder.executor(InlineExecutor),
        Place::DropOfWhatAnExecutorRefused => builder.executor(Refuses),
        Place::Executor => builder.executor(Acts(scene.clone(), act)),
        Place::DropOfTheExecutor => builder.executor(ActsWhenDropped(held())),
        _ => builder,
    };
    let builder = match place {
        Place::PanicHook => builder.on_panic(move |_| inner.act(act)),
        Place::DropOfThePanicHook => {
            let held = held();
            builder.on_panic(move |_| {
                let _ = &held;
            })
        }
        _ => builder.on_panic(|_| ()),
    };
    *scene.timers.lock() = Some(builder.build().unwrap());
    scene
}

/// Brings the act about.
fn act_at(scene: &Scene, place: Place, act: Act) {
    let (inner, timers) = (scene.clone(), scene.timers().unwrap());
    let acting = || scene.acting_when_dropped(act);
    let wall = scene.clock.wall();
    let key = match place {
        Place::Callback | Place::CallbackOnAnExecutor => {
            timers.after(ms(1), move || inner.act(act))
        }
        Place::CallbackByTheWall => timers.at(wall + ms(1), move || inner.act(act)),
        Place::PanicHook => timers.after(ms(1), || panic!("of the test")),
        Place::Executor | Place::DropOfThePanicHook | Place::DropOfTheExecutor => {
            timers.after(ms(1), scene.callback())
        }
        Place::DropAtCancelByTheWall => timers.at(wall + ms(1000), acting()),
        Place::DropAtCancel | Place::DropAtShutdown | Place::DropWithTheLastHandle => {
            timers.after(ms(1000), acting())
        }
        Place::DropAfterTheCallback | Place::DropOfWhatAnExecutorRefused => {
            timers.after(ms(1), acting())
        }
        Place::DropOfWhatWasRefused => {
            timers.shutdown();
            contained(|| drop(timers.after(ms(1), acting())));
            return;
        }
    };
    let key = key.expect("there is room");
    match place {
        Place::DropAtCancel | Place::DropAtCancelByTheWall => {
            contained(|| assert!(timers.cancel(key)));
        }
        // Several, and no panic of theirs comes out of it.
        Place::DropAtShutdown => {
            for _ in 0..3 {
                timers.after(ms(1000), acting()).unwrap();
            }
            assert_eq!(timers.shutdown(), 11);
        }
        Place::DropWithTheLastHandle | Place::DropOfThePanicHook | Place::DropOfTheExecutor => {
            // The act finds no handle any more.
            drop(timers);
            scene.clock.advance(ms(1));
            let last = scene.timers.lock().take();
            contained(|| drop(last));
        }
        // Dropped before the clock moves, so that the scene holds the only handle.
        _ => drop(timers),
    }
    scene.clock.advance(ms(1));
}

// RE-02, SD-13
#[test]
fn whatever_is_done_wherever_the_engine_goes_on_and_every_value_is_dropped() {
    each_ends(&PLACES, &ACTS, cell);
}

fn cell(place: Place, act: Act) {
    let scene = scene(place, act);
    {
        let timers = scene.timers().unwrap();
        // What the act may cancel or reset, and neighbours of the same tick.
        let victim = timers.after(ms(50), scene.callback()).unwrap();
        *scene.victim.lock() = Some(victim);
        for _ in 0..3 {
            timers.after(ms(1), scene.callback()).unwrap();
            timers
                .at(scene.clock.wall() + ms(1), scene.callback())
                .unwrap();
        }
    }
    act_at(&scene, place, act);
    let panics = [Act::Panic, Act::PanicWithABomb].contains(&act);
    if let Some(timers) = scene.timers() {
        match timers.after(ms(1), scene.callback()) {
            Ok(_) => {
                let before = scene.ran.load(Ordering::SeqCst);
                scene.clock.advance(ms(1));
                let refuses = place == Place::DropOfWhatAnExecutorRefused
                    || (place == Place::Executor && panics);
                let ran = scene.ran.load(Ordering::SeqCst) - before;
                assert!(ran > 0 || refuses, "the engine does not go on");
            }
            Err(refused) => {
                assert!(refused.is_closed());
                let ends = [Act::ShutDown, Act::ShutDownTwice].contains(&act);
                let closed = [Place::DropOfWhatWasRefused, Place::DropAtShutdown].contains(&place);
                assert!(ends || closed, "something else has ended the engine");
            }
        }
        timers.shutdown();
        let stats = timers.stats();
        assert_eq!((stats.pending, timers.len()), (0, 0));
        let in_a_callback = [
            Place::Callback,
            Place::CallbackByTheWall,
            Place::CallbackOnAnExecutor,
            Place::DropAfterTheCallback,
        ];
        if panics && in_a_callback.contains(&place) {
            assert_eq!(stats.panics, 1);
        }
    }
    let last = scene.timers.lock().take();
    contained(|| drop(last));
    assert_all_dropped(&scene.alive);
    assert!(scene.acted.load(Ordering::SeqCst) > 0, "nothing was done");
    // The clock waits for no driver that has ended.
    scene.clock.advance(ms(1));
}
