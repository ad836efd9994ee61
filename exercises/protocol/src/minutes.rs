//! The time that an exercise takes.
//!
//! The rule is: one minute for 100 words of the README, and one minute for each line of the solution that the
//! stub lacks. No learner works at exactly this speed, so the result is a range in steps of five minutes:
//! from three quarters of the sum to one and a half times as much. The README states the range, and the proof
//! compares it with the rule. So the range is known even if the project does not contain the solution of the
//! exercise.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::ops::Range;

use anyhow::Context;

use crate::Exercise;

/// A range of minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minutes {
    /// The time that a quick learner needs.
    pub least: usize,
    /// The time that a learner needs if he looks things up.
    pub most: usize,
}

impl Minutes {
    /// Makes the range of minutes around a time that is given in hundredths of a minute.
    fn about(hundredths: usize) -> Self {
        let [least, most] = [75, 150].map(|percent| 5 * ((hundredths * percent + 25_000) / 50_000).max(1));
        Self { least, most }
    }
}

impl Display for Minutes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { least, most } = self;
        if least == most { write!(f, "{least} minutes") } else { write!(f, "{least} to {most} minutes") }
    }
}

impl Exercise {
    /// Returns the time that the exercise takes according to its README.
    ///
    /// # Errors
    /// Returns an error if the README cannot be read, or does not state the time.
    pub fn minutes(&self) -> anyhow::Result<Minutes> {
        let path = self.readme();
        let readme = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        said(&readme).with_context(|| format!("{} does not say \"30 to 60 minutes.\"", path.display()))
    }

    /// Returns the time that the exercise takes by the rule.
    ///
    /// # Errors
    /// Returns an error if the README, the solution or the stub cannot be read.
    pub fn minutes_by_rule(&self) -> anyhow::Result<Minutes> {
        let [readme, solution, stub] = [self.readme(), self.solution(), self.stub()]
            .map(|path| fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display())));
        let (words, lines) = (words(&readme?), lines_to_write(&solution?, &stub?));
        Ok(Minutes::about(words + 100 * lines))
    }
}

/// Replaces the first sentence of the README that mentions minutes by the given minutes, and returns the new
/// text.
pub fn with_minutes(readme: &str, minutes: Minutes) -> Option<String> {
    let Range { start, end } = sentence(readme)?;
    Some(format!("{}{minutes}.{}", &readme[..start], &readme[end..]))
}

/// Returns the byte range of the first sentence that mentions minutes.
fn sentence(readme: &str) -> Option<Range<usize>> {
    const LAST: &str = "minutes.";
    let end = readme.find(LAST)? + LAST.len();
    let begins = |after: &str| readme[..end].rfind(after).map_or(0, |at| at + after.len());
    Some(begins(". ").max(begins("\n"))..end)
}

fn said(readme: &str) -> Option<Minutes> {
    let range = readme[sentence(readme)?].strip_suffix(" minutes.")?;
    let (least, most) = range.split_once(" to ").unwrap_or((range, range));
    Some(Minutes { least: least.parse().ok()?, most: most.parse().ok()? })
}

/// Returns the number of words that a learner must read; commands do not count.
fn words(readme: &str) -> usize {
    let text = readme.split("```").step_by(2);
    text.map(|text| text.split_whitespace().count()).sum()
}

/// Returns the number of lines of code in the solution that are not in the stub.
fn lines_to_write(solution: &str, stub: &str) -> usize {
    let mut there: Vec<&str> = lines_of_code(stub).collect();
    let mut new = 0;
    for line in lines_of_code(solution) {
        match there.iter().position(|of_stub| *of_stub == line) {
            Some(at) => {
                there.swap_remove(at);
            }
            None => new += 1,
        }
    }
    new
}

fn lines_of_code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_from_a_quarter_less_to_half_as_much_again() {
        let said = |hundredths| Minutes::about(hundredths).to_string();
        assert_eq!([4_000, 2_340, 100].map(said), ["30 to 60 minutes", "20 to 35 minutes", "5 minutes"]);
    }

    #[test]
    fn words_to_read_and_lines_to_write_count_and_commands_comments_and_the_stub_do_not() {
        assert_eq!(words("# Title\n\n```text\ncargo test\n```\nthree more words\n```\nx\n```\n"), 5);
        let stub = "//! A stub.\nfn f() {\n    todo!(\"\")\n}\n";
        let solution = "//! Another.\nfn f() {\n    // why\n    g();\n\n    g();\n    if a {\n    }\n}\n";
        assert_eq!(lines_to_write(solution, stub), 4);
    }

    #[test]
    fn what_a_readme_says_is_read_and_written() {
        assert_eq!(said("# E\n5 minutes.\n"), Some(Minutes { least: 5, most: 5 }));
        let minutes = Minutes { least: 30, most: 60 };
        for readme in [
            "# E\n\nChapter: [a](b.md). About 40 minutes.\n\nEvery ten minutes. So.\n",
            "# E\nForty minutes.\n",
        ] {
            assert_eq!(said(readme), None);
            let written = with_minutes(readme, minutes).unwrap();
            assert_eq!(said(&written), Some(minutes), "{written}");
            assert_eq!(with_minutes(&written, minutes).unwrap(), written);
            assert_eq!(written.lines().count(), readme.lines().count());
        }
        assert_eq!(with_minutes("# E\n", minutes), None);
    }
}
