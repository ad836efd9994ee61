//! `wrong exNN MISTAKE`: what a wrong answer does differently from the solution.

use crate::exercises::{Learner, Style, catalogue, say};
use anyhow::Context;
use exercises_protocol::paragraph;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;
use std::fs;

impl Learner {
    /// Shows a wrong answer as its difference from the solution. That gives the solution away, so only after solving.
    ///
    /// # Errors
    /// If there is no such exercise or mistake, or its files cannot be read.
    pub fn show_mistake(&self, name: &str, mistake: &str) -> anyhow::Result<bool> {
        let exercise = catalogue::named(&self.exercises, name)?;
        let wrong = exercise.wrong(mistake)?;
        let path = exercise.wrong_answer(wrong);
        let mut text = format!("{}\n", self.style.strong(&wrong.file));
        text.push_str(&paragraph("", &exercise.what_is_wrong(wrong)?));
        let _ = writeln!(text, "\nCaught by {}, which says \"{}\".", wrong.property, wrong.message);
        let solved = self.progress.is_solved(exercise);
        if solved {
            let read =
                |path| fs::read_to_string(path).with_context(|| format!("cannot read {}", exercise.name));
            text.push_str("\nThe solution (-), and what this one has instead (+):\n\n");
            text.push_str(&difference(&read(exercise.solution())?, &read(path.clone())?, self.style));
        } else {
            text.push_str("\nHow it differs from the solution is shown once you have solved the exercise.\n");
        }
        let short = exercise.short();
        let _ = writeln!(
            text,
            "\nThe file: {}\nHow often it is caught: cargo course wrong {short} {} --runs 20",
            self.workspace.relative(&path),
            wrong.file
        );
        say(&text);
        Ok(solved)
    }
}

/// The lines that differ, with some of those around them.
fn difference(solution: &str, wrong: &str, style: Style) -> String {
    let (solution, wrong) = (code(solution), code(wrong));
    let diff = TextDiff::from_lines(&solution, &wrong);
    let mut text = String::new();
    for (n, group) in diff.grouped_ops(3).iter().enumerate() {
        if n > 0 {
            text.push_str("  …\n");
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let line = change.value().trim_end();
            let line = match change.tag() {
                ChangeTag::Equal => format!("  {line}"),
                ChangeTag::Delete => style.good(&format!("- {line}")),
                ChangeTag::Insert => style.bad(&format!("+ {line}")),
            };
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// An answer without the page at its top and the book's marks.
fn code(answer: &str) -> String {
    let of_the_code = |line: &&str| !line.starts_with("//!") && !line.trim_start().starts_with("// ANCHOR");
    answer.lines().filter(of_the_code).fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_what_is_around_it() {
        let solution = "//! A pool.\nuse a;\n\nfn f() {\n    while empty() {\n        wait();\n    }\n}\n";
        let wrong = "//! Wrong: an if.\nuse a;\n\nfn f() {\n    // ANCHOR: a\n    if empty() {\n        wait();\n    }\n}\n";
        let shown = difference(solution, wrong, Style::plain());
        assert_eq!(
            shown,
            "  use a;\n\n  fn f() {\n-     while empty() {\n+     if empty() {\n          wait();\n      }\n  }\n"
        );
        assert_eq!(difference(solution, solution, Style::plain()), "");
    }
}
