//! Checks the sentences of the pages, as far as a program can check sentences.
//!
//! Every figure of four digits or more must have a source: a listing or a transcript that the page includes,
//! or a command on the page. A figure without a source cannot be measured again. Years, and the numbers of
//! RFCs and issues, do not count as figures.
//!
//! No sentence may stop in the middle. A paragraph ends with a punctuation mark. If a line ends without such
//! a mark, the next line must continue the same sentence.

use crate::book::includes::includes;
use crate::book::pages::Page;
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the figures without a source, and the sentences without an end.
pub(super) fn faults(pages: &[Page]) -> Vec<String> {
    let written = |page: &&Page| !page.name.starts_with("generated/") && page.name != "SUMMARY.md";
    let texts: Vec<(&Page, String)> = pages.iter().filter(written).map(|page| (page, prose(page))).collect();
    let names = names(&texts);
    texts.iter().flat_map(|(page, text)| [typed(page, text), halves(page, text, &names)].concat()).collect()
}

fn expression(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid expression")
}

/// Returns the text of a page without code, includes, tags and link targets. The text has as many lines as
/// the page; within a line, the word `code` replaces each piece of code.
fn prose(page: &Page) -> String {
    let mut lines = vec![""; page.text.lines().count()];
    for line in page.lines().filter(|line| line.block.is_none()) {
        lines[line.number - 1] = line.text;
    }
    let mut text = lines.join("\n");
    for (pattern, stands_for) in [
        (r"\{\{.*?\}\}", ""),
        (r"`[^`]+`", "code"),
        (r"<[a-z/!][^>]*>", ""),
        (r"\[([^\]]*)\]\([^)]*\)", "$1"),
        (r"https?:\S+", "code"),
    ] {
        let put = |found: &Captures<'_>| {
            let mut put = String::new();
            found.expand(stands_for, &mut put);
            put.replace('\n', " ") + &"\n".repeat(found[0].matches('\n').count())
        };
        text = expression(pattern).replace_all(&text, put).into_owned();
    }
    text
}

/// Returns the figures of a page that occur neither in an included file nor in a code block of the page.
fn typed(page: &Page, prose: &str) -> Vec<String> {
    let mut sources: Vec<String> =
        page.lines().filter(|line| line.block.is_some()).map(|line| line.text.to_owned()).collect();
    let folder = page.path.parent().unwrap_or(Path::new(""));
    // A file that cannot be read is ignored here, because the check of the includes reports it.
    sources.extend(
        includes(&page.text).filter_map(|include| fs::read_to_string(folder.join(include.file)).ok()),
    );
    let bare = |figure: &str| figure.replace([',', '_'], "");
    let number = expression(r"\d[\d,_]*");
    let known: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| number.find_iter(source))
        .map(|found| bare(found.as_str()))
        .collect();
    let figure = expression(r"(RFC |[A-Za-z_.#])?(\d[\d,]*\d)");
    let is_year = |figure: &str| figure.len() == 4 && (figure.starts_with("19") || figure.starts_with("20"));
    let mut faults = Vec::new();
    for (line, number) in prose.lines().zip(1..) {
        for found in figure.captures_iter(line).filter(|found| found.get(1).is_none()) {
            let (text, digits) = (&found[2], bare(&found[2]));
            if digits.len() >= 4 && !is_year(text) && !known.contains(&digits) {
                let what =
                    format!("{text} is in no listing and no transcript of the page: where is it from?");
                faults.push(page.fault(number, what));
            }
        }
    }
    faults
}

/// Returns the words that have a capital letter in the middle of a sentence: `Java`, `Linux`.
fn names(texts: &[(&Page, String)]) -> BTreeSet<String> {
    let name = expression(r"[a-z,] \(?[*_]*([A-Z]\w*)");
    texts.iter().flat_map(|(_, text)| name.captures_iter(text).map(|found| found[1].to_owned())).collect()
}

