//! Adds a line to the end of a page; this line says how each way through the course continues. A way needs
//! this line if its next page is not the next page of the book, or if one of its parts ends.

use crate::ways::{Part, Way, Ways};
use mdbook_driver::book::Book;
use regex::Regex;
use std::collections::BTreeMap;

/// Adds the line to the pages of a book.
pub(super) fn add(book: &mut Book, ways: &Ways) {
    let mut titles = BTreeMap::new();
    book.for_each_chapter_mut(|chapter| {
        let file = chapter.source_path.as_ref().map(|path| path.display().to_string());
        titles.extend(file.map(|file| (file, chapter.name.clone())));
    });
    book.for_each_chapter_mut(|chapter| {
        let Some(file) = chapter.source_path.as_ref().map(|path| path.display().to_string()) else { return };
        if let Some(line) = line(&file, &chapter.content, ways, &titles) {
            chapter.content.push_str(&line);
        }
    });
}

/// Returns the text that must be added after a page, if at least one way needs such a text.
fn line(file: &str, text: &str, ways: &Ways, titles: &BTreeMap<String, String>) -> Option<String> {
    let next = Regex::new(r"Next: \[[^\]]*\]\(([^)]+)\)").expect("a valid expression");
    let next = next.captures_iter(text).last().map(|captures| captures[1].to_owned());
    let mut steps: Vec<(String, Vec<&str>)> = Vec::new();
    for way in ways.iter() {
        let Some(step) = step(file, next.as_deref(), way, titles) else { continue };
        match steps.iter_mut().find(|(same, _)| *same == step) {
            Some((_, names)) => names.push(&way.title),
            None => steps.push((step, vec![&way.title])),
        }
    }
    let steps: Vec<_> =
        steps.iter().map(|(step, names)| format!("{step} (*{}*)", names.join(", "))).collect();
    let steps = Some(steps.join("; ")).filter(|steps| !steps.is_empty())?;
    Some(format!("\n<div class=\"ways\">\n\nIf you follow a way: {steps}.\n\n</div>\n"))
}

/// Returns how a way continues after a page; returns `None` if the way continues with the page `next`.
fn step(file: &str, next: Option<&str>, way: &Way, titles: &BTreeMap<String, String>) -> Option<String> {
    let link = |page: &str| format!("[{}]({page})", titles.get(page).map_or(page, |title| title));
    let number = way.parts.iter().position(|part| part.pages().any(|page| page == file))?;
    let part = &way.parts[number];
    if let Some(page) = part.pages().skip_while(|page| page != file).nth(1) {
        return (Some(page.as_str()) != next).then(|| link(&page));
    }
    let exercises = part.exercises.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Some(match way.parts.get(number + 1).and_then(|part: &Part| part.pages().next()) {
        Some(page) => format!("{exercises}, then {}", link(&page)),
        None => format!("{exercises}, and that is its end"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAYS: &str = r#"
[[way]]
name = "day"
title = "A day"
part = [{ title = "", pages = ["one", "three"], exercises = ["ex01", "ex02"] }, { title = "", pages = ["four"], exercises = ["ex03"] }]

[[way]]
name = "night"
title = "A night"
part = [{ title = "", pages = ["one", "three", "four"], exercises = ["ex03"] }]
"#;

    /// Returns the line that is added to the page `page`, whose own text names `next` as the next page.
    fn after(page: &str, next: &str) -> Option<String> {
        let titles = ["one", "two", "three", "four"].map(|name| (format!("{name}.md"), name.to_uppercase()));
        let text = format!("# A page\n\nNext: [A page]({next}.md).\n");
        let line = line(&format!("{page}.md"), &text, &toml::from_str(WAYS).unwrap(), &titles.into())?;
        Some(line.lines().nth(3).unwrap().to_owned())
    }

    #[test]
    fn a_way_that_leaves_out_the_next_page_says_so() {
        assert_eq!(
            after("one", "two").unwrap(),
            "If you follow a way: [THREE](three.md) (*A day, A night*)."
        );
        assert_eq!(after("one", "three"), None);
        assert_eq!(after("two", "three"), None);
    }

    #[test]
    fn a_part_ends_with_its_exercises() {
        assert_eq!(
            after("three", "four").unwrap(),
            "If you follow a way: `ex01`, `ex02`, then [FOUR](four.md) (*A day*)."
        );
        assert_eq!(
            after("four", "five").unwrap(),
            "If you follow a way: `ex03`, and that is its end (*A day, A night*)."
        );
    }
}
