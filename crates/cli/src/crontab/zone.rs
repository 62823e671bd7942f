//! The time zone of this machine, in which cron means its times.

use std::path::Path;
use std::{env, fs};

use wheel_runtime::Zone;

const LOCALTIME: &str = "/etc/localtime";

/// The zone that `TZ` names; without that, the one that `/etc/localtime` leads to.
///
/// # Errors
///
/// If it has no name of the IANA database. UTC if the machine says nothing at all.
pub(crate) fn of_this_machine() -> Result<Zone, String> {
    let named = env::var("TZ").ok();
    let named = named.map(|name| name.trim_start_matches(':').to_owned());
    let name = match named.filter(|name| name != LOCALTIME) {
        Some(name) => name,
        None => match local() {
            Some(name) => name,
            None if !Path::new(LOCALTIME).exists() => return Ok(Zone::UTC),
            None => {
                return Err("/etc/localtime does not say which zone it is: give --tz".to_owned());
            }
        },
    };
    // An empty TZ is UTC, as for every program.
    if name.is_empty() {
        return Ok(Zone::UTC);
    }
    let name = in_database(&name);
    name.parse::<Zone>()
        .map_err(|error| format!("the zone of this machine: {error}; give --tz"))
}

fn local() -> Option<String> {
    let link = fs::canonicalize(LOCALTIME).ok()?;
    let link = link.to_str()?;
    if link.contains("/zoneinfo/") {
        return Some(link.to_owned());
    }
    let name = fs::read_to_string("/etc/timezone").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The name, of a path into the database.
fn in_database(name: &str) -> &str {
    let name = name.rsplit_once("zoneinfo/").map_or(name, |(_, name)| name);
    let variant = name.strip_prefix("posix/").or(name.strip_prefix("right/"));
    variant.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::in_database;

    #[test]
    fn a_path_into_the_database_is_a_name() {
        for (path, name) in [
            ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
            ("/usr/share/zoneinfo/posix/Asia/Shanghai", "Asia/Shanghai"),
            ("America/Argentina/Ushuaia", "America/Argentina/Ushuaia"),
            ("UTC", "UTC"),
        ] {
            assert_eq!(in_database(path), name);
        }
    }
}
