//! The server answers, whatever clients do, and goes when it is told to.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use wheel_runtime::{Exposition, MetricsServer, Scheduler, ServeError};

use crate::client::{HANG, connect, get, hear, say};
use crate::page::Page;

fn served() -> (Scheduler, MetricsServer, SocketAddr) {
    let scheduler = Scheduler::builder().workers(1).build().unwrap();
    let server = MetricsServer::start("127.0.0.1:0", Exposition::of(&scheduler)).unwrap();
    let address = server.address();
    (scheduler, server, address)
}

#[test]
fn metrics_and_health_are_answered_and_nothing_else_is() {
    let (scheduler, _server, address) = served();
    let metrics = get(address, "/metrics?collect=all");
    assert_eq!(metrics.status, 200);
    assert!(
        metrics
            .head
            .contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n")
    );
    let length = format!("Content-Length: {}\r\n", metrics.body.len());
    assert!(metrics.head.contains(&length), "{}", metrics.head);
    Page::read(&metrics.body);
    let health = get(address, "/health");
    assert_eq!((health.status, &*health.body), (200, "ok\n"));
    for path in ["/", "/metrics/", "/../metrics", "/healthz"] {
        assert_eq!(get(address, path).status, 404, "{path}");
    }
    scheduler.shutdown(HANG).unwrap();
    let health = get(address, "/health");
    assert_eq!((health.status, &*health.body), (503, "shut down\n"));
    assert_eq!(get(address, "/metrics").status, 200, "the last numbers");
}

#[test]
fn requests_of_another_kind_are_told_what_is_wrong() {
    let (_scheduler, _server, address) = served();
    let head = say(address, b"HEAD /metrics HTTP/1.0\r\n\r\n");
    assert_eq!((head.status, &*head.body), (200, ""));
    let post = say(address, b"POST /metrics HTTP/1.1\r\n\r\n");
    assert_eq!(post.status, 405);
    assert!(post.head.contains("Allow: GET, HEAD"));
    let with_body = b"PUT /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(say(address, with_body).status, 405);
    assert_eq!(say(address, b"\x16\x03\x01\x02\x00\n").status, 400);
    let endless = vec![b'x'; 20_000];
    assert_eq!(say(address, &endless).status, 431);
    let mut long = b"GET /metrics HTTP/1.1\r\n".to_vec();
    long.extend(b"Cookie: crumbs\r\n".repeat(1_000));
    assert_eq!(say(address, &long).status, 431);
    // None of them has done any harm.
    assert_eq!(get(address, "/health").status, 200);
}

#[test]
fn a_request_that_comes_in_pieces_is_one_request() {
    let (_scheduler, _server, address) = served();
    let mut stream = connect(address);
    stream.set_nodelay(true).unwrap();
    for byte in b"GET /health HTTP/1.1\r\n\r\n" {
        stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(hear(stream).status, 200);
}

#[test]
fn who_says_nothing_keeps_nobody_else_from_an_answer_and_is_cut_off() {
    let (_scheduler, _server, address) = served();
    let start = Instant::now();
    let mut silent: Vec<_> = (0..7).map(|_| connect(address)).collect();
    silent[0].write_all(b"GET /metr").unwrap();
    assert_eq!(get(address, "/health").status, 200);
    assert!(
        start.elapsed() < Duration::from_secs(4),
        "it waited for them"
    );
    // One more than there are places for. The last of the seven may not have been taken in yet.
    silent.extend((0..2).map(|_| connect(address)));
    let refused = hear(silent.pop().unwrap());
    assert_eq!(refused.status, 503);
    for mut stream in silent {
        // The end of the connection, in whichever form.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty());
    }
    assert!(start.elapsed() < HANG, "they were not cut off");
    assert_eq!(get(address, "/health").status, 200);
}

#[test]
fn clients_that_go_away_in_the_middle_leave_their_places() {
    let (_scheduler, _server, address) = served();
    for n in 0..100 {
        let mut stream = connect(address);
        if n % 2 == 0 {
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        }
        drop(stream);
    }
    let end = Instant::now() + HANG;
    // While there is no place it is refused, and the connection may be reset before it has read that.
    let is_answered = || {
        let mut stream = connect(address);
        let mut text = String::new();
        let said = stream.write_all(b"GET /health HTTP/1.1\r\n\r\n");
        said.and_then(|()| stream.read_to_string(&mut text)).is_ok() && text.contains(" 200 OK")
    };
    while !is_answered() {
        assert!(Instant::now() < end, "their places are not free");
    }
}

#[test]
fn an_address_that_is_in_use_or_is_none_is_an_error_that_names_it() {
    let (scheduler, _server, address) = served();
    let again = MetricsServer::start(address.to_string().as_str(), Exposition::of(&scheduler));
    let error = again.unwrap_err();
    assert!(matches!(error, ServeError::Address { .. }));
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("metrics address: {address}: it is in use: ")),
        "{text}"
    );
    assert!(std::error::Error::source(&error).is_some());
    for none in ["9898", "localhost", "127.0.0.1:99999", "192.0.2.1:0", ""] {
        let error = MetricsServer::start(none, Exposition::new()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("metrics address: {none}: ")),
            "{text}"
        );
    }
}

#[test]
fn a_stop_cuts_clients_off_and_frees_the_address() {
    let (scheduler, server, address) = served();
    let mut silent = connect(address);
    silent.write_all(b"GET ").unwrap();
    assert_eq!(get(address, "/health").status, 200);
    let (sent, stopped) = channel();
    std::thread::spawn(move || {
        server.stop();
        sent.send(()).unwrap();
    });
    // Less than what a client has.
    let moment = Duration::from_secs(4);
    stopped.recv_timeout(moment).expect("it waits for a client");
    let mut rest = Vec::new();
    let _ = silent.read_to_end(&mut rest);
    assert!(rest.is_empty());
    let server = MetricsServer::start(address, Exposition::of(&scheduler)).unwrap();
    assert_eq!(get(address, "/health").status, 200);
    drop(server);
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "somebody listens"
    );
}

#[test]
fn all_addresses_at_once_can_be_served_and_stopped() {
    let server = MetricsServer::start("0.0.0.0:0", Exposition::new()).unwrap();
    let port = server.address().port();
    let here = SocketAddr::from(([127, 0, 0, 1], port));
    assert_eq!(get(here, "/health").status, 200);
    server.stop();
    assert!(std::net::TcpStream::connect(here).is_err());
}
