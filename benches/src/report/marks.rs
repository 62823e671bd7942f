//! A table that is written anew between two marks, in a document that is written by hand. Pure.

const END: &str = "<!-- end of measured -->\n";

/// `document` with `table` between the mark `begin` and its end; behind everything else when there
/// are no such marks.
pub(super) fn renew(document: &str, begin: &str, table: &str) -> String {
    let from = document.find(begin);
    let rest = from.and_then(|from| document[from..].find(END).map(|to| from + to + END.len()));
    match (from, rest) {
        (Some(from), Some(rest)) => {
            format!(
                "{}{begin}{table}{END}{}",
                &document[..from],
                &document[rest..]
            )
        }
        _ => format!("{document}{begin}{table}{END}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- here -->\n";

    #[test]
    fn what_stands_around_the_marks_stays() {
        let first = renew("before\n", BEGIN, "one\n");
        assert_eq!(first, format!("before\n{BEGIN}one\n{END}"));
        let second = renew(&format!("{first}after\n"), BEGIN, "two\n");
        assert_eq!(second, format!("before\n{BEGIN}two\n{END}after\n"));
    }

    #[test]
    fn a_mark_without_its_end_takes_nothing_away() {
        let kept = renew(&format!("{END}{BEGIN}text\n"), BEGIN, "new\n");
        assert_eq!(kept, format!("{END}{BEGIN}text\n{BEGIN}new\n{END}"));
    }
}
