//! driver-sleep: somebody rings or stops a driver while it goes to sleep. It looks again, or has not
//! slept.
#![cfg(wheel_model)]

use std::sync::Arc;

use wheel_core::{Config, Tick};
use wheel_loom_tests::{Census, Note, advance};
use wheel_runtime::modelled::line;
use wheel_sync::atomic::{AtomicBool, Ordering};
use wheel_sync::{model, thread};

#[test]
fn a_ring_before_the_sleep_or_in_it_ends_it() {
    model("driver-sleep", || {
        let (line, mut waiter) = line();
        let news = Arc::new(AtomicBool::new(false));
        let rings = Arc::clone(&news);
        let ringer = thread::spawn(move || {
            // Relaxed: the ring must bring it along.
            rings.store(true, Ordering::Relaxed);
            line.ring();
        });
        // Relaxed: as above.
        while !news.load(Ordering::Relaxed) {
            waiter.wait();
        }
        ringer.join().unwrap();
    });
}

#[test]
fn of_two_who_ring_none_relies_on_the_other() {
    model("driver-sleep, two who ring", || {
        let (line, mut waiter) = line();
        let news = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let ringers = news.clone().map(|news| {
            let line = line.clone();
            thread::spawn(move || {
                // Relaxed: the ring must bring it along.
                news.store(true, Ordering::Relaxed);
                line.ring();
            })
        });
        // Relaxed: as above.
        while !news.iter().all(|news| news.load(Ordering::Relaxed)) {
            waiter.wait();
        }
        ringers
            .into_iter()
            .for_each(|ringer| ringer.join().unwrap());
    });
}

#[test]
fn a_driver_that_is_stopped_ends_and_sees_what_came_before() {
    model("driver-sleep, stop", || {
        let (line, mut waiter) = line();
        let note = Arc::new(Note::default());
        let (stops, writes) = (line.clone(), Arc::clone(&note));
        let stopper = thread::spawn(move || {
            writes.write(3);
            stops.stop();
        });
        while !line.is_stopped() {
            waiter.wait();
        }
        assert_eq!(note.read(), 3);
        stopper.join().unwrap();
    });
}

#[test]
fn an_insert_wakes_a_driver_that_goes_to_sleep_on_its_line() {
    model("driver-sleep, insert", || {
        let (line, mut waiter) = line();
        let census = Census::default();
        let (wheel, mut driver) = Config::new().waker(line.waker()).build();
        let value = census.value(1);
        let inserter = thread::spawn(move || wheel.insert(Tick::new(1), value).is_ok());
        while driver.next_due().is_none() {
            waiter.wait();
        }
        assert_eq!(advance(&mut driver, 1).len(), 1);
        assert!(inserter.join().unwrap());
        assert_eq!(census.alive(), 0);
    });
}
