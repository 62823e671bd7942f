//! What a client asks for: the first line of its request, of which the rest is not read.

/// The longest head of a request.
pub(super) const HEAD_MAX: usize = 8 * 1024;

/// A request whose head is complete, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'h> {
    /// Of this path, without what is behind a question mark.
    Get(&'h str),
    /// The same, for the head of the answer alone.
    Head(&'h str),
    /// Another method.
    OtherMethod,
    /// No HTTP/1.
    Malformed,
    /// There is more to come.
    Incomplete,
}

/// Reads what has come of a request until now.
pub(super) fn read(head: &[u8]) -> Request<'_> {
    let Some(first) = first_line(head) else {
        return Request::Incomplete;
    };
    // The first line may be wrong long before the end of the head.
    let Some(parts) = parts_of(first) else {
        return Request::Malformed;
    };
    if !is_complete(head) {
        return Request::Incomplete;
    }
    let (method, target) = parts;
    let path = target.split(['?', '#']).next().unwrap_or(target);
    match method {
        "GET" => Request::Get(path),
        "HEAD" => Request::Head(path),
        _ => Request::OtherMethod,
    }
}

fn first_line(head: &[u8]) -> Option<&[u8]> {
    let end = head.iter().position(|byte| *byte == b'\n')?;
    let line = &head[..end];
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The method and the target.
fn parts_of(line: &[u8]) -> Option<(&str, &str)> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_known = is_method && version.starts_with("HTTP/1.") && target.starts_with('/');
    (is_known && words.next().is_none()).then_some((method, target))
}

/// Whether the empty line has come that ends a head.
fn is_complete(head: &[u8]) -> bool {
    let ends = |end: &[u8]| head.windows(end.len()).any(|window| window == end);
    ends(b"\r\n\r\n") || ends(b"\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_its_method_and_its_path() {
        let read = |text: &'static str| read(text.as_bytes());
        assert_eq!(
            read("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
            Request::Get("/metrics")
        );
        assert_eq!(
            read("GET /metrics?name=a HTTP/1.0\n\n"),
            Request::Get("/metrics")
        );
        assert_eq!(
            read("HEAD /health HTTP/1.1\r\n\r\n"),
            Request::Head("/health")
        );
        assert_eq!(read("POST / HTTP/1.1\r\n\r\n"), Request::OtherMethod);
    }

    #[test]
    fn what_has_not_come_in_full_is_waited_for() {
        let whole = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), Request::Incomplete, "{end} bytes");
        }
    }

    #[test]
    fn what_is_no_http_is_known_by_its_first_line() {
        for text in [
            "\n",
            "\r\n\r\n",
            "GET\r\n",
            "GET /metrics\r\n",
            "GET  /metrics HTTP/1.1\r\n",
            "GET /metrics HTTP/2\r\n",
            "GET metrics HTTP/1.1\r\n",
            "get /metrics HTTP/1.1\r\n",
            "GET /metrics HTTP/1.1 x\r\n",
        ] {
            assert_eq!(read(text.as_bytes()), Request::Malformed, "{text:?}");
        }
        assert_eq!(
            read(b"\x16\x03\x01\x02\x00\x01\x00\n\xff"),
            Request::Malformed
        );
    }
}
