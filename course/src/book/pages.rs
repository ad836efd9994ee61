//! The pages of the book as text, line by line.

use crate::workspace::was_built;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// A Markdown file of the book.
pub(super) struct Page {
    pub(super) path: PathBuf,
    /// The name of the page in messages: its path below the book's sources.
    pub(super) name: String,
    pub(super) text: String,
}

/// One line of a page.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) text: &'a str,
    /// The text behind the opening back-ticks, if the line is in a code block.
    pub(super) block: Option<&'a str>,
}

impl Page {
    /// Returns every page below a directory.
    ///
    /// # Errors
    /// Returns an error if a directory or a page cannot be read.
    pub(super) fn all(sources: &Path) -> anyhow::Result<Vec<Self>> {
        let paths =
            files_below(sources, &|path| path.extension().is_some_and(|extension| extension == "md"))?;
        let read = |path: PathBuf| {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.strip_prefix(sources).unwrap_or(&path).display().to_string().replace('\\', "/");
            Ok(Self { path, name, text })
        };
        paths.into_iter().map(read).collect()
    }

    /// Returns all lines except those that begin and end code blocks.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut block: Option<&str> = None;
        self.text.lines().zip(1..).filter_map(move |(text, number)| {
            if let Some(info) = text.trim_start().strip_prefix("```") {
                block = if block.is_some() { None } else { Some(info.trim()) };
                return None;
            }
            Some(Line { number, text, block })
        })
    }

    /// Returns a message about a fault in a line of this page.
    pub(super) fn fault(&self, line: usize, what: impl std::fmt::Display) -> String {
        format!("{}:{line}: {what}", self.name)
    }
}

/// Returns the files below a directory for which `wanted` is true, in the same order on every machine.
/// Hidden files and build output are skipped.
pub(super) fn files_below(dir: &Path, wanted: &dyn Fn(&Path) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut to_visit = vec![dir.to_path_buf()];
    while let Some(dir) = to_visit.pop() {
        let entries = fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", dir.display()))?;
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if hidden || was_built(&path) {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                to_visit.push(path);
            } else if wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_number_and_their_code_block() {
        let text = "# A\n```console\n$ b\n```\nc\n".to_owned();
        let page = Page { path: PathBuf::new(), name: "page.md".into(), text };
        let lines: Vec<_> = page.lines().map(|line| (line.number, line.text, line.block)).collect();
        assert_eq!(lines, [(1, "# A", None), (3, "$ b", Some("console")), (5, "c", None)]);
    }
}
