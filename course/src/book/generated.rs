//! Generates the parts of pages that are computed from the project's lists: the plan of each way through the
//! course, and what each page and exercise needs. These parts are files in `book/src/generated`, and the
//! pages include them.

use crate::book::check::minutes;
use crate::book::graph;
use crate::book::pages::Page;
use crate::ways::{Part, Way, Ways};
use anyhow::Context;
use exercises_protocol::{Contents, Exercise, Minutes};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Compares the parts that pages include with the project's lists. If a part differs, it is written again,
/// and its name is printed.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub(super) fn renew(
    sources: &Path,
    pages: &[Page],
    contents: &Contents,
    ways: &Ways,
    exercises: &[Exercise],
) -> anyhow::Result<Vec<String>> {
    let plans =
        ways.iter().map(|way| (format!("way-{}.md", way.name), plan(way, pages, contents, exercises)));
    let graph = graph::svg(pages, contents, &ways.core(), exercises);
    let parts =
        plans.chain([("needs.md".to_owned(), needs(contents, exercises)), ("needs.svg".to_owned(), graph)]);
    let mut faults = Vec::new();
    for (name, text) in parts {
        let path = sources.join("generated").join(&name);
        let include = format!("{{{{#include generated/{name}}}}}");
        let is_included = pages.iter().any(|page| page.text.contains(&include));
        let is_as_it_was = || fs::read_to_string(&path).is_ok_and(|old| old.replace('\r', "") == text);
        if !is_included || is_as_it_was() {
            continue;
        }
        fs::create_dir_all(sources.join("generated")).context("cannot make a folder")?;
        fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        faults.push(format!("generated/{name}: was not as the lists are; it has been written anew"));
    }
    Ok(faults)
}

/// Returns one way through the course as a table: its parts with their pages, exercises and hours.
fn plan(way: &Way, pages: &[Page], contents: &Contents, exercises: &[Exercise]) -> String {
    let mut text = "| | pages | reading | exercises | doing |\n|---|---|--:|---|--:|\n".to_owned();
    for part in &way.parts {
        let links: Vec<String> = part.pages().map(|page| link(&page, contents)).collect();
        let reading: usize =
            part.pages().filter_map(|name| minutes(pages.iter().find(|page| page.name == name)?)).sum();
        let names: Vec<String> = part.exercises.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            part.title,
            links.join(" · "),
            hours(reading, reading),
            names.join(" "),
            doing(part, exercises)
        );
    }
    text
}

/// Returns the number of hours that the exercises of a part take. A task takes only a few minutes, and is not
/// counted.
fn doing(part: &Part, exercises: &[Exercise]) -> String {
    let of_part =
        exercises.iter().filter(|exercise| part.exercises.iter().any(|name| name == exercise.short()));
    let (mut least, mut most) = (0, 0);
    for minutes in of_part.filter_map(|exercise| exercise.minutes().ok()) {
        let Minutes { least: a, most: b } = minutes;
        (least, most) = (least + a, most + b);
    }
    hours(least, most)
}

/// Returns a time as text, such as `1½–2 h`, rounded up to half hours.
fn hours(least: usize, most: usize) -> String {
    let one = |minutes: usize| {
        let halves = minutes.div_ceil(30);
        let (hours, half) = (halves / 2, halves % 2 == 1);
        match (hours, half) {
            (0, true) => "½".to_owned(),
            (hours, true) => format!("{hours}½"),
            (hours, false) => hours.to_string(),
        }
    };
    let (least, most) = (one(least), one(most));
    if least == most { format!("{least} h") } else { format!("{least}–{most} h") }
}

/// Returns a table of the chapters that each exercise needs, in the order of the book.
fn needs(contents: &Contents, exercises: &[Exercise]) -> String {
    let mut text = "| exercise | after | needs |\n|---|---|---|\n".to_owned();
    for exercise in exercises {
        let after = contents.page_of(exercise).map(|page| link(&page.name, contents)).unwrap_or_default();
        let needs = exercise.needs.join("; ").replace('|', "\\|").replace('<', "&lt;");
        let _ = writeln!(text, "| `{}` | {after} | {needs} |", exercise.short());
    }
    text
}

/// Returns a link to a page, relative to the page that includes the generated part.
fn link(page: &str, contents: &Contents) -> String {
    let title = contents.place(page).and_then(|place| contents.page(place)).map_or(page, |page| &page.title);
    format!("[{title}]({page})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_halves_and_are_rounded_up() {
        assert_eq!(hours(5, 30), "½ h");
        assert_eq!(hours(60, 61), "1–1½ h");
        assert_eq!(hours(0, 0), "0 h");
    }
}
