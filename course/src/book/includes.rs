//! Proves that every listing of the book exists.
//!
//! The book itself contains no code. A listing of the book is a line like `{{#include
//! ../../servers/src/site.rs:routes}}`, which takes the lines between `ANCHOR: routes` and
//! `ANCHOR_END: routes` from a file that the tests build. If the file is missing, mdBook shows the
//! line itself; if the anchor is missing, it shows nothing. mdBook treats both cases as a success,
//! so this module checks the listings first.
//!
//! An include may name a whole file or an anchor, but no line numbers, because after the next edit the same
//! numbers would show other lines.

use crate::book::pages::{Page, files_below};
use anyhow::bail;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One line `{{#include file:anchor}}` on a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Include<'a> {
    line: usize,
    pub(super) file: &'a str,
    anchor: Option<&'a str>,
}

/// Checks every include on every page under `pages`, and returns all broken includes.
pub(super) fn check(pages: &Path) -> anyhow::Result<()> {
    let faults = faults(&Page::all(pages)?);
    if faults.is_empty() {
        return Ok(());
    }
    bail!("the book includes code that is not there:\n  {}", faults.join("\n  "));
}

/// Returns the includes that do not show what they should show.
pub(super) fn faults(pages: &[Page]) -> Vec<String> {
    let mut faults = Vec::new();
    for page in pages {
        for include in includes(&page.text) {
            if let Err(fault) = resolve(&page.path, &include) {
                faults.push(page.fault(include.line, fault));
            }
        }
    }
    faults
}

/// Returns the anchors in the project's code that no page includes. Such an anchor is left over from a
/// listing or a page that was removed.
///
/// `awaited` is a file that lists files, one per line, whose pages are not written yet: the anchors of these
/// files may be unused. A file that is in the list without need is a fault; so the list can only get shorter.
pub(super) fn unused_anchors(root: &Path, pages: &[Page], awaited: &str) -> anyhow::Result<Vec<String>> {
    let mut used = BTreeSet::new();
    for page in pages {
        for include in includes(&page.text) {
            let file = page.path.parent().unwrap_or(Path::new("")).join(include.file);
            if let (Ok(file), Some(anchor)) = (file.canonicalize(), include.anchor) {
                used.insert((file, anchor));
            }
        }
    }
    let holds_code = |path: &Path| {
        path.extension().is_some_and(|end| ["rs", "toml", "sh", "diff"].iter().any(|e| end == *e))
    };
    let awaited = awaited.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut unneeded: BTreeSet<&str> = awaited.clone().collect();
    let awaited: BTreeSet<&str> = awaited.collect();
    let mut faults = Vec::new();
    for file in files_below(root, &holds_code)? {
        let text = fs::read_to_string(&file).unwrap_or_default(); // not text, so it cannot be included
        let canonical: PathBuf = file.canonicalize().unwrap_or_else(|_| file.clone());
        for (line, anchor) in anchors(&text) {
            if !used.contains(&(canonical.clone(), anchor)) {
                let file = file.strip_prefix(root).unwrap_or(&file).display().to_string().replace('\\', "/");
                unneeded.remove(file.as_str());
                if !awaited.contains(file.as_str()) {
                    faults.push(format!("{file}:{line}: no page includes the anchor `{anchor}`"));
                }
            }
        }
    }
    faults.extend(
        unneeded.into_iter().map(|file| format!("unwritten.txt: {file} has no anchor that waits for a page")),
    );
    Ok(faults)
}

/// Returns the anchors that begin in a file; a comment with an anchor must contain nothing else.
fn anchors(source: &str) -> impl Iterator<Item = (usize, &str)> {
    source.lines().zip(1..).filter_map(|(text, line)| {
        let comment = text.trim().strip_prefix("//").or_else(|| text.trim().strip_prefix('#'))?;
        let anchor = comment.trim().strip_prefix("ANCHOR:")?.trim();
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        (!anchor.is_empty() && anchor.chars().all(is_name)).then_some((line, anchor))
    })
}

pub(super) fn includes(page: &str) -> impl Iterator<Item = Include<'_>> {
    page.lines().zip(1..).flat_map(|(text, line)| {
        text.match_indices("{{#").filter_map(move |(start, _)| {
            let escaped = text[..start].ends_with('\\');
            let (directive, _) = text[start + 3..].split_once("}}")?;
            let (kind, argument) = directive.trim().split_once(char::is_whitespace)?;
            let includes = matches!(kind, "include" | "rustdoc_include" | "playground");
            let argument = argument.split_whitespace().next()?;
            let (file, anchor) = match argument.split_once(':') {
                Some((file, anchor)) => (file, Some(anchor)),
                None => (argument, None),
            };
            (includes && !escaped).then_some(Include { line, file, anchor })
        })
    })
}

