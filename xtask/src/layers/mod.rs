//! `cargo xtask layers`: which crate uses which, held against a list.
//!
//! ```text
//! sync  <-  wheel-core  <-  overflow  <-  runtime  <-  cli          testkit: dev-dependency only
//! ```
//!
//! A crate may use what stands to its left. The list in list.rs is the decision and says why each
//! edge exists; a new edge is a new line there, and so a change that a reviewer sees. Three things
//! are checked: edges inside the workspace (from `cargo metadata`), the declared dependencies of
//! the published crates on others, and the whole tree behind `wheel-core` and `wheel-runtime`,
//! because what a user pulls in is part of the promise. The README states that number; it is
//! compared.

mod list;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::refuse_arguments;
use crate::step::{cargo, output_of, root};
use list::Kind::{self, Dev};
use list::{CORE_TREE, EDGES, NEVER, OUTSIDE};

pub(crate) fn run(args: &[String]) -> Result<(), String> {
    refuse_arguments("layers", args)?;
    let metadata = output_of(&mut cargo(&[
        "metadata",
        "--locked",
        "--no-deps",
        "--format-version",
        "1",
    ]))?;
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = packages_of(&metadata)?;

    let mut wrong = forbidden_edges(&packages);
    wrong.extend(unlisted_dependencies(&packages));
    for name in tree_of("wheel-core")?
        .iter()
        .filter(|name| !CORE_TREE.contains(&name.as_str()))
    {
        wrong.push(format!(
            "wheel-core pulls in {name}; it may have no more than {}",
            CORE_TREE.join(", ")
        ));
    }
    let tree = tree_of("wheel-runtime")?;
    for name in tree.iter().filter(|name| NEVER.contains(&name.as_str())) {
        wrong.push(format!(
            "wheel-runtime pulls in {name}, which must never happen"
        ));
    }
    let readme =
        std::fs::read_to_string(root().join("README.md")).map_err(|e| format!("README.md: {e}"))?;
    wrong.extend(wrong_crate_count(&readme, tree.len() - 1));

    if wrong.is_empty() {
        println!(
            "layers: {} packages, every edge is on the list.",
            packages.len()
        );
        println!(
            "A user of wheel-runtime pulls in {} crates.",
            tree.len() - 1
        );
        return Ok(());
    }
    wrong.iter().for_each(|line| println!("{line}"));
    Err(format!(
        "{} found; the list and its reasons are in xtask/src/layers/list.rs",
        wrong.len()
    ))
}

/// A workspace package and what it declares.
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

struct Dependency {
    name: String,
    kind: Kind,
    inside: bool,
}

fn packages_of(metadata: &Value) -> Result<Vec<Package>, String> {
    let text = |value: &Value, key: &str| -> Result<String, String> {
        value[key]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| format!("cargo metadata: no {key:?}"))
    };
    let list = |value: &Value, key: &str| -> Result<Vec<Value>, String> {
        value[key]
            .as_array()
            .cloned()
            .ok_or_else(|| format!("cargo metadata: no list {key:?}"))
    };
    list(metadata, "packages")?
        .iter()
        .map(|package| {
            let declared = list(package, "dependencies")?;
            let dependencies = declared.iter().map(|dependency| {
                Ok(Dependency {
                    name: text(dependency, "name")?,
                    kind: match dependency["kind"].as_str() {
                        Some("dev") => Kind::Dev,
                        Some("build") => Kind::Build,
                        _ => Kind::Normal,
                    },
                    inside: dependency["path"].is_string(),
                })
            });
            Ok(Package {
                name: text(package, "name")?,
                dependencies: dependencies.collect::<Result<_, String>>()?,
            })
        })
        .collect()
}

fn forbidden_edges(packages: &[Package]) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in packages {
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.inside)
        {
            let allowed = EDGES.iter().any(|edge| {
                edge.from == package.name
                    && edge.to == dependency.name
                    && edge.kind == dependency.kind
            });
            if !allowed {
                let may: Vec<String> = EDGES
                    .iter()
                    .filter(|edge| edge.from == package.name)
                    .map(|edge| format!("{} ({:?}: {})", edge.to, edge.kind, edge.why))
                    .collect();
                wrong.push(format!(
                    "forbidden edge: {} -> {} ({:?}); {} may use {}",
                    package.name,
                    dependency.name,
                    dependency.kind,
                    package.name,
                    if may.is_empty() {
                        "no crate of the workspace".to_owned()
                    } else {
                        may.join(", ")
                    },
                ));
            }
        }
    }
    wrong
}

