//! Checks that the files and folders which a page names in the prose are there.
//!
//! A name counts as a path if it is written as code and begins with a folder of the project, as
//! `executor/src/lib.rs` does. Nothing else finds such a name when the file gets another one: no link leads there.

use crate::book::pages::Page;
use regex::Regex;
use std::path::Path;

/// The folder of what is built: a page may name files that only a build makes.
const BUILT: &str = "target";

/// Returns the paths of the pages that do not exist below `root`.
pub(super) fn faults<'a>(root: &Path, pages: impl Iterator<Item = &'a Page>) -> Vec<String> {
    let code = Regex::new(r"(?:`|<code>)((\.?\w[\w-]*)/[\w./-]*)(?:`|</code>)").expect("a valid expression");
    let mut faults = Vec::new();
    for page in pages {
        for line in page.lines().filter(|line| line.block.is_none()) {
            for path in code.captures_iter(line.text) {
                let is_of_the_project = &path[2] != BUILT && root.join(&path[2]).is_dir();
                if is_of_the_project && !root.join(&path[1]).exists() {
                    faults.push(page.fault(line.number, format_args!("{} does not exist", &path[1])));
                }
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_page_names_only_files_that_are_there() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("logs/src")).unwrap();
        fs::create_dir(root.path().join("target")).unwrap();
        fs::write(root.path().join("logs/src/lib.rs"), "").unwrap();
        let text = "Files: <code>logs/src/lib.rs</code>, <code>logs/src/old.rs</code>.\n\
            See `logs/src/`, `logs/gone/` and `target/report.txt`; `text/html` and `../logs` are not meant.\n\
            ```text\n`logs/other.rs`\n```\n";
        let page = Page { path: root.path().join("a.md"), name: "a.md".to_owned(), text: text.to_owned() };
        assert_eq!(
            faults(root.path(), [&page].into_iter()),
            ["a.md:1: logs/src/old.rs does not exist", "a.md:2: logs/gone/ does not exist"]
        );
    }
}
