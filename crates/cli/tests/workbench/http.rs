//! A client of what the command serves.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The answer, or nothing if nobody answers.
pub(crate) fn get(port: u16, path: &str) -> String {
    let Ok(mut client) = TcpStream::connect(("127.0.0.1", port)) else {
        return String::new();
    };
    let limit = Some(Duration::from_secs(20));
    client.set_read_timeout(limit).unwrap();
    let mut answer = String::new();
    let asked = write!(client, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let _ = asked.and_then(|()| client.read_to_string(&mut answer).map(drop));
    answer
}
