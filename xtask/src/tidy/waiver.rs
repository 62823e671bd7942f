//! Exceptions, written where they are made: `// tidy: allow RULE, REASON`.
//!
//! The comment stands on the line in question or right above it. It needs a reason, and it must be
//! needed: one that waives nothing is a finding itself, so none outlives its cause.

use super::tree::Tree;
use super::{Finding, rules};

const MARK: &str = "tidy: allow ";

struct Waiver {
    finding: Finding,
    rule: String,
    used: bool,
}

/// The findings that no waiver covers, and those about waivers.
pub(super) fn apply(
    tree: &Tree,
    findings: Vec<(&'static str, Vec<Finding>)>,
) -> Vec<(&'static str, Finding)> {
    let mut waivers = waivers_of(tree);
    let mut left = Vec::new();
    for (rule, findings) in findings {
        for finding in findings {
            let waiver = waivers.iter_mut().find(|waiver| {
                let place = &waiver.finding;
                let near = place.line == finding.line || place.line + 1 == finding.line;
                waiver.rule == rule && place.path == finding.path && near
            });
            match waiver {
                Some(waiver) => waiver.used = true,
                None => left.push((rule, finding)),
            }
        }
    }
    left.extend(
        waivers
            .into_iter()
            .filter(|waiver| !waiver.used)
            .map(|waiver| ("waiver", waiver.finding)),
    );
    left
}

fn waivers_of(tree: &Tree) -> Vec<Waiver> {
    let mut waivers = Vec::new();
    for file in tree.rust() {
        for (index, line) in file.source().lines.iter().enumerate() {
            let Some(text) = line
                .comment
                .strip_prefix("// ")
                .and_then(|text| text.strip_prefix(MARK))
            else {
                continue;
            };
            let (rule, reason) = text.split_once(", ").unwrap_or((text, ""));
            let known = rules().any(|known| known.name == rule) && !reason.trim().is_empty();
            let message = if known {
                format!("nothing here breaks `{rule}`; remove the exception")
            } else {
                format!("an exception is `{MARK}RULE, REASON` with a rule that exists")
            };
            let rule = if known {
                rule.to_owned()
            } else {
                String::new()
            };
            waivers.push(Waiver {
                finding: Finding::at(file, index + 1, message),
                rule,
                used: false,
            });
        }
    }
    waivers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_of(text: &str, rule: &'static str, line: usize) -> Vec<(&'static str, usize)> {
        let tree = Tree::of(&[("a.rs", text)]);
        let file = tree.get("a.rs").unwrap();
        let findings = vec![(rule, vec![Finding::at(file, line, "bad".into())])];
        apply(&tree, findings)
            .into_iter()
            .map(|(rule, finding)| (rule, finding.line))
            .collect()
    }

    #[test]
    fn an_exception_covers_its_line_and_the_next() {
        assert!(left_of("// tidy: allow marks, why.\nx();\n", "marks", 2).is_empty());
        assert!(left_of("x(); // tidy: allow marks, why.\n", "marks", 1).is_empty());
    }

    #[test]
    fn an_exception_covers_no_other_rule_and_no_other_line() {
        let text = "// tidy: allow marks, why.\nx();\ny();\n";
        assert_eq!(left_of(text, "marks", 3), [("marks", 3), ("waiver", 1)]);
        assert_eq!(left_of(text, "length", 2), [("length", 2), ("waiver", 1)]);
    }

    #[test]
    fn an_exception_without_a_reason_or_a_rule_is_none() {
        assert_eq!(
            left_of("// tidy: allow marks\nx();\n", "marks", 2),
            [("marks", 2), ("waiver", 1)]
        );
        assert_eq!(
            left_of("// tidy: allow nothing, why.\nx();\n", "marks", 2).len(),
            2
        );
    }
}
