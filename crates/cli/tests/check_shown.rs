//! How faults are shown whatever the file holds: nothing of it acts on the terminal, and places are
//! right in long lines.

mod workbench;

use workbench::Workbench;

/// Each of these would do something to a terminal: colours, titles, a reset, a line that looks like
/// ours, text from right to left.
const ACTS: &str = r#"
"\u001b[31mkey" = 1
[[task]]
id = "\u202eleft"
after = "\u001b]0;title\u0007"
run = ["./\u001b[2Jx"]
env = { "a\u001b" = 1 }
dir = "/\u0085"
"b\nerror: c" = 1
[[task]]
id = "b"
at = "\u001bc"
run = ["true"]
output = "/\u001b/x"
"#;

#[test]
fn nothing_of_a_file_acts_on_the_terminal() {
    let bench = Workbench::new();
    let in_the_line = "evry = \"\u{202e}\u{2028}\"\n";
    let done = bench.check(&format!("{ACTS}{in_the_line}"));
    assert_eq!(done.code, Some(2));
    let acts = |c: char| c != '\n' && c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c);
    assert!(!done.err.contains(acts), "{:?}", done.err);
    for shown in [
        "`\\u{1b}[31mkey`",
        "\\u{1b}]0;title\\u{7}",
        "a\\u{1b}",
        "`evry`",
    ] {
        assert!(done.err.contains(shown), "{shown} is not in\n{}", done.err);
    }
    assert!(!done.err.contains("\nerror: c"), "{}", done.err);
}

#[test]
fn an_id_that_turns_the_direction_of_writing_is_refused() {
    for id in ["a\\u202eb", "a\\u2066b", "a\\u2028b", "a\\u001bb", "a\\nb"] {
        let text = format!("[[task]]\nid = \"{id}\"\nafter = \"1s\"\nrun = [\"true\"]\n");
        let done = Workbench::new().check(&text);
        assert_eq!(done.code, Some(2), "{id}");
        assert!(done.err.contains("control character"), "{}", done.err);
    }
    let text = "[[task]]\nid = \"שלום-ü-任务\"\nafter = \"1s\"\nrun = [\"true\"]\n";
    assert_eq!(Workbench::new().check(text).code, Some(0));
}

/// A check that goes through the line again for each fault takes minutes here.
#[test]
fn each_of_thousands_of_faults_in_one_line_is_shown_at_its_column() {
    const ITEMS: usize = 5_000;
    let item = |n: usize| format!("{{ \"ü\" = {n:05} }}");
    let items: Vec<String> = (10_000..10_000 + ITEMS).map(item).collect();
    let done = Workbench::new().check(&format!("task = [{}]\n", items.join(", ")));
    assert_eq!(done.code, Some(2));
    let mut places: Vec<usize> = (done.err.lines())
        .filter_map(|line| line.split("tasks.toml:1:").nth(1)?.parse().ok())
        .collect();
    places.dedup();
    let width = item(0).chars().count() + ", ".len();
    let expected = (0..ITEMS).flat_map(|n| [9 + n * width, 11 + n * width]);
    assert!(places.iter().copied().eq(expected), "{:?}", &places[..9]);
    for line in done.err.lines() {
        assert!(line.chars().count() < 200, "{line}");
    }
}
