//! The page: where we lose first, then pictures, tables, and how each engine is set up.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use super::plots::{Plot, plots};
use super::rows::place;
use super::svg::escape;
use super::table::{also, number};
use super::{Findings, Row, bars, json, losses};
use crate::contestants::{ALL, describe};

/// Writes `index.html`, the pictures beside it, `results.json`, and the table of `BARS.md`.
pub fn write(findings: &Findings, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let plots = plots(&findings.rows);
    for plot in &plots {
        fs::write(folder.join(&plot.file), &plot.svg)?;
    }
    let bars = folder.join("BARS.md");
    let before = fs::read_to_string(&bars).ok();
    fs::write(&bars, bars::document(findings, before.as_deref()))?;
    fs::write(folder.join("results.json"), json::document(findings).text())?;
    fs::write(folder.join("index.html"), html(findings, &plots))
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width\">\n\
<title>wheel: measured beside others</title>\n<style>\n\
body{font:15px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:60rem;\
margin:2rem auto;padding:0 1rem}\n\
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem;font-size:13px}\n\
td,th{padding:.15rem .5rem;text-align:right;border-bottom:1px solid #eee;vertical-align:top}\n\
td:first-child,th:first-child,td:last-child,th:last-child{text-align:left}\n\
.ours td{font-weight:600}.note{background:#fff4e0;padding:.5rem 1rem}\n\
.table{overflow-x:auto}figure{margin:1rem 0}img{width:100%}figcaption{color:#555}\n\
</style>\n<h1>wheel: measured beside others</h1>\n";

fn html(findings: &Findings, plots: &[Plot]) -> String {
    let mut page = String::from(HEAD);
    let (noisy, note) = &findings.noise;
    let _ = write!(
        page,
        "<p>{}</p>\n<p{}>{}</p>\n\
         <p>Medians of the rounds, with the least and the most beside them; the contestants took \
         turns, a process each. Ratios are medians of the ratios within a round, to the heap and \
         to the best engine that is not ours; below 1 is better. All figures are in \
         <a href=\"results.json\">results.json</a>, and what the wheel is held to in \
         <a href=\"BARS.md\">BARS.md</a>.</p>\n<h2>Where the wheel loses</h2>\n<ul>\n",
        escape(&findings.machine.line()),
        if *noisy { " class=\"note\"" } else { "" },
        escape(note)
    );
    let lost = losses(&findings.rows);
    if lost.is_empty() {
        page.push_str("<li>nowhere in this run</li>\n");
    }
    for loss in lost {
        let _ = writeln!(page, "<li>{}</li>", escape(&loss));
    }
    page.push_str("</ul>\n<h2>Pictures</h2>\n");
    for Plot { file, about, .. } in plots {
        let about = escape(about);
        let _ = writeln!(
            page,
            "<figure><img src=\"{file}\" alt=\"{about}\"><figcaption>{about}</figcaption></figure>"
        );
    }
    page.push_str("<h2>Tables</h2>\n");
    let mut rest = findings.rows.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|row| row.is_beside(first)).count();
        page.push_str(&table(&rest[..count]));
        rest = &rest[count..];
    }
    page.push_str("<h2>Left out</h2>\n<ul>\n");
    for left in &findings.left_out {
        let _ = writeln!(
            page,
            "<li>{}: {}, {}</li>",
            left.workload,
            left.engine,
            escape(&left.reason)
        );
    }
    page.push_str("</ul>\n<h2>How each is set up</h2>\n<dl>\n");
    for name in ALL {
        if let Some(setup) = describe(name) {
            let _ = writeln!(page, "<dt><b>{name}</b></dt><dd>{}</dd>", escape(setup));
        }
    }
    page.push_str("</dl>\n");
    page
}

fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else {
        return String::new();
    };
    let cell = &first.cell;
    let mut text = format!(
        "<h3>{}, {}</h3>\n<p>{} In {}.</p>\n<div class=\"table\"><table>\n<tr><th>engine</th>\
         <th>median</th><th>min</th><th>max</th><th>to heap</th><th>to best</th><th>also</th></tr>\n",
        cell.workload,
        place(cell.workload, cell.pending, cell.threads),
        escape(cell.workload.about()),
        cell.workload.unit()
    );
    let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}x"));
    for row in rows {
        let class = if row.is_ours() { " class=\"ours\"" } else { "" };
        let name = row.cell.name();
        let _ = match row.primary() {
            Some(spread) => writeln!(
                text,
                "<tr{class}><td>{name}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td>{}</td><td>{}</td></tr>",
                number(spread.p50),
                number(spread.min),
                number(spread.max),
                ratio(row.to_heap),
                ratio(row.to_best.as_ref().map(|(_, ratio)| *ratio)),
                escape(&also(row))
            ),
            None => writeln!(
                text,
                "<tr{class}><td>{name}</td><td colspan=\"6\">failed: {}</td></tr>",
                escape(row.failure.as_deref().unwrap_or("no figure"))
            ),
        };
    }
    text.push_str("</table></div>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::super::rows::{rows, tests::taken};
    use super::*;
    use crate::measure::Machine;
    use crate::workloads::Effort;

    #[test]
    fn a_page_says_where_the_wheel_loses_and_shows_every_row() {
        let rows = rows(&[taken("wheel", &[30.0]), taken("heap", &[20.0])]);
        let findings = Findings::new(Effort::Full, Machine::this(), rows, Vec::new());
        let page = html(&findings, &[]);
        assert!(page.contains("<li>pair_fifo, 100k pending: 30.0 ns a pair against 20.0 of heap"));
        assert_eq!(page.matches("<tr").count(), 3);
        assert!(page.contains("<b>mutex_wheel_per_thread</b>"));
    }
}
