//! The gateway with real connections over the loopback device.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use gateway::Gateway;

const IDLE: Duration = Duration::from_secs(2);
/// Only there to turn a hang into a failure.
const HANG: Duration = Duration::from_secs(60);

fn connect(gateway: &Gateway) -> TcpStream {
    let stream = TcpStream::connect(gateway.address()).expect("the gateway listens");
    stream
        .set_read_timeout(Some(HANG))
        .expect("a timeout above zero");
    stream.set_nodelay(true).expect("a TCP socket");
    stream
}

fn ping(stream: &mut TcpStream) {
    let mut answer = [0; 4];
    stream
        .write_all(b"ping")
        .expect("an active connection stays open");
    stream
        .read_exact(&mut answer)
        .expect("an active connection stays open");
    assert_eq!(&answer, b"ping");
}

/// Waits for the gateway to close the connection, by an end of the stream or a reset.
fn wait_closed(stream: &mut TcpStream) {
    let begun = Instant::now();
    let read = stream.read(&mut [0; 16]);
    assert!(begun.elapsed() < HANG, "an idle connection is never closed");
    assert!(
        matches!(read, Ok(0) | Err(_)),
        "nothing was asked, so nothing is answered: {read:?}"
    );
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG, "never so: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn idle_connections_are_closed_and_active_ones_stay() {
    let gateway = Gateway::start("127.0.0.1:0", IDLE).expect("a free port");
    let mut idle: Vec<_> = (0..20).map(|_| connect(&gateway)).collect();
    let mut active: Vec<_> = (0..10).map(|_| connect(&gateway)).collect();

    // Far longer than the timeout: only what is read keeps these open.
    let begun = Instant::now();
    while begun.elapsed() < IDLE * 2 {
        active.iter_mut().for_each(ping);
        thread::sleep(Duration::from_millis(50));
    }
    idle.iter_mut().for_each(wait_closed);
    assert_eq!(gateway.closed_idle(), 20);
    let last_word = Instant::now();
    active.iter_mut().for_each(ping);
    wait_until("only the active ones are open", || gateway.open() == 10);
    assert_eq!(gateway.timers(), 10);

    // Without a word they go as well, and not before their time.
    wait_closed(&mut active[0]);
    assert!(
        last_word.elapsed() >= IDLE,
        "closed early, after {:?}",
        last_word.elapsed()
    );
    active[1..].iter_mut().for_each(wait_closed);
    assert_eq!(gateway.closed_idle(), 30);
}

#[test]
fn a_connection_that_its_client_closes_takes_its_timer_with_it() {
    let gateway = Gateway::start("127.0.0.1:0", Duration::from_secs(3600)).expect("a free port");
    let mut streams: Vec<_> = (0..5).map(|_| connect(&gateway)).collect();
    streams.iter_mut().for_each(ping);
    assert_eq!((gateway.open(), gateway.timers()), (5, 5));
    drop(streams);
    wait_until("nothing is open", || gateway.open() == 0);
    assert_eq!((gateway.timers(), gateway.closed_idle()), (0, 0));
}

#[test]
fn the_end_of_the_gateway_closes_what_is_open() {
    let gateway = Gateway::start("127.0.0.1:0", Duration::from_secs(3600)).expect("a free port");
    let mut stream = connect(&gateway);
    ping(&mut stream);
    drop(gateway);
    wait_closed(&mut stream);
}
