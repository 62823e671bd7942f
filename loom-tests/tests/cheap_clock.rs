//! cheap-clock: a reader of the cheap clock meets a writer of its anchor. What it reads is of one
//! anchor, or true.
#![cfg(wheel_model)]

use std::sync::Arc;
use std::time::Duration;

use wheel_runtime::modelled::{CheapClock, Instant};
use wheel_sync::{model, thread};

const MS: u64 = 1_000_000;
/// The counter of these models goes once in a nanosecond, and a reading may be above by a quarter
/// of the 100 us for which an anchor lasts, and by the margin.
const MOST_ABOVE: Duration = Duration::from_nanos(25_000 + 250);

/// When both sources say so.
fn at(nanos: u64) -> Instant {
    Instant {
        cycles: 1_000_000_000 + nanos,
        nanos,
    }
}

/// A clock that is calibrated, with an anchor at 20 ms.
fn calibrated() -> Arc<CheapClock> {
    let clock = Arc::new(CheapClock::new());
    for nanos in [0, 20 * MS] {
        clock.now_upper(at(nanos));
    }
    // From the anchor, and not true: else nothing is read here that could be torn.
    assert!(clock.now_upper(at(20 * MS + 50_000)) > Duration::from_nanos(20 * MS + 50_000));
    clock
}

fn assert_close(read: Duration, nanos: u64) {
    let truth = Duration::from_nanos(nanos);
    assert!(read >= truth, "{read:?} is below {truth:?}");
    assert!(read <= truth + MOST_ABOVE, "{read:?} is above {truth:?}");
}

/// One thread leaves an anchor at `written`, another one reads at `read`, each once.
fn write_and_read(written: u64, read: u64) {
    let clock = calibrated();
    let other = Arc::clone(&clock);
    let reader = thread::spawn(move || assert_close(other.now_upper(at(read)), read));
    assert_close(clock.now_upper(at(written)), written);
    reader.join().unwrap();
}

#[test]
fn a_reader_takes_no_new_time_with_an_old_counter() {
    // The old anchor is too old for the writer and good enough for the reader.
    let (written, read) = (20 * MS + 110_000, 20 * MS + 95_000);
    model("cheap-clock", move || write_and_read(written, read));
}

#[test]
fn a_reader_takes_no_old_time_with_a_new_counter() {
    let (written, read) = (20 * MS + 110_000, 20 * MS + 150_000);
    model("cheap-clock, later", move || write_and_read(written, read));
}

#[test]
fn of_two_writers_one_leaves_an_anchor() {
    model("cheap-clock, two writers", || {
        let clock = calibrated();
        let other = Arc::clone(&clock);
        let writer = thread::spawn(move || assert_close(other.now_upper(at(21 * MS)), 21 * MS));
        assert_close(clock.now_upper(at(22 * MS)), 22 * MS);
        for nanos in [22 * MS + 50_000, 22 * MS + 90_000] {
            assert_close(clock.now_upper(at(nanos)), nanos);
        }
        writer.join().unwrap();
        let last = 23 * MS;
        assert_close(clock.now_upper(at(last)), last);
        assert_close(clock.now_upper(at(last + 1_000)), last + 1_000);
    });
}

#[test]
fn a_rate_is_measured_from_one_base() {
    model("cheap-clock, calibration", || {
        let clock = calibrated();
        let other = Arc::clone(&clock);
        // Both measure the rate anew, if they come in this order: a second after each other.
        let [first, second] = [1_100 * MS, 2_200 * MS];
        let writer = thread::spawn(move || {
            for nanos in [second, second + 50_000] {
                assert_close(other.now_upper(at(nanos)), nanos);
            }
        });
        assert_close(clock.now_upper(at(first)), first);
        writer.join().unwrap();
    });
}
