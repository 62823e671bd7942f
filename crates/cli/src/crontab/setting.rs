//! `NAME = value`: what a line sets, read the way cron does.
//!
//! ```text
//! name  = word | "'" text "'" | '"' text '"'        blanks around the = do not count
//! value = the same, or text up to the last character that is no blank
//! ```
//!
//! There are no escapes and no `$`: a value is what stands there.

use std::ops::Range;

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Setting(Setting),
    /// It would be a setting, were it not for this.
    Wrong {
        at: Range<usize>,
        what: String,
        help: String,
    },
    /// It is no setting.
    Other,
}

/// A variable of the commands below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) value: String,
    /// Where the value stands in the line.
    pub(super) at: Range<usize>,
}

/// Reads a line without the blanks in front of it.
pub(super) fn read(line: &str) -> Line {
    let Some((name, behind)) = name(line) else {
        return Line::Other;
    };
    let rest = &line[behind..];
    let Some(rest) = rest.trim_start().strip_prefix('=') else {
        return Line::Other;
    };
    let rest = rest.trim_start();
    let start = line.len() - rest.len();
    let wrong = |at: Range<usize>, what: String, help: String| {
        if is_variable(name) {
            Line::Wrong { at, what, help }
        } else {
            Line::Other
        }
    };
    let quote = rest.chars().next().filter(|c| ['\'', '"'].contains(c));
    let Some(quote) = quote else {
        let value = rest.trim_end();
        if value.is_empty() {
            let help = format!("write {name}=\"\" for an empty one");
            return wrong(0..line.len(), format!("{name} has no value"), help);
        }
        return setting(name, value, start);
    };
    let Some(end) = rest[1..].find(quote) else {
        let what = format!("the value of {name} begins with {quote} and does not end with it");
        let help = format!("write {name}={quote}{}{quote}", rest[1..].trim_end());
        return wrong(start..line.len(), what, help);
    };
    let (value, behind) = (&rest[1..=end], &rest[end + 2..]);
    if !behind.trim().is_empty() {
        let what = format!("there is something behind the value of {name}");
        let help = "put all of the value in quotes, or none of it; a comment has a line of its own";
        let at = start + end + 2 + (behind.len() - behind.trim_start().len());
        return wrong(at..line.len(), what, help.to_owned());
    }
    setting(name, value, start)
}

fn setting(name: &str, value: &str, start: usize) -> Line {
    let at = start..start + value.len().max(1);
    let (name, value) = (name.to_owned(), value.to_owned());
    Line::Setting(Setting { name, value, at })
}

/// The name, and what is behind it; `None` if the line does not begin with one.
fn name(line: &str) -> Option<(&str, usize)> {
    let (name, behind) = match line.chars().next()? {
        quote @ ('\'' | '"') => {
            let end = line[1..].find(quote)? + 1;
            (&line[1..end], end + 1)
        }
        _ => {
            let end = line.find(|c: char| c.is_ascii_whitespace() || c == '=')?;
            (&line[..end], end)
        }
    };
    (!name.is_empty() && !name.contains('=')).then_some((name, behind))
}

/// Whether a shell could use it.
fn is_variable(name: &str) -> bool {
    let mut letters = name.bytes();
    letters
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && letters.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