fn unlisted_dependencies(packages: &[Package]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, allowed) in OUTSIDE {
        let Some(package) = packages.iter().find(|package| package.name == *name) else {
            wrong.push(format!(
                "the workspace has no package {name}, but the list of layers does"
            ));
            continue;
        };
        let declared = package.dependencies.iter();
        for dependency in declared.filter(|dependency| !dependency.inside && dependency.kind != Dev)
        {
            if !allowed.contains(&dependency.name.as_str()) {
                wrong.push(format!(
                    "{name} depends on {}, which is not on its list",
                    dependency.name
                ));
            }
        }
    }
    wrong
}

/// The names behind `package`, itself included, over normal edges and default features.
fn tree_of(package: &str) -> Result<BTreeSet<String>, String> {
    let args = [
        "tree", "--locked", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{p}",
    ];
    let output = output_of(&mut cargo(&args))?;
    Ok(output
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect())
}

/// The README has the number between two markers, so that it cannot drift.
fn wrong_crate_count(readme: &str, crates: usize) -> Option<String> {
    let stated = readme
        .split_once("<!-- crates -->")
        .and_then(|(_, rest)| rest.split_once("<!-- /crates -->"))
        .map(|(number, _)| number.trim());
    match stated {
        Some(number) if number == crates.to_string() => None,
        Some(number) => Some(format!(
            "README.md says that wheel-runtime pulls in {number} crates; it is {crates}"
        )),
        None => Some("README.md lacks <!-- crates -->N<!-- /crates -->".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use list::Kind::Normal;

    fn package(name: &str, dependencies: &[(&str, Kind, bool)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind, inside)| Dependency {
                name: (*name).into(),
                kind: *kind,
                inside: *inside,
            })
            .collect();
        Package {
            name: name.into(),
            dependencies,
        }
    }

    #[test]
    fn an_edge_to_the_right_is_forbidden_and_named() {
        let wrong = forbidden_edges(&[package("wheel-core", &[("wheel-runtime", Normal, true)])]);
        assert_eq!(wrong.len(), 1);
        assert!(
            wrong[0].starts_with("forbidden edge: wheel-core -> wheel-runtime"),
            "{}",
            wrong[0]
        );
    }

    #[test]
    fn an_edge_on_the_list_is_allowed_only_in_its_kind() {
        assert!(
            forbidden_edges(&[package("wheel-core", &[("wheel-testkit", Dev, true)])]).is_empty()
        );
        assert_eq!(
            forbidden_edges(&[package("wheel-core", &[("wheel-testkit", Normal, true)])]).len(),
            1
        );
    }

    #[test]
    fn no_layer_on_the_list_points_to_the_right() {
        let order = [
            "wheel-sync",
            "wheel-core",
            "wheel-overflow",
            "wheel-runtime",
            "wheel",
        ];
        let place = |name| order.iter().position(|layer| *layer == name);
        for edge in EDGES.iter().filter(|edge| edge.kind == Normal) {
            if let (Some(from), Some(to)) = (place(edge.from), place(edge.to)) {
                assert!(to < from, "{} -> {}", edge.from, edge.to);
            }
            // What is built on the testkit is there to test, and ships with nothing.
            let tests = ["wheel-fuzz", "wheel-shuttle-tests"].contains(&edge.from);
            assert!(tests || edge.to != "wheel-testkit", "{}", edge.from);
        }
    }

    #[test]
    fn a_dependency_from_outside_must_be_on_the_list() {
        let mut packages: Vec<Package> =
            OUTSIDE.iter().map(|(name, _)| package(name, &[])).collect();
        assert!(unlisted_dependencies(&packages).is_empty());
        packages[2] = package("wheel-overflow", &[("rand", Normal, false)]);
        assert_eq!(
            unlisted_dependencies(&packages),
            ["wheel-overflow depends on rand, which is not on its list"]
        );
    }

    #[test]
    fn the_readme_must_state_the_number_of_crates() {
        assert_eq!(
            wrong_crate_count("in <!-- crates -->12<!-- /crates --> crates", 12),
            None
        );
        assert!(wrong_crate_count("in <!-- crates -->12<!-- /crates --> crates", 13).is_some());
        assert!(wrong_crate_count("few", 13).is_some());
    }

    #[test]
    fn metadata_is_read_as_cargo_writes_it() {
        let metadata = serde_json::json!({"packages": [{"name": "a", "dependencies": [
            {"name": "b", "kind": null, "path": "/x/b"}, {"name": "c", "kind": "dev"}]}]});
        let packages = packages_of(&metadata).unwrap();
        let kinds: Vec<_> = packages[0]
            .dependencies
            .iter()
            .map(|d| (d.kind, d.inside))
            .collect();
        assert_eq!(kinds, [(Normal, true), (Dev, false)]);
    }
}