/// Returns the sentences of a page that stop in the middle. Items of lists, tables and headings need no
/// punctuation mark at the end.
fn halves(page: &Page, prose: &str, names: &BTreeSet<String>) -> Vec<String> {
    let begins = expression(r"^[*_(]*([A-Z]\w*)");
    let item = expression(r"^\s*([-*]|\d+\.) ");
    let mut faults = Vec::new();
    let mut before: Option<&str> = None; // the line above, in the same paragraph
    let mut in_item = false;
    // Each line of the page is paired with the same line without code and tags. An additional line at the end
    // closes the last paragraph.
    let lines = page.text.lines().zip(prose.lines().chain(std::iter::repeat(""))).chain([("", "")]);
    for ((source, line), number) in lines.zip(1..) {
        let line = line.trim();
        let is_text = !line.is_empty() && !source.trim_start().starts_with(['|', '#', '<']) && line != "---";
        if let Some(above) = before.filter(|_| !is_text || item.is_match(source)) {
            if !in_item
                && !above.trim_end_matches(['*', '_', ')', '"', '”', '’']).ends_with(['.', ':', '?', '!'])
            {
                faults.push(
                    page.fault(number - 1, format_args!("the sentence stops at {:?}", last_words(above))),
                );
            }
            before = None;
        }
        in_item = if item.is_match(source) { true } else { in_item && !source.is_empty() };
        if let (Some(above), Some(word)) = (before, begins.captures(line))
            && above.ends_with(|c: char| c.is_alphanumeric())
            && !names.contains(&word[1])
        {
            faults
                .push(page.fault(number - 1, format_args!("the sentence stops at {:?}", last_words(above))));
        }
        before = is_text.then_some(line);
    }
    faults
}

/// Returns the end of a line, by which an author can find the line.
fn last_words(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    words[words.len().saturating_sub(4)..].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("out.txt"), "53583 answers\nSIZE: usize = 131_072\n").unwrap();
        fs::write(dir.path().join("page.md"), text).unwrap();
        faults(&Page::all(dir.path()).unwrap())
    }

    #[test]
    fn a_figure_without_a_source_is_named() {
        let page = "# A\n\nIt gives 53,583 answers.\n\n| a | 13962 |\n";
        let from_nowhere = |line, figure| {
            format!(
                "page.md:{line}: {figure} is in no listing and no transcript of the page: where is it from?"
            )
        };
        assert_eq!(faults_of(page), [from_nowhere(3, "53,583"), from_nowhere(5, "13962")]);
        let shown = "```text\n{{#include out.txt}}\n$ head -c 13962\n```\n";
        assert_eq!(
            faults_of(&format!("{page}\nThere are 131,072 of them.\n\n{shown}")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn years_and_numbers_that_are_names_are_no_figures() {
        let page =
            "In 2005, RFC 9110, [rust#121594](https://a/12345) said `70000`, and 999 of them v1.23456.\n";
        assert_eq!(faults_of(page), Vec::<String>::new());
        assert_eq!(faults_of("In 2105.\n").len(), 1);
    }

    #[test]
    fn half_a_sentence_is_named() {
        let stops = |line, words| vec![format!("page.md:{line}: the sentence stops at {words:?}")];
        assert_eq!(
            faults_of("It is so.\n\nIf the file moves away\n\nThen.\n"),
            stops(3, "the file moves away")
        );
        assert_eq!(faults_of("If the file\nmoves away\nLeave it alone.\n"), stops(2, "moves away"));
        assert_eq!(faults_of("It ends here\n- with a list\n"), stops(1, "It ends here"));
        assert_eq!(faults_of("# A\n\nIt ends"), stops(3, "It ends"));
        assert_eq!(faults_of("<figcaption>A\nfigure</figcaption>\n"), stops(2, "figure"));
    }

    #[test]
    fn whole_sentences_lists_tables_and_names_are_fine() {
        for page in [
            "# A heading\n\nIt is (so.)\n\n- an item\n  goes on\n- another\n\n| a |\n|---|\n",
            "It asks the\nJava runtime: what is in Java?\n",
            "**Why?** As `a\nVariable` says, [a\nLink](x.md) goes on:\n\n```text\nA line\n```\n",
            "<figcaption>A\nfigure.</figcaption>\n",
        ] {
            assert_eq!(faults_of(page), Vec::<String>::new(), "{page}");
        }
    }
}