fn resolve(page: &Path, include: &Include<'_>) -> Result<(), String> {
    let file = page.parent().unwrap_or(Path::new("")).join(include.file);
    let source =
        fs::read_to_string(&file).map_err(|error| format!("{} cannot be read: {error}", include.file))?;
    let Some(anchor) = include.anchor else { return Ok(()) };
    if anchor.starts_with(|c: char| c.is_ascii_digit() || c == ':') {
        return Err(format!("{}:{anchor} names lines by number; name an anchor instead", include.file));
    }
    anchored(&source, anchor).map_err(|fault| format!("{}: anchor `{anchor}` {fault}", include.file))
}

/// Checks that the anchor occurs once, is closed, and is not empty.
fn anchored(source: &str, anchor: &str) -> Result<(), &'static str> {
    let mut inside = false;
    let (mut opened, mut closed, mut lines) = (0, 0, 0);
    for line in source.lines() {
        if marks(line, "ANCHOR:", anchor) {
            inside = true;
            opened += 1;
        } else if marks(line, "ANCHOR_END:", anchor) {
            inside = false;
            closed += 1;
        } else if inside && !line.contains("ANCHOR") && !line.trim().is_empty() {
            lines += 1;
        }
    }
    match (opened, closed, lines) {
        (0, _, _) => Err("does not exist"),
        (1, 1, 0) => Err("is empty"),
        (1, 1, _) if !inside => Ok(()),
        (1, _, _) => Err("is not closed"),
        _ => Err("exists more than once"),
    }
}

fn marks(line: &str, mark: &str, anchor: &str) -> bool {
    line.split_once(mark).is_some_and(|(_, name)| name.split_whitespace().next() == Some(anchor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(page: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let source = "fn a() {}\n// ANCHOR: good\nfn b() {}\n// ANCHOR_END: good\n\
                      // ANCHOR: empty\n\n// ANCHOR_END: empty\n\
                      // ANCHOR: twice\nfn c() {}\n// ANCHOR_END: twice\n// ANCHOR: twice\nfn c() {}\n// ANCHOR_END: twice\n\
                      // ANCHOR: open\nfn d() {}\n";
        fs::write(dir.path().join("code.rs"), source).unwrap();
        fs::create_dir(dir.path().join("part")).unwrap();
        fs::write(dir.path().join("part/page.md"), page).unwrap();
        check(dir.path()).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_whole_file_an_anchor_and_an_escaped_include_are_fine() {
        let page = "{{#include ../code.rs}}\n{{#rustdoc_include ../code.rs:good}}\n\\{{#include nowhere.rs}}\n{{#title x}}";
        assert_eq!(faults_of(page), "");
    }

    #[test]
    fn each_kind_of_broken_include_is_named_with_its_page_and_line() {
        for (argument, fault) in [
            ("../gone.rs", "part/page.md:2: ../gone.rs cannot be read"),
            ("../code.rs:goood", "part/page.md:2: ../code.rs: anchor `goood` does not exist"),
            ("../code.rs:empty", "anchor `empty` is empty"),
            ("../code.rs:open", "anchor `open` is not closed"),
            ("../code.rs:twice", "anchor `twice` exists more than once"),
            ("../code.rs:2:3", "names lines by number"),
        ] {
            let found = faults_of(&format!("# Title\n{{{{#include {argument}}}}}\n"));
            assert!(found.contains(fault), "{argument}: {found}");
        }
    }

    #[test]
    fn an_anchor_that_no_page_includes_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("target")).unwrap();
        fs::write(dir.path().join("target/CACHEDIR.TAG"), "").unwrap();
        for file in ["code.rs", "target/copy.rs"] {
            let source = "// ANCHOR: used\nfn a() {}\n// ANCHOR_END: used\n\
                          # ANCHOR: unused\n# ANCHOR_END: unused\nlet s = \"// ANCHOR: text\";\n";
            fs::write(dir.path().join(file), source).unwrap();
        }
        fs::write(dir.path().join("page.md"), "{{#include code.rs:used}}\n").unwrap();
        let faults = |awaited| unused_anchors(dir.path(), &Page::all(dir.path()).unwrap(), awaited).unwrap();
        assert_eq!(faults(""), ["code.rs:4: no page includes the anchor `unused`"]);
        assert_eq!(faults("# still to come\n\ncode.rs\n"), Vec::<String>::new());
        assert_eq!(
            faults("code.rs\ngone.rs\n"),
            ["unwritten.txt: gone.rs has no anchor that waits for a page"]
        );
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let found = faults_of("{{#include a.rs}} {{#include b.rs}}\n{{#include c.rs}}");
        for name in ["a.rs", "b.rs", "c.rs"] {
            assert!(found.contains(name), "{found}");
        }
    }
}
