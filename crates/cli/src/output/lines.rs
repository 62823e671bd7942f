//! Puts the id of a task in front of every line that its program prints: `[heartbeat] alive`.
//!
//! Bytes pass through as they are, whether they are UTF-8 or not. A line is printed when it is
//! complete; the last one of a run also when it is not. A line that does not end is cut into
//! pieces, so that no program can make `wheel` hold more than a little memory.

use super::{Printer, Stream};

/// A longer line is printed in pieces of about this size.
const LINE_BYTES_MAX: usize = 1 << 16;

/// The output of one run.
#[derive(Debug)]
pub(crate) struct Lines {
    prefix: String,
    printer: Printer,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(id: &str, printer: &Printer) -> Lines {
        let prefix = format!("[{id}] ");
        Lines {
            prefix,
            printer: printer.clone(),
            out: Vec::new(),
            err: Vec::new(),
        }
    }

    /// Takes what was read and prints the lines that are complete with it.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let begun = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let complete = complete_lines(&self.prefix, begun, bytes);
        if !complete.is_empty() {
            self.printer.print(stream, &complete);
        }
    }

    /// Prints a last line that has no end.
    pub(crate) fn finish(&mut self) {
        for (stream, begun) in [(Stream::Out, &mut self.out), (Stream::Err, &mut self.err)] {
            if !begun.is_empty() {
                let rest = complete_lines(&self.prefix, begun, b"\n");
                self.printer.print(stream, &rest);
            }
        }
    }
}

/// The lines that `bytes` completes, each with the prefix; the rest stays in `begun`.
fn complete_lines(prefix: &str, begun: &mut Vec<u8>, bytes: &[u8]) -> Vec<u8> {
    let mut complete = Vec::new();
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        begun.extend_from_slice(piece);
        let ended = begun.ends_with(b"\n");
        if ended || begun.len() >= LINE_BYTES_MAX {
            complete.extend_from_slice(prefix.as_bytes());
            complete.append(begun);
            if !ended {
                complete.push(b'\n');
            }
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
        let mut begun = Vec::new();
        let mut printed = Vec::new();
        for piece in pieces {
            printed.extend(complete_lines("[a] ", &mut begun, piece));
        }
        (printed, begun)
    }

    #[test]
    fn every_line_gets_the_prefix_however_it_arrives() {
        let expected = (b"[a] one\n[a] \n[a] two\n".to_vec(), b"thr".to_vec());
        assert_eq!(all(&[b"one\n\ntwo\nthr"]), expected);
        assert_eq!(all(&[b"on", b"e", b"\n", b"\ntwo", b"\nthr"]), expected);
    }

    #[test]
    fn bytes_that_are_not_utf8_pass_through_unharmed() {
        let (printed, _) = all(&[b"\xff\x00\xc3", b"\x28\r\x1b[0m\n"]);
        assert_eq!(printed, b"[a] \xff\x00\xc3\x28\r\x1b[0m\n");
    }

    #[test]
    fn a_line_without_an_end_is_printed_in_pieces() {
        let piece = vec![b'x'; 10_000];
        let pieces: Vec<&[u8]> = std::iter::repeat_n(piece.as_slice(), 100).collect();
        let (printed, begun) = all(&pieces);
        assert!(
            begun.len() < LINE_BYTES_MAX,
            "{} bytes are held back",
            begun.len()
        );
        let held = printed
            .iter()
            .chain(&begun)
            .filter(|byte| **byte == b'x')
            .count();
        assert_eq!(held, 1_000_000, "no byte is lost");
    }
}
