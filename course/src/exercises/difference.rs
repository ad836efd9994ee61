//! `wrong exNN MISTAKE`: shows how a wrong answer differs from a right one; with `--put`, the learner can
//! try the wrong answer.

use crate::exercises::show::back_up;
use crate::exercises::{Learner, Style, catalogue, say};
use anyhow::Context;
use exercises_protocol::wrong::{Code, Hunk, Line};
use exercises_protocol::{Exercise, Wrong, paragraph};
use std::fmt::Write as _;
use std::fs;

/// The number of lines that are shown before and after a difference.
const AROUND: usize = 3;

impl Learner {
    /// Shows a wrong answer as a set of edits to a right one. The edits reveal the solution, so they are
    /// shown only after the learner has solved the exercise.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise or mistake, or if its files cannot be read.
    pub fn show_mistake(&self, name: &str, mistake: &str) -> anyhow::Result<bool> {
        let exercise = catalogue::named(&self.exercises, name)?;
        let wrong = catalogue::mistake(exercise, mistake)?;
        let mut text = format!("{}\n", self.style.strong(&wrong.name));
        text.push_str(&paragraph("", &wrong.what_is_wrong()));
        text.push_str(&paragraph("", &format!("What you would see: {}", wrong.what_is_seen())));
        let _ = writeln!(text, "\nCaught by {}, which says \"{}\".", wrong.property, wrong.message);
        let solved = self.progress.is_solved(exercise);
        if solved {
            text.push_str(&edit_of(exercise, wrong, self.style)?);
        } else {
            text.push_str("\nHow it differs from the solution is shown once you have solved the exercise.\n");
        }
        let (short, name) = (exercise.short(), &wrong.name);
        let _ = writeln!(
            text,
            "\nHow often it is caught: cargo course wrong {short} {name} --runs 20\n\
             To try it yourself:     cargo course wrong {short} {name} --put"
        );
        say(&text);
        Ok(solved)
    }

    /// Writes a wrong answer into the learner's file, after making a backup of the learner's answer.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise or mistake, or if a file cannot be written; in both
    /// cases the learner's answer is kept.
    pub fn put_mistake(&self, name: &str, mistake: &str) -> anyhow::Result<bool> {
        let exercise = catalogue::named(&self.exercises, name)?;
        let wrong = catalogue::mistake(exercise, mistake)?;
        self.put(exercise, &exercise.wrong_answer(wrong)?)?;
        let (answer, short) = (exercise.answer(), exercise.short());
        say(&format!(
            "{} is {} now. What it fails: cargo course check {short}. The stub again: cargo course reset {short}\n",
            self.workspace.relative(&answer),
            wrong.name
        ));
        Ok(true)
    }

    /// Writes an answer that is not the learner's own, and keeps a copy of the answer that the learner has
    /// written.
    pub(super) fn put(&self, exercise: &Exercise, text: &str) -> anyhow::Result<()> {
        let answer = exercise.answer();
        let is_there = fs::read(&answer).is_ok_and(|before| before == text.as_bytes());
        if exercise.is_begun() && !is_there {
            let backup = back_up(exercise)?;
            say(&format!("Your answer is kept in {}\n", self.workspace.relative(&backup)));
        }
        fs::write(&answer, text).with_context(|| format!("cannot write {}", answer.display()))
    }
}

/// Returns the edits that make the wrong answer; if the wrong answer has a different design, returns its path
/// instead.
fn edit_of(exercise: &Exercise, wrong: &Wrong, style: Style) -> anyhow::Result<String> {
    let Some(hunks) = exercise.edit(wrong, AROUND)? else {
        return Ok("\nIt is a design of its own, and not a change of the solution.\n".into());
    };
    let base = match &wrong.code {
        Code::Edit { base: Some(right), .. } => format!("Another right answer, {right}"),
        _ => "The solution".into(),
    };
    Ok(format!("\n{base} (-), and what this one has instead (+):\n\n{}", difference(&hunks, style)))
}

/// Returns the lines of an edit in colours.
fn difference(hunks: &[Hunk], style: Style) -> String {
    let mut text = String::new();
    for (n, hunk) in hunks.iter().enumerate() {
        if n > 0 {
            text.push_str("  …\n");
        }
        let is_empty = |line: &&Line| matches!(line, Line::Stays(line) if line.is_empty());
        for line in hunk.lines.iter().skip_while(is_empty) {
            let line = match line {
                Line::Stays(line) => format!("  {line}"),
                Line::Goes(line) => style.good(&format!("- {line}")),
                Line::Comes(line) => style.bad(&format!("+ {line}")),
            };
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_shown_with_what_is_around_it() {
        let [stays, goes, comes] =
            [Line::Stays, Line::Goes, Line::Comes].map(|kind| move |text: &str| kind(text.into()));
        let one = Hunk { lines: vec![stays(""), stays("a"), stays(""), goes("    b"), comes("    c")] };
        let other = Hunk { lines: vec![goes("d")] };
        assert_eq!(difference(&[one, other], Style::plain()), "  a\n\n-     b\n+     c\n  …\n- d\n");
    }
}
