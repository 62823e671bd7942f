//! `Scheduler`, where a run fails: whatever is done, wherever.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use wheel_runtime::{Context, ManualClock, Retry, Scheduler, TaskFilter, TaskState};

use crate::scheduler::{ACTS, Act, Scene};
use crate::{HANG, assert_all_dropped, contained, each_ends, ms};

/// Where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BackOff,
    RetryIf,
    OnFailure,
    OnDead,
    Interceptor,
    LaterAttempt,
    DropOfThePolicy,
    DropOfOnFailure,
    DropOfOnDead,
    DropOfALetterWithoutRoom,
    DropOfAPurgedLetter,
    DropOfALetterAtShutdown,
}

const PLACES: [Place; 12] = [
    Place::BackOff,
    Place::RetryIf,
    Place::OnFailure,
    Place::OnDead,
    Place::Interceptor,
    Place::LaterAttempt,
    Place::DropOfThePolicy,
    Place::DropOfOnFailure,
    Place::DropOfOnDead,
    Place::DropOfALetterWithoutRoom,
    Place::DropOfAPurgedLetter,
    Place::DropOfALetterAtShutdown,
];

fn scene(place: Place, act: Act) -> Scene {
    let scene = Scene {
        clock: ManualClock::new(),
        scheduler: Arc::default(),
        alive: Arc::default(),
        acted: Arc::default(),
    };
    let builder = Scheduler::builder().clock(scene.clock.clone()).workers(2);
    let builder = match place {
        Place::Interceptor => {
            let acting = scene.clone();
            builder.around(move |run, go_on| {
                if run.id() == "x" {
                    acting.act_once(act);
                }
                go_on()
            })
        }
        Place::DropOfALetterWithoutRoom => builder.dead_letters(0),
        _ => builder,
    };
    *scene.scheduler.lock() = Some(builder.build().unwrap());
    scene
}

impl Scene {
    /// Again and again it could go on for ever, by what it makes due.
    fn act_once(&self, act: Act) {
        if self.acted.load(Ordering::SeqCst) == 0 {
            self.act(act);
        }
    }
}

/// Brings the act about: `x` fails twice, and is dead.
fn act_at(scene: &Scene, place: Place, act: Act) {
    let scheduler = scene.scheduler().unwrap();
    let retry = Retry::custom({
        let (acting, held) = (
            scene.clone(),
            scene.held_at(Place::DropOfThePolicy, place, act),
        );
        move |_| {
            let _ = &held;
            if place == Place::BackOff {
                acting.act_once(act);
            }
            ms(1)
        }
    });
    let retry = retry.max_attempts(2).retry_if({
        let acting = scene.clone();
        move |_| {
            if place == Place::RetryIf {
                acting.act_once(act);
            }
            true
        }
    });
    let task = scheduler.task("x").after(ms(1)).retry(retry);
    let task = task.on_failure({
        let (acting, held) = (
            scene.clone(),
            scene.held_at(Place::DropOfOnFailure, place, act),
        );
        move |_| {
            let _ = &held;
            if place == Place::OnFailure {
                acting.act_once(act);
            }
        }
    });
    let task = task.on_dead({
        let (acting, held) = (
            scene.clone(),
            scene.held_at(Place::DropOfOnDead, place, act),
        );
        move |_| {
            let _ = &held;
            if place == Place::OnDead {
                acting.act_once(act);
            }
        }
    });
    let drops = [
        Place::DropOfALetterWithoutRoom,
        Place::DropOfAPurgedLetter,
        Place::DropOfALetterAtShutdown,
    ];
    let held = drops.contains(&place).then(|| scene.held(act));
    let acting = scene.clone();
    let added = task.run(move |run: &Context| {
        let _ = &held;
        if place == Place::LaterAttempt && run.attempt() == 2 {
            acting.act_once(act);
        }
        Err("no paper")
    });
    drop(added);
    for _ in 0..3 {
        scene.clock.advance(ms(1));
        assert!(scheduler.wait_idle_timeout(HANG), "a run does not end");
    }
    match place {
        Place::DropOfAPurgedLetter | Place::DropOfThePolicy => {
            contained(|| assert!(scheduler.dead_letters().purge() <= 1));
        }
        Place::DropOfALetterAtShutdown | Place::DropOfOnFailure | Place::DropOfOnDead => {
            contained(|| drop(scheduler.shutdown(HANG)));
        }
        _ => {}
    }
}

impl Scene {
    fn held_at(&self, wanted: Place, place: Place, act: Act) -> Option<crate::Held> {
        (wanted == place).then(|| self.held(act))
    }
}

#[test]
fn whatever_is_done_where_a_run_fails_the_scheduler_goes_on_and_every_value_is_dropped() {
    each_ends(&PLACES, &ACTS, cell);
}

fn cell(place: Place, act: Act) {
    let scene = scene(place, act);
    {
        let scheduler = scene.scheduler().unwrap();
        let y = scheduler.task("y").after(ms(50));
        y.run(scene.handler()).unwrap();
    }
    act_at(&scene, place, act);
    if let Some(scheduler) = scene.scheduler() {
        if let Ok(task) = scheduler.after(ms(1), scene.handler()) {
            scene.clock.advance(ms(1));
            assert_eq!(task.wait_timeout(HANG), Some(TaskState::Succeeded));
        }
        contained(|| drop(scheduler.shutdown(HANG)));
        let stats = scheduler.stats();
        let live = (stats.scheduled, stats.queued, stats.running, stats.retrying);
        assert_eq!(live, (0, 0, 0, 0), "{stats:?}");
        let over = stats.succeeded + stats.failed + stats.abandoned;
        assert_eq!(stats.runs, over, "{stats:?}");
        assert!(scheduler.tasks(&TaskFilter::all()).is_empty());
        let panics = [Act::Panic, Act::PanicWithABomb].contains(&act);
        let counted = [
            Place::BackOff,
            Place::RetryIf,
            Place::OnFailure,
            Place::OnDead,
        ];
        let hooks = u64::from(panics && counted.contains(&place));
        assert_eq!(stats.hooks_panicked, hooks, "{stats:?}");
    }
    let last = scene.scheduler.lock().take();
    contained(|| drop(last));
    assert_all_dropped(&scene.alive);
    assert!(scene.acted.load(Ordering::SeqCst) > 0, "nothing was done");
    scene.clock.advance(ms(1));
}
