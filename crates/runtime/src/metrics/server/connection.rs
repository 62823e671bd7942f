//! One client: its request is read, answered, and that was that.
//!
//! All reads and writes together take five seconds at most, however little comes at a time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::request::{self, HEAD_MAX, Request};
use crate::clock::Patience;
use crate::metrics::exposition::Exposition;
use crate::metrics::text::CONTENT_TYPE;

/// For the whole of a connection.
const TIME: Duration = Duration::from_secs(5);

/// What a client is answered.
pub(super) struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: String,
}

const TEXT: &str = "text/plain; charset=utf-8";

impl Answer {
    pub(super) fn metrics_of(exposition: &Exposition) -> Answer {
        Answer {
            status: "200 OK",
            content_type: CONTENT_TYPE,
            body: exposition.text(),
        }
    }

    pub(super) fn health_of(exposition: &Exposition) -> Answer {
        match exposition.is_healthy() {
            true => Answer::short("200 OK", "ok\n"),
            false => Answer::short("503 Service Unavailable", "shut down\n"),
        }
    }

    fn short(status: &'static str, body: &str) -> Answer {
        Answer {
            status,
            content_type: TEXT,
            body: body.to_owned(),
        }
    }
}

/// Whether the body is sent as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sends {
    All,
    HeadOnly,
}

/// Answers a client with what `answer` says of its path. A client that goes away, or takes too long,
/// gets nothing.
pub(super) fn serve(stream: &TcpStream, answer: impl FnOnce(&str) -> Option<Answer>) {
    let patience = Patience::new(TIME);
    let mut head = Vec::new();
    let (answer, sends) = match read_head(stream, &mut head, patience) {
        Ok(Request::Get(path)) => (found(answer(path)), Sends::All),
        Ok(Request::Head(path)) => (found(answer(path)), Sends::HeadOnly),
        Ok(Request::OtherMethod) => {
            let only = "only GET and HEAD\n";
            (Answer::short("405 Method Not Allowed", only), Sends::All)
        }
        Ok(Request::Malformed) => {
            let no_http = "this is no request of HTTP/1\n";
            (Answer::short("400 Bad Request", no_http), Sends::All)
        }
        Ok(Request::Incomplete) => {
            let status = "431 Request Header Fields Too Large";
            (Answer::short(status, "8 KiB at most\n"), Sends::All)
        }
        Err(_) => return,
    };
    if send(stream, &answer, sends, patience).is_ok() {
        part(stream, patience);
    }
}

/// Answers a client for whom there is no place, without waiting for it.
pub(super) fn refuse(stream: &TcpStream) {
    let answer = Answer::short("503 Service Unavailable", "too many clients\n");
    let _ = stream.set_nonblocking(true);
    let _ = (&*stream).write_all(&bytes_of(&answer, Sends::All));
}

fn found(answer: Option<Answer>) -> Answer {
    let known = "there are /metrics and /health\n";
    answer.unwrap_or_else(|| Answer::short("404 Not Found", known))
}

/// Reads until the head is complete, or wrong, or longer than may be.
fn read_head<'h>(
    mut stream: &TcpStream,
    head: &'h mut Vec<u8>,
    patience: Patience,
) -> io::Result<Request<'h>> {
    let mut buffer = [0; 1024];
    loop {
        if !matches!(request::read(head), Request::Incomplete) || head.len() > HEAD_MAX {
            return Ok(request::read(head));
        }
        stream.set_read_timeout(Some(left(patience)?))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => head.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn send(
    mut stream: &TcpStream,
    answer: &Answer,
    sends: Sends,
    patience: Patience,
) -> io::Result<()> {
    let bytes = bytes_of(answer, sends);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        stream.set_write_timeout(Some(left(patience)?))?;
        match stream.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Nothing more is said. What the client still says is taken, within bounds: a connection that is
/// closed with something unread is reset, and the answer may be lost with it.
fn part(mut stream: &TcpStream, patience: Patience) {
    if stream.shutdown(Shutdown::Write).is_err() {
        return;
    }
    let mut buffer = [0; 1024];
    for _ in 0..64 {
        let Ok(left) = left(patience) else {
            return;
        };
        let is_set = stream.set_read_timeout(Some(left)).is_ok();
        if !is_set || !matches!(stream.read(&mut buffer), Ok(1..)) {
            return;
        }
    }
}

/// How long the client still has.
fn left(patience: Patience) -> io::Result<Duration> {
    let left = patience.left();
    left.ok_or_else(|| io::ErrorKind::TimedOut.into())
}

fn bytes_of(answer: &Answer, sends: Sends) -> Vec<u8> {
    let Answer {
        status,
        content_type,
        body,
    } = answer;
    let allow = match status.starts_with("405") {
        true => "Allow: GET, HEAD\r\n",
        false => "",
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
         {allow}Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    if sends == Sends::All {
        bytes.extend_from_slice(body.as_bytes());
    }
    bytes
}
