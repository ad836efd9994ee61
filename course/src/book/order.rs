//! Proves that the pages can be read in their order. A page needs only earlier pages, and no exercise is
//! named before the page that explains it, or before the page on how exercises work.

use crate::book::pages::Page;
use exercises_protocol::{Contents, Exercise};
use regex::Regex;

/// Returns the pages that need a later page, and the exercises that are named too early.
pub(super) fn faults(pages: &[Page], exercises: &[Exercise]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.name == "SUMMARY.md") else { return Vec::new() };
    let contents = Contents::of(&summary.text);
    let mut faults = Vec::new();
    for page in pages {
        let Some(here) = contents.place(&page.name) else { continue };
        for (line, needed) in needs(page) {
            if contents.place(&needed).is_some_and(|there| there >= here) {
                faults.push(page.fault(line, format_args!("needs {needed}, which does not come before it")));
            }
        }
        for exercise in exercises {
            let is_early = contents.place_of(exercise).is_some_and(|first| here < first);
            let explains = contents.page_of(exercise).filter(|_| is_early);
            if let (Some(explains), Some(line)) = (explains, first_mention(page, exercise.short())) {
                let what = format_args!("names {} before {}", exercise.short(), explains.name);
                faults.push(page.fault(line, what));
            }
        }
    }
    faults
}

/// Returns the pages to which the line under a page's title ("You need …") links, each with its
/// line.
fn needs(page: &Page) -> Vec<(usize, String)> {
    let facts = Regex::new(r#"(?s)<p class="facts">.*?</p>"#).expect("a valid expression");
    let link = Regex::new(r##"href="([^"#]+)\.html"##).expect("a valid expression");
    let Some(facts) = facts.find(&page.text) else { return Vec::new() };
    let number = |at: usize| page.text[..facts.start() + at].matches('\n').count() + 1;
    link.captures_iter(facts.as_str())
        .map(|captures| captures.get(1).expect("one group"))
        .map(|name| (number(name.start()), format!("{}.md", name.as_str())))
        .collect()
}

/// Returns the first line of a page that contains `ex01`, alone or at the beginning of the full
/// name.
fn first_mention(page: &Page, exercise: &str) -> Option<usize> {
    let name = Regex::new(&format!(r"\b{}\b", regex::escape(exercise))).expect("a valid expression");
    page.text.lines().zip(1..).find(|(line, _)| name.is_match(line)).map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercises::catalogue;
    use crate::workspace::Workspace;

    /// Returns the faults of a book with these pages, in this order, and an exercise `ex01` that
    /// `explains.md` explains.
    fn faults_of(order: &[(&str, &str)]) -> Vec<String> {
        let summary: Vec<String> = order.iter().map(|(name, _)| format!("- [A page]({name}.md)\n")).collect();
        let page = |(name, text): &(&str, &str)| Page {
            path: name.into(),
            name: format!("{name}.md"),
            text: (*text).to_owned(),
        };
        let mut pages: Vec<Page> = order.iter().map(page).collect();
        pages.push(page(&("SUMMARY", &summary.concat())));
        let exercises = catalogue::all(&Workspace::find().unwrap()).unwrap();
        let mut exercise = catalogue::named(&exercises, "ex01").unwrap().clone();
        exercise.chapters = vec!["explains.md".to_owned()];
        faults(&pages, &[exercise])
    }

    const NEEDS: &str = "# A\n\n<p class=\"facts\">You need <a href=\"first.html\">one</a>\nand <a href=\"explains.html#x\">another</a>.</p>\n";

    #[test]
    fn pages_that_need_earlier_ones_are_in_order() {
        let pages =
            [("first", "# First\n"), ("explains", "`ex01-worker-pool`\n"), ("a", NEEDS), ("z", "ex01\n")];
        assert_eq!(faults_of(&pages), Vec::<String>::new());
    }

    #[test]
    fn a_page_that_needs_a_later_one_is_named_with_its_line() {
        let faults = faults_of(&[("first", "# First\n"), ("a", NEEDS), ("explains", "ex01\n")]);
        assert_eq!(faults, ["a.md:4: needs explains.md, which does not come before it"]);
    }

    #[test]
    fn an_exercise_is_not_named_before_the_page_that_explains_it() {
        let faults = faults_of(&[("a", "# A\n\nsee `ex01-worker-pool`, ex01\n"), ("explains", "ex01\n")]);
        assert_eq!(faults, ["a.md:3: names ex01 before explains.md"]);
        assert_eq!(faults_of(&[("a", "ex011, exex01\n"), ("explains", "ex01\n")]), Vec::<String>::new());
    }

    #[test]
    fn an_exercise_is_not_named_before_the_page_that_says_how_it_is_done() {
        let faults = faults_of(&[("explains", "ex01\n"), ("how-exercises-work", "# How\n")]);
        assert_eq!(faults, ["explains.md:1: names ex01 before how-exercises-work.md"]);
    }
}
