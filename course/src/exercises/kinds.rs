//! The exercises that are not packages, with the commands `mend` and `predict`. The command `schedule`
//! is in another file.

use crate::cli::WrongUsage;
use crate::exercises::{Learner, catalogue, say};
use anyhow::{Context, anyhow};
use exercises_protocol::wrong::Line;
use exercises_protocol::{Choice, Mend, Predict, Shown, Task, paragraph};
use std::fmt::Write as _;
use std::fs;

/// The number of lines that are shown around the lines that a wrong answer changes.
const AROUND: usize = 9;

impl Learner {
    /// Returns whether the learner has done a task.
    pub(super) fn is_done(&self, task: &Task<'_>) -> bool {
        self.progress.knows("solved", task.name)
    }

    /// Prints a task in one line, with the command that starts it.
    pub(super) fn introduce_task(&self, task: &Task<'_>) {
        let after = self.contents.place(task.chapter).and_then(|place| self.after_page(place));
        let after = after.map_or_else(String::new, |after| format!(", {after}"));
        say(&format!(
            "{}\nabout {} minutes{after}; {}\n\nBegin: cargo course {} {}\n",
            self.style.strong(&format!("{}: {}", task.name, task.title)),
            task.minutes,
            self.done(),
            task.kind,
            task.name
        ));
    }

