//! The users of this machine: their numbers and homes.
//!
//! `/etc/passwd` first, then `getent`, which also asks whatever else the machine is set up with.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::{env, fs};

use rustix::process::{getegid, geteuid};

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) home: String,
}

impl Account {
    /// Whether it is the one who runs `wheel`.
    pub(super) fn is_own(&self) -> bool {
        self.uid == geteuid().as_raw()
    }
}

pub(super) fn is_root() -> bool {
    geteuid().is_root()
}

/// Looks users up and remembers the answers.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// By name, or by number.
    found: HashMap<String, Option<Account>>,
}

impl Accounts {
    /// The user of this name.
    pub(super) fn named(&mut self, name: &str) -> Option<Account> {
        let is_possible = |b: u8| b.is_ascii_alphanumeric() || b"_.$-".contains(&b);
        if name.is_empty() || name.starts_with('-') || !name.bytes().all(is_possible) {
            return None;
        }
        self.look(name, |account| account.name == name)
    }

    /// The user who runs `wheel`; what the system does not know of it is taken from the environment.
    pub(super) fn own(&mut self) -> Account {
        let uid = geteuid().as_raw();
        let known = self.look(&uid.to_string(), |account| account.uid == uid);
        known.unwrap_or_else(|| Account {
            name: env::var("LOGNAME").unwrap_or_else(|_| uid.to_string()),
            uid,
            gid: getegid().as_raw(),
            home: env::var("HOME").unwrap_or_else(|_| "/".to_owned()),
        })
    }

    fn look(&mut self, key: &str, is_it: impl Fn(&Account) -> bool) -> Option<Account> {
        if let Some(answer) = self.found.get(key) {
            return answer.clone();
        }
        let passwd = fs::read("/etc/passwd").unwrap_or_default();
        let answer = among(&passwd, &is_it).or_else(|| among(&getent(key), &is_it));
        self.found.insert(key.to_owned(), answer.clone());
        answer
    }
}

fn among(passwd: &[u8], is_it: impl Fn(&Account) -> bool) -> Option<Account> {
    let lines = passwd.split(|byte| *byte == b'\n');
    lines.filter_map(account).find(is_it)
}

/// `name:password:uid:gid:comment:home:shell`.
fn account(line: &[u8]) -> Option<Account> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.split(':');
    let name = fields.next()?.to_owned();
    let uid = fields.nth(1)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    let home = fields.nth(1)?.to_owned();
    Some(Account {
        name,
        uid,
        gid,
        home,
    })
}

fn getent(key: &str) -> Vec<u8> {
    let mut getent = Command::new("getent");
    getent
        .args(["passwd", key])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    getent
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default()
}
