//! Draws a figure of the pages that need other pages: a line for each chapter, and an arc from each page to
//! each later page that needs it. The name of an exercise stands at the right of its page's line, and each
//! exercise has its own arcs.
//!
//! No arc leads upwards: [`order`](crate::book::order) reports every page or exercise that needs a later one.

use crate::book::order::{needed_exercises, needs};
use crate::book::pages::Page;
use charts::escaped;
use exercises_protocol::{Contents, Exercise};
use std::fmt::Write as _;

/// The height of a line, in pixels.
const LINE: usize = 20;
/// The position of the dots of the pages, with room for arcs on their left side.
const DOTS: usize = 100;
/// The position of the names of exercises; the next constant is the position of the arcs beside these names.
const EXERCISES: usize = 370;
const AFTER_EXERCISES: usize = 437;
const WIDTH: usize = 475;

/// Draws the chapters. The dot of a core page is filled.
pub(super) fn svg(pages: &[Page], contents: &Contents, core: &[String], exercises: &[Exercise]) -> String {
    let count = contents.chapters();
    let height = (count + 1) * LINE;
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" role=\"group\" aria-label=\"All chapters below each \
         other in the order of the book. An arc leads from each page to the later pages that need it. Beside a \
         page stand its exercises.\">\n"
    );
    let chapter = |name: &str| Some((contents.place(name)?, contents.page(contents.place(name)?)?.number?));
    for page in pages {
        let Some((_, number)) = chapter(&page.name) else { continue };
        for (_, needed) in needs(page) {
            if let Some((place, before)) = chapter(&needed) {
                let reach = DOTS.saturating_sub(14 + (number - before.min(number)) * LINE / 9);
                arc(&mut text, (DOTS, reach.max(2)), before, number, &title(contents, place));
            }
        }
    }
    let line_of = |exercise: &Exercise| contents.page_of(exercise)?.number;
    for exercise in exercises {
        for needed in needed_exercises(exercise, exercises) {
            if let (Some(before), Some(line)) = (line_of(needed), line_of(exercise)) {
                let reach = AFTER_EXERCISES + 8 + (line - before.min(line)) * LINE / 25;
                arc(&mut text, (AFTER_EXERCISES, reach.min(WIDTH)), before, line, needed.short());
            }
        }
    }
    for page in pages {
        let Some((place, number)) = chapter(&page.name) else { continue };
        let filled = if core.contains(&page.name) { "currentColor" } else { "none" };
        let (y, link) = (number * LINE, page.name.replace(".md", ".html"));
        let _ = writeln!(
            text,
            "<circle cx=\"{DOTS}\" cy=\"{y}\" r=\"3.5\" class=\"line\" style=\"fill: {filled}\"/>\
             <a href=\"{link}\"><text x=\"{}\" y=\"{}\">{}</text></a>",
            DOTS + 10,
            y + 4,
            title(contents, place)
        );
        let of_page = exercises.iter().filter(|exercise| contents.place_of(exercise) == Some(place));
        let names: Vec<&str> = of_page.map(Exercise::short).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "<text x=\"{EXERCISES}\" y=\"{}\">{}</text>", y + 4, names.join(" "));
        }
    }
    text.push_str("</svg>\n");
    text
}

/// Draws an arc from the line `from` down to the line `to`. The arc begins at the first position of the pair,
/// bends towards the second position, and ends at the first position again.
fn arc(text: &mut String, (at, reach): (usize, usize), from: usize, to: usize, needed: &str) {
    let (from, to) = (from * LINE, to * LINE);
    if from == to {
        return; // two exercises of one page
    }
    let _ = writeln!(
        text,
        "<path class=\"line\" opacity=\"0.55\" d=\"M {at} {from} C {reach} {from}, {reach} {to}, {at} {to}\">\
         <title>needs {needed}</title></path>"
    );
}

fn title(contents: &Contents, place: usize) -> String {
    contents.page(place).map_or(String::new(), |page| escaped(&page.title.replace('*', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_need_is_an_arc_and_core_pages_have_a_filled_dot() {
        let contents = Contents::of(
            "[Before](before.md)\n- [One & two](one.md)\n- [Three](three.md)\n- [*Four*](four.md)\n",
        );
        let page = |name: &str, facts: &str| Page {
            path: name.into(),
            name: name.into(),
            text: format!("<p class=\"facts\">{facts}</p>\n"),
        };
        let needs_one = "You need <a href=\"one.html\">One</a> and <a href=\"before.html\">this</a>.";
        let pages = [page("four.md", ""), page("one.md", ""), page("three.md", needs_one)];
        let svg = svg(&pages, &contents, &["one.md".into()], &[]);
        assert_eq!(svg.matches("<path").count(), 1, "{svg}");
        assert!(
            svg.contains("M 100 20 C 84 20, 84 40, 100 40\"><title>needs One &amp; two</title>"),
            "{svg}"
        );
        let filled: Vec<&str> = svg.lines().filter(|line| line.contains("fill: currentColor")).collect();
        assert!(
            matches!(filled[..], [one] if one.contains("href=\"one.html\"") && one.contains("cy=\"20\"")),
            "{svg}"
        );
        assert!(
            svg.contains(">Four</text>") && !svg.contains("before.html") && !svg.contains("\n\n"),
            "{svg}"
        );
    }
}