    /// Finds the task with this name; without a name, finds the first task of its kind that is not
    /// done.
    pub(super) fn task<'a, T>(
        &self,
        all: &'a [T],
        name: Option<&str>,
        name_of: fn(&T) -> &str,
    ) -> anyhow::Result<&'a T> {
        if all.is_empty() {
            return Err(WrongUsage::of(anyhow!(
                "This copy of the course has no exercises of this kind: it was made for students"
            ))
            .into());
        }
        let is_meant = |task: &&T| match name {
            Some(name) => name_of(task) == name,
            None => !self.progress.knows("solved", name_of(task)),
        };
        let found = all.iter().find(is_meant);
        found.or_else(|| all.first().filter(|_| name.is_none())).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(name_of).collect();
            let wanted = name.unwrap_or_default();
            WrongUsage::of(anyhow!("there is nothing called `{wanted}`. There are: {}", names.join(", ")))
                .into()
        })
    }

    /// `mend`: replaces the learner's answer by a wrong answer, and does not say what is wrong with
    /// it.
    ///
    /// # Errors
    /// Returns an error if there is no such task, or if a file cannot be written; in both cases the
    /// learner's answer is kept.
    pub fn mend(&mut self, name: Option<&str>) -> anyhow::Result<bool> {
        let Mend { name, title, exercise, wrong, .. } =
            self.task(&self.kinds.mend, name, |mend| &mend.name)?.clone();
        let exercise = catalogue::named(&self.exercises, &exercise)?.clone();
        let code = exercise.wrong_code(catalogue::mistake(&exercise, &wrong)?)?;
        self.put(&exercise, &code)?;
        self.progress.began_to_mend(&exercise, &name)?;
        let short = exercise.short();
        let [answer, readme] =
            [exercise.answer(), exercise.readme()].map(|path| self.workspace.relative(&path));
        say(&format!(
            "{}\n\n{answer} has an answer to {} now that looks right and is wrong in one thing.\n\n",
            self.style.strong(&format!("{name}: {title}")),
            exercise.name,
        ));
        say(&paragraph("read    ", &format!("{readme}, for what has to hold")));
        say(&paragraph(
            "find it ",
            "before you have it checked, if you can; then change as little as possible",
        ));
        say(&format!(
            "\nCheck: cargo course check {short}    The exercise itself, from its beginning: cargo course reset {short}\n"
        ));
        Ok(true)
    }

    /// `predict`: prints a question; if the letter of an option is given, also says whether that option is
    /// right and what really happened.
    ///
    /// # Errors
    /// Returns an error if there is no such question or option, or if a file cannot be read.
    pub fn predict(&mut self, name: Option<&str>, letter: Option<&str>) -> anyhow::Result<bool> {
        let predict = self.task(&self.kinds.predict, name, |predict| &predict.name)?.clone();
        let Some(letter) = letter else { return self.ask(&predict) };
        let chosen = match letter.trim().to_ascii_lowercase().parse() {
            Ok(letter) => Choice::place(letter).and_then(|place| Some((letter, predict.options.get(place)?))),
            Err(_) => None,
        };
        let (letter, choice) = chosen.ok_or_else(|| {
            let last = (b'a'..).nth(predict.options.len() - 1).map_or('?', char::from);
            WrongUsage::of(anyhow!("{} has the options a to {last}, and no `{letter}`", predict.name))
        })?;
        if letter != predict.answer {
            say(&format!("{}\n", self.style.bad(&format!("{letter}) {}: no.", choice.text))));
            say(&paragraph("", &choice.why));
            say(&format!("\nAnother one: cargo course predict {} LETTER\n", predict.name));
            return Ok(false);
        }
        self.progress.solve_task(&predict.name)?;
        say(&format!("{}\n", self.style.good(&format!("{letter}) {}: yes.", choice.text))));
        say(&paragraph("", &choice.why));
        say("\nAnd the others:\n");
        for (letter, other) in ('a'..).zip(&predict.options).filter(|(letter, _)| *letter != predict.answer) {
            say(&paragraph(&format!("  {letter}) "), &format!("{}. {}", other.text, other.why)));
        }
        say(&format!("\nWhat was seen:\n\n{}\n", self.seen(&predict)?.trim_matches('\n')));
        if let Some(command) = self.command(&predict)? {
            say(&format!("\nSee it yourself: {command}\n"));
        }
        Ok(true)
    }

    fn ask(&self, predict: &Predict) -> anyhow::Result<bool> {
        let mut text = format!("{}\n\n", self.style.strong(&format!("{}: {}", predict.name, predict.title)));
        for line in self.code(predict)?.lines() {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
        text.push('\n');
        text.push_str(&paragraph("", &predict.question));
        text.push('\n');
        for (letter, option) in ('a'..).zip(&predict.options) {
            text.push_str(&paragraph(&format!("  {letter}) "), &option.text));
        }
        let _ = writeln!(text, "\nAnswer: cargo course predict {} LETTER", predict.name);
        say(&text);
        Ok(true)
    }

    /// Returns the code that a question is about.
    fn code(&self, predict: &Predict) -> anyhow::Result<String> {
        match &predict.code {
            Shown::Program { file, anchors, .. } => {
                let path = self.workspace.root().join(file);
                let text =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                if anchors.is_empty() {
                    let is_shown =
                        |line: &&str| !line.starts_with("//!") && !line.trim().starts_with("// ANCHOR");
                    let lines: Vec<&str> = text.lines().filter(is_shown).collect();
                    return Ok(lines.join("\n").trim_matches('\n').to_owned());
                }
                let parts = anchors.iter().map(|anchor| {
                    part(&text, anchor).with_context(|| format!("{} has no anchor {anchor}", path.display()))
                });
                Ok(parts.collect::<anyhow::Result<Vec<_>>>()?.join("\n    …\n"))
            }
            Shown::Wrong { exercise, wrong } => {
                let exercise = catalogue::named(&self.exercises, exercise)?;
                let hunks = exercise.edit(catalogue::mistake(exercise, wrong)?, AROUND)?;
                let hunks = hunks.with_context(|| format!("{wrong} is a design of its own"))?;
                let shown = |line: &Line| match line {
                    Line::Stays(text) | Line::Comes(text) => Some(text.clone() + "\n"),
                    Line::Goes(_) => None,
                };
                let hunks = hunks.iter().map(|hunk| hunk.lines.iter().filter_map(shown).collect::<String>());
                Ok(hunks.collect::<Vec<_>>().join("    …\n"))
            }
        }
    }

    /// Returns what really happened.
    fn seen(&self, predict: &Predict) -> anyhow::Result<String> {
        let path = match &predict.code {
            Shown::Program { transcript, .. } => self.workspace.root().join(transcript),
            Shown::Wrong { .. } => self.workspace.exercises().join(format!("seen/{}.txt", predict.name)),
        };
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Returns the command that shows a reader the same result.
    fn command(&self, predict: &Predict) -> anyhow::Result<Option<String>> {
        Ok(match &predict.code {
            Shown::Program { file, .. } => {
                let run =
                    if file.starts_with("exercises/predict/") { "-p exercises-predict" } else { "--example" };
                let name = file.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
                name.map(|name| format!("cargo run {run} {name}"))
            }
            Shown::Wrong { exercise, wrong } => {
                let exercise = catalogue::named(&self.exercises, exercise)?;
                Some(format!("cargo course wrong {} {wrong} --put", exercise.short()))
            }
        })
    }
}

/// Returns the lines between the comment `ANCHOR` with the given name and the comment that ends it,
/// without their common indentation.
fn part(text: &str, anchor: &str) -> Option<String> {
    let is = |line: &str, mark: &str| {
        line.trim().strip_prefix("// ").is_some_and(|rest| rest == format!("{mark}: {anchor}"))
    };
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !is(line, "ANCHOR"))
        .skip(1)
        .take_while(|line| !is(line, "ANCHOR_END"))
        .filter(|line| !line.trim().starts_with("// ANCHOR"))
        .collect();
    let indentation = |line: &&str| line.len() - line.trim_start().len();
    let common = lines.iter().filter(|line| !line.trim().is_empty()).map(indentation).min()?;
    Some(lines.iter().flat_map(|line| [line.get(common..).unwrap_or_default(), "\n"]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    /// Checks that the recorded result contains the words of the right option, but of no other option.
    #[test]
    fn each_prediction_is_what_was_seen() {
        let learner = Learner::new(Workspace::find().unwrap()).unwrap();
        for predict in &learner.kinds.predict {
            let seen = learner.seen(predict).unwrap();
            let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
            for (letter, option) in ('a'..).zip(&predict.options) {
                let words =
                    option.seen.as_ref().map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
                let is_there = words.as_ref().is_some_and(|words| seen.contains(words));
                assert_eq!(
                    is_there,
                    letter == predict.answer,
                    "{} {letter}: {words:?}\n{seen}",
                    predict.name
                );
                assert!(option.why.ends_with('.') && option.why.len() > 40, "{} {letter}", predict.name);
            }
            assert!(!learner.code(predict).unwrap().trim().is_empty());
        }
    }

    /// Checks that no line in the text of `mend` says what is wrong.
    #[test]
    fn what_is_to_be_mended_has_no_comment_that_the_solution_lacks() {
        let learner = Learner::new(Workspace::find().unwrap()).unwrap();
        for mend in &learner.kinds.mend {
            let exercise = catalogue::named(&learner.exercises, &mend.exercise).unwrap();
            let wrong = catalogue::mistake(exercise, &mend.wrong).unwrap();
            let (code, solution) = (exercise.wrong_code(wrong).unwrap(), exercise.base(None).unwrap());
            let comments = |text: &str| -> Vec<String> {
                text.lines().filter_map(|line| Some(line.split_once("//")?.1.to_owned())).collect()
            };
            let of_solution = comments(&solution);
            let strange: Vec<_> =
                comments(&code).into_iter().filter(|comment| !of_solution.contains(comment)).collect();
            assert!(strange.is_empty() && code != solution, "{}: {strange:?}", mend.name);
        }
    }

    #[test]
    fn a_part_of_a_file_stands_at_the_margin() {
        let text = "fn f() {\n    // ANCHOR: a\n    if b {\n        // ANCHOR: c\n        d();\n        // ANCHOR_END: c\n    }\n    // ANCHOR_END: a\n}\n";
        assert_eq!(part(text, "a").as_deref(), Some("if b {\n    d();\n}\n"));
        assert_eq!((part(text, "c").as_deref(), part(text, "e")), (Some("d();\n"), None));
    }
}
