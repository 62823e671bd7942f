//! What an entry is called: the program that its command is about.
//!
//! `[ -x /usr/sbin/anacron ] || ( cd / && run-parts /etc/cron.daily )` is `run-parts`. Only a name:
//! nothing depends on it but what is printed.

use crate::file::is_harmful;
use std::collections::HashMap;

/// Words that stand in front of the program, or that only ask whether there is one.
const IN_FRONT: [&str; 18] = [
    "{", "(", "!", "if", "then", "else", "do", "while", "exec", "nice", "ionice", "time", "nohup",
    "sudo", "env", "chronic", "command", "eval",
];
/// Commands that prepare others.
const BESIDE: [&str; 14] = [
    "[", "[[", "test", "cd", "true", "false", ":", ".", "sleep", "export", "umask", "}", "fi",
    "which",
];
const CHARS_MAX: usize = 40;

/// The name of a program in a line of shell; `None` if there is none to be seen.
pub(super) fn of(command: &str) -> Option<String> {
    let mut parts = command.split(['|', '&', ';', '\n']);
    parts.find_map(|part| {
        let words = part
            .split_whitespace()
            .map(|word| word.trim_start_matches(['(', '{']));
        let is_beside = |word: &str| {
            word.starts_with(['-', '>', '<', '$']) || word.bytes().all(|b| b.is_ascii_digit())
        };
        let mut words = words.filter(|word| !is_beside(word));
        let word = words.find(|word| !IN_FRONT.contains(word) && !is_assignment(word))?;
        let name = word
            .rsplit('/')
            .next()?
            .trim_matches(['"', '\'', ')', '`', '}']);
        let is_name = !name.is_empty()
            && !name.starts_with('#')
            && !name.contains(is_harmful)
            && !BESIDE.contains(&name);
        is_name.then(|| name.chars().take(CHARS_MAX).collect())
    })
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Names, each given once.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// With how many would have had the same.
    taken: HashMap<String, u32>,
}

impl Names {
    pub(super) fn has(&self, name: &str) -> bool {
        self.taken.contains_key(name)
    }

    /// The name, with a number if it is taken.
    pub(super) fn take(&mut self, name: String) -> String {
        let mut id = name.clone();
        while self.taken.contains_key(&id) {
            let count = self.taken.get_mut(&name);
            let count = count.map_or(1, |count| {
                *count += 1;
                *count
            });
            id = format!("{name}-{count}");
        }
        self.taken.insert(id.clone(), 1);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_called_after_the_program_it_is_about() {
        for (command, name) in [
            ("/usr/bin/backup --all", "backup"),
            ("cd / && run-parts --report /etc/cron.hourly", "run-parts"),
            (
                "test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }",
                "run-parts",
            ),
            (
                "test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/e2fsprogs/e2scrub_all_cron",
                "e2scrub_all_cron",
            ),
            (
                "[ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; fi",
                "sessionclean",
            ),
            (
                "if [ -x /etc/munin/plugins/apt ]; then /etc/munin/plugins/apt update 7200; fi",
                "apt",
            ),
            ("MAILTO=x (nice -n 5 \"/opt/tool\") >/dev/null 2>&1", "tool"),
            (">/dev/null sync", "sync"),
        ] {
            assert_eq!(of(command).as_deref(), Some(name), "{command}");
        }
        assert_eq!(of(": > /var/log/x"), None);
        assert_eq!(of(""), None);
    }
}
