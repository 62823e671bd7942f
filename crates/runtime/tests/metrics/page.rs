//! Reads the text format as strictly as Prometheus does, and more so where that forgives.

use std::collections::{BTreeMap, HashSet};

/// The samples of a page, by name and labels as they are written.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) samples: BTreeMap<String, f64>,
    /// The kind of each family.
    pub(crate) families: BTreeMap<String, String>,
}

impl Page {
    pub(crate) fn read(text: &str) -> Page {
        assert!(text.ends_with('\n'), "the last line has no end");
        let (mut samples, mut families) = (BTreeMap::new(), BTreeMap::new());
        let (mut helped, mut family) = (HashSet::new(), String::new());
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, text) = help.split_once(' ').unwrap();
                assert!(!text.is_empty());
                assert!(helped.insert(name.to_owned()), "{name} is there twice");
                continue;
            }
            if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert!(helped.contains(name), "{name} has no help");
                assert!(["counter", "gauge", "histogram"].contains(&kind));
                families.insert(name.to_owned(), kind.to_owned());
                family = name.to_owned();
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let of_histogram = ["_bucket", "_sum", "_count"].iter();
            let base = of_histogram.filter_map(|end| name.strip_suffix(end)).next();
            let base = match base {
                Some(base) if families.get(base).is_some_and(|kind| kind == "histogram") => base,
                _ => name,
            };
            assert_eq!(base, family, "{line} is not with its family");
            check_labels(&series[name.len()..]);
            let value: f64 = value.parse().unwrap();
            assert!(value >= 0.0, "{line}");
            let before = samples.insert(series.to_owned(), value);
            assert_eq!(before, None, "{series} is there twice");
        }
        let page = Page { samples, families };
        page.check_names();
        page.check_histograms(text);
        page
    }

    #[track_caller]
    pub(crate) fn get(&self, series: &str) -> f64 {
        let found = self.samples.get(series);
        *found.unwrap_or_else(|| panic!("{series} is not in {:#?}", self.samples))
    }

    fn check_names(&self) {
        for (name, kind) in &self.families {
            assert!(name.starts_with("wheel_"), "{name}");
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name}");
        }
    }

    /// Buckets stand in order, go up, and end with the count.
    fn check_histograms(&self, text: &str) {
        let (mut last_bound, mut last_count) = (f64::NEG_INFINITY, 0.0);
        for line in text.lines().filter(|line| line.contains("_bucket{")) {
            let (series, count) = line.rsplit_once(' ').unwrap();
            let count: f64 = count.parse().unwrap();
            let (rest, bound) = series.rsplit_once("le=\"").unwrap();
            let bound: f64 = bound.trim_end_matches("\"}").parse().unwrap();
            assert!(bound > last_bound && count >= last_count, "{line}");
            (last_bound, last_count) = (bound, count);
            if bound.is_infinite() {
                let total = rest.replace("_bucket{", "_count{");
                let total = match total.trim_end_matches([',', '{']) {
                    bare if bare.contains('{') => format!("{bare}}}"),
                    bare => bare.to_owned(),
                };
                assert_eq!(self.get(&total), count, "{total}");
                (last_bound, last_count) = (f64::NEG_INFINITY, 0.0);
            }
        }
        assert!(last_bound.is_infinite(), "the last bucket is missing");
    }
}

/// `{name="value",...}`, with what has a meaning escaped, or nothing.
fn check_labels(labels: &str) {
    let Some(mut rest) = labels.strip_prefix('{') else {
        assert_eq!(labels, "");
        return;
    };
    let mut names = HashSet::new();
    loop {
        let (name, after) = rest.split_once("=\"").unwrap();
        assert!(names.insert(name), "{name} is there twice: {labels}");
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        assert!(!name.is_empty() && name.chars().all(is_name), "{labels}");
        assert!(!name.contains("id"), "no label is an id: {labels}");
        let mut characters = after.char_indices();
        let end = loop {
            match characters.next().unwrap() {
                (end, '"') => break end,
                (_, '\\') => assert!("\\\"n".contains(characters.next().unwrap().1)),
                _ => {}
            }
        };
        rest = &after[end + 1..];
        match rest {
            "}" => return,
            _ => rest = rest.strip_prefix(',').unwrap(),
        }
    }
}
