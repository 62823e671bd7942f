//! The command of an entry, and what it reads: `%` begins the input, and each further one a line of
//! it.
//!
//! ```text
//! mail -s "100\% done" root%Hello,%it is done.
//! `-- command --------------' `-- input: two lines
//! ```
//!
//! In the command `\%` is `%` and `\\` is `\`; in the input `\%` is `%`, and nothing else is
//! replaced. The input ends with a line break.

/// What is handed to the shell, and what that can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) line: String,
    pub(super) input: Option<Vec<u8>>,
}

impl Command {
    pub(super) fn read(text: &str) -> Command {
        let mut line = String::with_capacity(text.len());
        let mut letters = text.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '%' => {
                    let input = input(&text[at + 1..]);
                    return Command { line, input };
                }
                '\\' => match letters.next() {
                    Some((_, next @ ('%' | '\\'))) => line.push(next),
                    Some((_, next)) => line.extend(['\\', next]),
                    None => line.push('\\'),
                },
                letter => line.push(letter),
            }
        }
        Command { line, input: None }
    }
}

fn input(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() {
        return None;
    }
    let mut input = String::with_capacity(text.len() + 1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next_if_eq(&'%').is_some() => input.push('%'),
            '%' => input.push('\n'),
            letter => input.push(letter),
        }
    }
    if !input.ends_with('\n') {
        input.push('\n');
    }
    Some(input.into_bytes())
}
