//! A client that says what it is told to.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) const HANG: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream
}

/// Says this, and reads until the server has closed the connection.
pub(crate) fn say(address: SocketAddr, what: &[u8]) -> Answer {
    let mut stream = connect(address);
    stream.write_all(what).unwrap();
    hear(stream)
}

pub(crate) fn hear(mut stream: TcpStream) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").expect("no whole answer");
    let status = head.strip_prefix("HTTP/1.1 ").unwrap();
    Answer {
        status: status[..3].parse().unwrap(),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    say(address, request.as_bytes())
}
