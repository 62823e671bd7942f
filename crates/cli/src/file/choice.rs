//! Values that are one of a few: a word, or a table of one key that gives the word a number.
//!
//! ```text
//! overlap = "queue_one"        a word that stands alone
//! overlap = { allow = 3 }      a word that needs something
//! ```

use super::fault::Faults;
use super::keys::nearest;
use super::values::{self, Value};

/// A word of `choices`, each with what it stands for.
pub(super) fn one_of<T: Copy, const N: usize>(
    key: &str,
    value: &Value<'_>,
    choices: [(&'static str, T); N],
    faults: &mut Faults,
) -> Option<T> {
    let example = format!("\"{}\"", choices[0].0);
    let text = values::text(key, value, &example, faults)?;
    if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
        return Some(*choice);
    }
    let names = choices.map(|(name, _)| name);
    let shown = text.escape_debug();
    let fault = faults.add(value.span(), format!("`{key}` cannot be \"{shown}\""));
    if let Some(meant) = nearest(text, &names) {
        fault.help(format!("did you mean \"{meant}\"?"));
    }
    fault.note(format!("it is one of {}", names.join(", ")));
    None
}

/// A key with some forms: words alone, and words with a value.
pub(super) struct Forms {
    pub(super) key: &'static str,
    pub(super) alone: &'static [&'static str],
    /// Each with an example of its value.
    pub(super) with_value: &'static [(&'static str, &'static str)],
}

/// What was written.
pub(super) enum Form<'v, 'd> {
    Alone(&'static str),
    WithValue(&'static str, &'v Value<'d>),
}

impl Forms {
    /// Which form it is, or the fault that says which there are.
    pub(super) fn read<'v, 'd>(
        &self,
        value: &'v Value<'d>,
        faults: &mut Faults,
    ) -> Option<Form<'v, 'd>> {
        let key = self.key;
        if let Some(text) = value.get_ref().as_str() {
            if let Some(word) = self.alone.iter().find(|word| **word == text) {
                return Some(Form::Alone(word));
            }
            let fault = faults.add(
                value.span(),
                format!("`{key}` cannot be \"{}\"", text.escape_debug()),
            );
            let meant = nearest(text, &self.words());
            match self.with_value.iter().find(|(word, _)| meant == Some(word)) {
                Some((word, example)) => {
                    fault.help(format!("write {key} = {{ {word} = {example} }}"))
                }
                None => match meant {
                    Some(word) => fault.help(format!("did you mean \"{word}\"?")),
                    None => fault,
                },
            };
            fault.note(self.all());
            return None;
        }
        let Some(table) = value.get_ref().as_table() else {
            let kind = values::kind(value);
            faults
                .add(
                    value.span(),
                    format!("`{key}` must be a string or a table of one key, not {kind}"),
                )
                .help(self.all());
            return None;
        };
        let mut keys = table.iter();
        let (Some((word, inner)), None) = (keys.next(), keys.next()) else {
            faults
                .add(
                    value.span(),
                    format!(
                        "`{key}` must have exactly one key, and has {}",
                        table.iter().count()
                    ),
                )
                .help(self.all());
            return None;
        };
        let text = word.get_ref().as_ref();
        if let Some((known, _)) = self.with_value.iter().find(|(known, _)| *known == text) {
            return Some(Form::WithValue(known, inner));
        }
        let shown = text.escape_debug();
        let fault = faults.add(word.span(), format!("unknown key `{shown}` in `{key}`"));
        match nearest(text, &self.words()) {
            Some(meant) if self.alone.contains(&meant) => {
                fault.help(format!("write {key} = \"{meant}\""))
            }
            Some(meant) => fault.help(format!("did you mean `{meant}`?")),
            None => fault,
        };
        fault.note(self.all());
        None
    }

    fn words(&self) -> Vec<&'static str> {
        let with_value = self.with_value.iter().map(|(word, _)| *word);
        self.alone.iter().copied().chain(with_value).collect()
    }

    /// All of them, as they are written.
    fn all(&self) -> String {
        let alone = self.alone.iter().map(|word| format!("\"{word}\""));
        let with_value =
            (self.with_value.iter()).map(|(word, example)| format!("{{ {word} = {example} }}"));
        let all: Vec<String> = alone.chain(with_value).collect();
        format!("it is one of {}", all.join(", "))
    }
}
