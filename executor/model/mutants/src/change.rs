//! A patch as `git diff` prints it: the changes to existing files.
//!
//! A patch applies only if the text has exactly the lines that the patch names, although these lines may have
//! moved. So a patch either makes exactly the change that its author meant, or makes no change.

use anyhow::{Context, bail, ensure};

/// The changes of a patch to one file.
#[derive(Debug)]
pub struct Change {
    /// The path of the file in the project.
    pub path: String,
    hunks: Vec<Hunk>,
}

/// Old lines, and the new lines that replace them.
#[derive(Debug)]
struct Hunk {
    begin: usize,
    old: Vec<String>,
    new: Vec<String>,
}

impl Change {
    /// Reads the changes in a patch. Ignores the lines before the first file.
    ///
    /// # Errors
    /// Returns an error if the text is not a patch, or if it changes nothing.
    pub fn all(patch: &str) -> anyhow::Result<Vec<Self>> {
        let mut files: Vec<Self> = Vec::new();
        let mut is_in_hunk = false;
        for line in patch.split_inclusive('\n') {
            if let Some(path) = line.strip_prefix("+++ b/") {
                files.push(Self { path: path.trim_end().to_owned(), hunks: Vec::new() });
            } else if line.starts_with("diff --git ") {
                is_in_hunk = false;
            } else if let Some(change) = files.last_mut()
                && (is_in_hunk || line.starts_with("@@ -"))
                && !line.starts_with("--- a/")
            {
                is_in_hunk = true;
                change.read_line(line)?;
            }
        }
        ensure!(files.iter().any(|file| !file.hunks.is_empty()), "it changes no file");
        Ok(files)
    }

    fn read_line(&mut self, line: &str) -> anyhow::Result<()> {
        if let Some(header) = line.strip_prefix("@@ -") {
            let begin =
                header.split([',', ' ']).next().unwrap_or_default().parse().context("a hunk's header")?;
            self.hunks.push(Hunk { begin, old: Vec::new(), new: Vec::new() });
            return Ok(());
        }
        let hunk = self.hunks.last_mut().context("a line before the first hunk")?;
        let line = if line == "\n" { " \n" } else { line }; // an editor has removed the space
        match line.split_at_checked(1) {
            Some(("-", old)) => hunk.old.push(old.to_owned()),
            Some(("+", new)) => hunk.new.push(new.to_owned()),
            Some((" ", kept)) => {
                hunk.old.push(kept.to_owned());
                hunk.new.push(kept.to_owned());
            }
            _ => bail!("not a line of a patch: {line}"),
        }
        Ok(())
    }

    /// Returns the text after the change. The text must contain the old lines exactly, but these lines may be
    /// at another place. A looser match could break code that the author of the patch did not want to break.
    /// If several places match, the place nearest to the old place counts, as in the program `patch`.
    pub fn apply(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (mut out, mut done, mut moved) = (String::new(), 0, 0);
        for hunk in &self.hunks {
            let expected = hunk.begin.saturating_sub(1).saturating_add_signed(moved);
            let fits = |at: &usize| {
                lines[*at..].iter().zip(&hunk.old).filter(|(a, b)| a == b).count() == hunk.old.len()
            };
            let at = (done..=lines.len()).filter(fits).min_by_key(|at| at.abs_diff(expected))?;
            moved += at.cast_signed() - expected.cast_signed();
            out.extend(lines[done..at].iter().copied());
            out.extend(hunk.new.iter().map(String::as_str));
            done = at + hunk.old.len();
        }
        out.extend(lines[done..].iter().copied());
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "# A note.\n--- a/x.rs\n+++ b/x.rs\n@@ -2,2 +2,2 @@ fn\n a\n-b\n+c\n";

    #[test]
    fn a_patch_is_applied_where_its_lines_have_moved_to() {
        let change = &Change::all(PATCH).unwrap()[0];
        assert_eq!(change.path, "x.rs");
        assert_eq!(change.apply("1\n2\n3\na\nb\nend\n").unwrap(), "1\n2\n3\na\nc\nend\n");
        assert_eq!(change.apply("a\nb\n3\n4\na\nb\n").unwrap(), "a\nc\n3\n4\na\nb\n", "the nearest place");
    }

    #[test]
    fn a_patch_whose_surroundings_have_changed_does_not_apply() {
        let change = &Change::all(PATCH).unwrap()[0];
        assert_eq!(change.apply("a \nb\n"), None);
        assert_eq!(change.apply("a\n"), None);
        assert_eq!(change.apply("a\nb"), None, "a last line without its end is another line");
    }

    #[test]
    fn a_patch_of_two_files_as_git_prints_it_is_read() {
        let git = |file: &str| {
            format!(
                "diff --git a/{file} b/{file}\nindex 1..2 100644\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-a\n+b\n"
            )
        };
        let changes = Change::all(&format!("{}{}", git("x.rs"), git("y.rs"))).unwrap();
        let applied: Vec<_> = changes.iter().map(|it| (it.path.as_str(), it.apply("a\n").unwrap())).collect();
        assert_eq!(applied, [("x.rs", "b\n".to_owned()), ("y.rs", "b\n".to_owned())]);
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        assert!(Change::all("no patch\n").is_err());
        assert!(Change::all("--- a/x.rs\n+++ b/x.rs\n").is_err());
        assert!(Change::all(&PATCH.replace("\n-b", "\n?b")).is_err());
    }
}
