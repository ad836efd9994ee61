//! Finds the experiments on the pages: the question and the answer of each.

use crate::book::pages::Page;
use regex::Regex;
use std::ops::Range;

/// The heading above the experiments of a page.
const HEADING: &str = "\n## Break it\n";

/// An experiment of the book.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Experiment {
    /// The page, without `.md`.
    pub(super) page: String,
    pub(super) number: usize,
    /// The text that says what to change, and what to predict.
    pub(super) question: String,
    /// What the reader should see.
    pub(super) answer: String,
}

impl Experiment {
    /// Returns the experiments of a page. A section without a numbered list is a single experiment.
    pub(super) fn all(page: &Page) -> Vec<Self> {
        let Some(section) = section(&page.text) else { return Vec::new() };
        let (question, rest) = page.text[section].split_once("<details>").unwrap_or_default();
        let answer = rest.split_once("</summary>").map_or("", |(_, answer)| answer);
        let answer = answer.split_once("</details>").map_or(answer, |(answer, _)| answer);
        let (questions, answers) = (Numbered::of(question), Numbered::of(answer));
        let name = page.name.trim_end_matches(".md");
        let of = |number, question, answer| Self { page: name.to_owned(), number, question, answer };
        if questions.items.is_empty() {
            return vec![of(1, plain(question), plain(answer))];
        }
        let of = |(n, item): (usize, &String)| {
            let answer = answers.items.get(n).map_or("", String::as_str);
            let question = format!("{}\n{item}\n{}", questions.before, questions.after);
            of(n + 1, plain(&question), plain(&format!("{}\n{answer}\n{}", answers.before, answers.after)))
        };
        questions.items.iter().enumerate().map(of).collect()
    }

    /// Returns the name of the experiment's files, such as `work-stealing-2`.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.page, self.number)
    }

    /// Returns the command that does the experiment.
    pub(super) fn command(&self) -> String {
        format!("cargo course break {} {}", self.page, self.number)
    }
}

/// Returns the place of the section *Break it* in the text of a page, without its heading.
pub(super) fn section(text: &str) -> Option<Range<usize>> {
    let start = text.find(HEADING)? + HEADING.len();
    let end = text[start..].find("\n## ").map_or(text.len(), |end| start + end);
    Some(start..end)
}

/// A text with a numbered list.
#[derive(Default)]
struct Numbered {
    before: String,
    items: Vec<String>,
    after: String,
}

impl Numbered {
    fn of(text: &str) -> Self {
        let number = Regex::new(r"^\d+\. ").expect("a valid expression");
        let (mut numbered, mut is_after, mut after_blank) = (Self::default(), false, false);
        for line in text.lines() {
            let found = number.find(line).map_or(0, |found| found.end());
            if found > 0 {
                numbered.items.push(String::new());
                is_after = false;
            } else if after_blank && !line.is_empty() && !line.starts_with(' ') {
                is_after = true;
            }
            let part = match numbered.items.last_mut() {
                Some(item) if !is_after => item,
                Some(_) => &mut numbered.after,
                None => &mut numbered.before,
            };
            part.push_str(line[found..].trim_start());
            part.push('\n');
            after_blank = line.is_empty();
        }
        numbered
    }
}

/// Returns Markdown as text for a terminal: one line for each paragraph, no listings, and links without
/// their targets.
fn plain(markdown: &str) -> String {
    let listing = Regex::new(r"(?ms)^ *```.*?^ *```$").expect("a valid expression");
    let link = Regex::new(r"\[([^\]]*)\]\([^)]*\)").expect("a valid expression");
    let without = listing.replace_all(markdown, "");
    let paragraphs: Vec<String> = without
        .split("\n\n")
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|text| !text.is_empty())
        .collect();
    link.replace_all(&paragraphs.join("\n"), "$1").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiments(text: &str) -> Vec<Experiment> {
        Experiment::all(&Page { path: "a/b.md".into(), name: "b.md".into(), text: text.into() })
    }

    #[test]
    fn each_number_is_an_experiment_with_what_stands_around_the_list() {
        let text = "# B\n\n## Break it\n\nPredict.\n\n1. In `a.rs`,\n   break it.\n2. See [b](b.md).\n\n\
            <details><summary>What you should see</summary>\n\n1. It\n   breaks.\n\n   ```text\n   no\n   ```\n2. It does not.\n\nNobody\nnotices.\n\n</details>\n\n## Recap\n\n1. No.\n";
        let [one, two] = &experiments(text)[..] else { panic!("{:?}", experiments(text)) };
        assert_eq!(one.question, "Predict.\nIn `a.rs`, break it.");
        assert_eq!(one.answer, "It breaks.\nNobody notices.");
        assert_eq!(
            (two.question.as_str(), two.answer.as_str()),
            ("Predict.\nSee b.", "It does not.\nNobody notices.")
        );
        assert_eq!((two.name().as_str(), two.command().as_str()), ("b-2", "cargo course break b 2"));
    }

    #[test]
    fn a_section_without_numbers_is_one_experiment() {
        let text = "# B\n\n## Break it\n\nBreak it.\n\n<details><summary>See</summary>\n\nIt breaks.\n\n</details>\n";
        let [one] = &experiments(text)[..] else { panic!("{:?}", experiments(text)) };
        assert_eq!((one.number, one.question.as_str(), one.answer.as_str()), (1, "Break it.", "It breaks."));
        assert_eq!(experiments("# B\n\n## Recap\n"), []);
    }
}
