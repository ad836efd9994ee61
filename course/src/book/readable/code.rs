//! Checks whether code and transcripts are narrow enough for a page.
//!
//! The browser wraps a line that is wider than the page. Wrapping does no harm to a sentence, a comment or a
//! command. But wrapping breaks up the rows of a table and the indentation of code.

use super::Declaration;
use crate::book::pages::files_below;
use anyhow::Context;
use executor::CancelToken;
use hypertext::html::{self, Reader, Tag};
use regex::Regex;
use std::fs;
use std::path::Path;

/// The width of a character in mdBook's font for code, as a fraction of the font size.
const CHARACTER: f64 = 0.6;
/// The additional width of a code block, in pixels: the padding and a border.
const BESIDE: f64 = 26.0;
/// The size of `1rem` on mdBook's pages, in pixels.
const REM: f64 = 10.0;

/// Returns lines of the built book that are wider than its pages and must not wrap; also returns a fault if a
/// copy button would copy more than the commands.
///
/// # Errors
/// Returns an error if a page cannot be read, or if the theme does not give the width.
pub(super) fn faults(built: &Path, theme: &[Declaration]) -> anyhow::Result<Vec<String>> {
    let columns = columns(theme)?;
    let mut faults = Vec::new();
    for path in files_below(built, &|path| path.extension().is_some_and(|extension| extension == "html"))? {
        let name = path.strip_prefix(built).unwrap_or(&path).display().to_string();
        if name == "print.html" {
            continue; // repeats the other pages
        }
        let page = html::read(&fs::read_to_string(&path)?, Blocks::default(), &CancelToken::current())?;
        for (language, text) in &page.found {
            for line in text.lines().filter(|line| is_torn(line, language, columns)) {
                let (width, begin) = (line.chars().count(), line.trim().chars().take(60).collect::<String>());
                faults.push(format!("{name}: `{begin}…` has {width} columns, and the page {columns}"));
            }
        }
    }
    let scripts = files_below(built, &|path| path.extension().is_some_and(|extension| extension == "js"))?;
    let asks = |path| fs::read_to_string(path).is_ok_and(|text| text.contains("function playground_text("));
    if !scripts.iter().any(asks) {
        faults.push("theme.js: mdBook's button no longer asks `playground_text` what it copies".to_owned());
    }
    Ok(faults)
}

/// Returns the number of characters of code that fit into one line on a wide screen.
fn columns(theme: &[Declaration]) -> anyhow::Result<usize> {
    let value = |rule: &str, name: &str, of: &str| {
        let declared = theme.iter().find(|found| found.name == name && found.rules == [rule])?;
        Regex::new(of).expect("a valid expression").captures(&declared.value)?[1].parse::<f64>().ok()
    };
    let page = value(":root", "--content-max-width", r"^([\d.]+)px$");
    let font = value("pre > code", "font-size", r"([\d.]+)rem\)$");
    let (page, font) = page.zip(font).context("theme.css gives no width of a page, or no size of code")?;
    let fits = |columns: &u16| f64::from(*columns) * font * REM * CHARACTER + BESIDE <= page;
    Ok((1..u16::MAX).take_while(fits).count())
}

/// Returns whether a line is wider than the page and would be hard to read after wrapping.
fn is_torn(line: &str, language: &str, columns: usize) -> bool {
    let text = line.trim_start();
    // A comment may wrap, even if it follows code; but the code itself must not be too wide.
    let code = line.split_once(" // ").map_or(line, |(code, _)| code);
    let is_comment = ["//", "#", "--"].iter().any(|comment| text.starts_with(comment));
    if is_comment || code.chars().count() <= columns {
        return false;
    }
    let is_code = !["console", "sh", "text"].contains(&language);
    // A row of a table has a gap before its last cells.
    let is_row = text.rfind("   ").is_some_and(|gap| text[..gap].chars().count() > columns / 2);
    is_code || is_row
}

/// Collects the code blocks of a page: the language and the text of each block.
#[derive(Default)]
struct Blocks {
    found: Vec<(String, String)>,
    is_in_pre: bool,
    is_in_code: bool,
}

impl Reader for Blocks {
    fn tag(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "pre" => self.is_in_pre = !tag.is_end,
            "code" => {
                self.is_in_code = self.is_in_pre && !tag.is_end;
                if self.is_in_code {
                    let mut classes = tag.get("class").unwrap_or_default().split([' ', ',']);
                    let language = classes.find_map(|class| class.strip_prefix("language-"));
                    self.found.push((language.unwrap_or_default().to_owned(), String::new()));
                }
            }
            _ => {}
        }
    }

    fn characters(&mut self, text: &str) {
        if let Some((_, block)) = self.found.last_mut().filter(|_| self.is_in_code) {
            block.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::readable::style::declarations;

    const THEME: &str =
        ":root { --content-max-width: 900px }\npre > code { font-size: clamp(1.1rem, 1cqi, 1.31rem) }";

    /// Returns the faults of a book that has only one code block.
    fn faults_of(language: &str, line: &str, theme: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("book-1.js"), "function playground_text(block) {}").unwrap();
        let page = format!("<pre><code class=\"language-{language}\">{line}\n</code></pre>");
        fs::write(dir.path().join("page.html"), page).unwrap();
        faults(dir.path(), &declarations(theme)).unwrap()
    }

    #[test]
    fn code_that_is_wider_than_the_page_is_named() {
        let call = |width: usize| format!("    call({});", "x".repeat(width - 11));
        assert_eq!(faults_of("rust", &call(111), THEME), Vec::<String>::new());
        let faults = faults_of("rust", &call(112), THEME);
        assert!(
            faults[0].starts_with("page.html: `call(xx")
                && faults[0].ends_with("has 112 columns, and the page 111")
        );
        let narrow = THEME.replace("900px", "750px");
        assert!(faults_of("rust", &call(111), &narrow)[0].ends_with("and the page 92"), "a narrower page");
        let large = THEME.replace("1.31rem", "1.6rem");
        assert!(faults_of("rust", &call(111), &large)[0].ends_with("and the page 91"), "a larger font");
    }

    #[test]
    fn sentences_wrap_and_rows_do_not() {
        let long = "word ".repeat(30);
        for (language, line) in [
            ("rust", format!("    /// {long}")),
            ("rust", format!("    call(); // {long}")),
            ("console", format!("$ {long}")),
            ("console", format!("    {long}")),
            ("console", format!("a name      {long}")),
            ("sh", long.clone()),
        ] {
            assert_eq!(faults_of(language, &line, THEME), Vec::<String>::new(), "{line}");
        }
        assert_eq!(faults_of("console", &format!("{long}      12"), THEME).len(), 1);
        assert_eq!(faults_of("rust", &long, THEME).len(), 1);
    }

    #[test]
    fn a_button_that_asks_another_function_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("book-1.js"), "function textOf(block) {}").unwrap();
        let faults = faults(dir.path(), &declarations(THEME)).unwrap();
        assert_eq!(faults, ["theme.js: mdBook's button no longer asks `playground_text` what it copies"]);
    }
}
