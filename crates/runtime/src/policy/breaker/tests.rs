//! Every step of the breaker, and every result in every state.

use super::*;

const D: Duration = Duration::from_secs(30);

fn at(seconds: u64) -> Moment {
    Moment::ZERO.after(Duration::from_secs(seconds))
}

fn circuit(failures: u32) -> Circuit {
    Circuit::new(Some(Breaker::after(failures).half_open_after(D)))
}

impl Circuit {
    fn pass(&mut self, now: Moment) -> Pass {
        match self.admit(now) {
            Admitted::Call(pass) => pass,
            Admitted::PutOff(delay) => panic!("put off for {delay:?}"),
        }
    }

    fn put_off(&mut self, now: Moment) -> Duration {
        match self.admit(now) {
            Admitted::PutOff(delay) => delay,
            Admitted::Call(pass) => panic!("admitted: {pass:?}"),
        }
    }

    fn call(&mut self, now: Moment, came: Came) {
        let pass = self.pass(now);
        self.settle(pass, came, now);
    }

    fn is(&self, now: Moment) -> BreakerState {
        self.state(now).0
    }

    /// Opened at `now`, by a breaker of one failure.
    fn opened(now: Moment) -> Circuit {
        let mut circuit = circuit(1);
        circuit.call(now, Came::Failed);
        assert_eq!(circuit.state(now), (BreakerState::Open, Some(D)));
        circuit
    }
}

#[test]
fn so_many_failures_in_a_row_open_it_and_a_success_in_between_begins_anew() {
    let mut circuit = circuit(3);
    for came in [
        Came::Failed,
        Came::Failed,
        Came::Succeeded,
        Came::Failed,
        Came::Failed,
    ] {
        circuit.call(at(0), came);
        assert_eq!(circuit.is(at(0)), BreakerState::Closed);
    }
    // It judged nothing, so the row goes on.
    circuit.call(at(0), Came::ToNothing);
    assert_eq!(circuit.failures_in_a_row(), 2);
    circuit.call(at(1), Came::Failed);
    assert_eq!(circuit.is(at(1)), BreakerState::Open);
    assert_eq!(circuit.failures_in_a_row(), 3);
}

#[test]
fn an_open_one_puts_off_until_the_half_open_instant() {
    let mut circuit = Circuit::opened(at(10));
    assert_eq!(circuit.put_off(at(10)), D);
    assert_eq!(circuit.put_off(at(39)), Duration::from_secs(1));
    assert_eq!(circuit.is(at(39)), BreakerState::Open);
    assert_eq!(circuit.is(at(40)), BreakerState::HalfOpen);
    let _probe = circuit.pass(at(40));
}

#[test]
fn a_half_open_one_admits_one_probe_and_puts_the_others_off_for_a_second() {
    let mut circuit = Circuit::opened(at(0));
    let _probe = circuit.pass(at(30));
    assert_eq!(circuit.put_off(at(30)), LOOK_AGAIN);
    assert_eq!(circuit.put_off(at(59)), Duration::from_secs(1));
    assert_eq!(circuit.is(at(59)), BreakerState::HalfOpen);
}

#[test]
fn a_probe_that_succeeds_closes_it() {
    let mut circuit = Circuit::opened(at(0));
    circuit.call(at(30), Came::Succeeded);
    assert_eq!(circuit.is(at(30)), BreakerState::Closed);
    assert_eq!(circuit.failures_in_a_row(), 0);
}

#[test]
fn a_probe_that_fails_opens_it_as_long_as_before() {
    let mut circuit = Circuit::opened(at(0));
    let probe = circuit.pass(at(30));
    circuit.settle(probe, Came::Failed, at(35));
    assert_eq!(circuit.state(at(35)), (BreakerState::Open, Some(D)));
    assert_eq!(circuit.failures_in_a_row(), 2);
    assert_eq!(circuit.put_off(at(64)), Duration::from_secs(1));
    circuit.call(at(65), Came::Succeeded);
    assert_eq!(circuit.is(at(65)), BreakerState::Closed);
}

#[test]
fn a_probe_that_judged_nothing_gives_its_place_to_the_next() {
    let mut circuit = Circuit::opened(at(0));
    circuit.call(at(30), Came::ToNothing);
    assert_eq!(circuit.is(at(30)), BreakerState::HalfOpen);
    circuit.call(at(30), Came::Succeeded);
    assert_eq!(circuit.is(at(30)), BreakerState::Closed);
}

#[test]
fn a_probe_that_does_not_answer_gives_its_place_up_and_its_late_result_does_not_count() {
    let mut circuit = Circuit::opened(at(0));
    let late = circuit.pass(at(30));
    let second = circuit.pass(at(60));
    circuit.settle(late, Came::Succeeded, at(61));
    assert_eq!(circuit.is(at(61)), BreakerState::HalfOpen);
    circuit.settle(second, Came::Failed, at(62));
    assert_eq!(circuit.is(at(62)), BreakerState::Open);
}

#[test]
fn what_was_called_before_it_opened_decides_nothing_afterwards() {
    for came in [Came::Succeeded, Came::Failed, Came::ToNothing] {
        let mut circuit = circuit(1);
        let passes = [(); 3].map(|()| circuit.pass(at(0)));
        circuit.call(at(0), Came::Failed);
        let [open, half_open, closed] = passes;
        circuit.settle(open, came, at(1));
        assert_eq!(circuit.put_off(at(1)), Duration::from_secs(29));
        let probe = circuit.pass(at(30));
        circuit.settle(half_open, came, at(31));
        assert_eq!(circuit.is(at(31)), BreakerState::HalfOpen);
        assert_eq!(circuit.put_off(at(31)), LOOK_AGAIN);
        circuit.settle(probe, Came::Succeeded, at(32));
        circuit.settle(closed, came, at(33));
        assert_eq!(circuit.is(at(33)), BreakerState::Closed);
        assert_eq!(circuit.failures_in_a_row(), 0);
    }
}

#[test]
fn without_a_policy_it_counts_and_stays_closed() {
    let mut circuit = Circuit::new(None);
    (0..9).for_each(|_| circuit.call(at(0), Came::Failed));
    assert_eq!(circuit.is(at(0)), BreakerState::Closed);
    assert_eq!(circuit.failures_in_a_row(), 9);
}

#[test]
fn half_open_after_the_longest_time_is_never() {
    let mut circuit = Circuit::new(Some(Breaker::after(1).half_open_after(Duration::MAX)));
    circuit.call(at(5), Came::Failed);
    let far = Moment::from_nanos(u64::MAX - 1);
    assert_eq!(circuit.state(far), (BreakerState::Open, None));
    circuit.put_off(far);
}

#[test]
fn what_is_not_possible_is_refused() {
    let error = Breaker::after(0).check().unwrap_err();
    let text = "breaker.after: 0 failures is not possible: at least 1";
    assert_eq!(error.to_string(), text);
    let micro = Duration::from_micros(999);
    let error = Breaker::after(1)
        .half_open_after(micro)
        .check()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "breaker.half_open_after: 999us is not possible: at least 1ms"
    );
    assert_eq!(
        Breaker::after(1).half_open_after(HALF_OPEN_MIN).check(),
        Ok(())
    );
}
