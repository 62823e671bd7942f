//! Questions to a Prometheus, over its HTTP interface.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(10);

/// What it answers at `path`: the part `data`.
pub(super) fn ask(port: u16, path: &str) -> Result<Value, String> {
    let answer = get(port, path).map_err(|error| format!("port {port}: {error}"))?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let mut body: Value = serde_json::from_str(body).map_err(|error| format!("{error}: {body}"))?;
    match body["status"].as_str() {
        Some("success") => Ok(body["data"].take()),
        _ => Err(format!("{path}: {body}")),
    }
}

/// How many series a query finds.
pub(super) fn series(port: u16, query: &str) -> Result<usize, String> {
    let path = format!("/api/v1/query?query={}", encoded(query));
    let data = ask(port, &path)?;
    Ok(data["result"].as_array().map_or(0, Vec::len))
}

/// An answer of HTTP 1.0 ends with the connection, and has no chunks.
fn get(port: u16, path: &str) -> std::io::Result<String> {
    let mut client = TcpStream::connect(("127.0.0.1", port))?;
    client.set_read_timeout(Some(PATIENCE))?;
    write!(client, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
    let mut answer = String::new();
    client.read_to_string(&mut answer)?;
    Ok(answer)
}

fn encoded(query: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let encode = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    query.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn what_means_something_in_an_address_is_encoded() {
        assert_eq!(
            encoded("sum(a{b=~\".*\"}) + 1"),
            "sum%28a%7Bb%3D~%22.%2A%22%7D%29%20%2B%201".replace('~', "%7E")
        );
    }
}
