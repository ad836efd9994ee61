//! `hint`: shows hints, one at a time.
//!
//! After a failed check, the first hint is for the property whose failure was shown. Each exercise has three
//! more hints: a question, a pointer, and nearly the answer.

use crate::cli::WrongUsage;
use crate::exercises::{Learner, catalogue, say};
use anyhow::anyhow;
use exercises_protocol::{Exercise, Property, paragraph};

impl Learner {
    /// `hint`: prints the hint with this number or for this property; without an argument, prints the
    /// next hint that has not been given.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise or no such hint.
    pub fn hint(&mut self, name: Option<&str>, which: Option<&str>) -> anyhow::Result<bool> {
        let exercise = self.chosen(name)?.clone();
        if name.is_none() {
            say(&format!("{}\n", exercise.name));
        }
        if let Some(which) = which {
            match which.parse() {
                Ok(number) => self.hint_of_exercise(&exercise, number)?,
                Err(_) => self.hint_of_property(&exercise, catalogue::property(&exercise, which)?),
            }
        } else if let Some(property) = self.failed_without_hint(&exercise) {
            self.hint_of_property(&exercise, property);
        } else {
            let next = self.progress.hints(&exercise) + 1;
            self.hint_of_exercise(&exercise, next.min(exercise.hints.len()))?;
        }
        Ok(true)
    }

    /// Returns the property whose failure was last shown, if the hint for this property has not been given
    /// yet.
    fn failed_without_hint<'a>(&self, exercise: &'a Exercise) -> Option<&'a Property> {
        let failed = self.progress.failed(exercise)?;
        let property = exercise.property(failed).ok()?; // perhaps the property had another name then
        let is_new = !property.hint.is_empty() && !self.progress.has_hinted(exercise, failed);
        is_new.then_some(property)
    }

    fn hint_of_property(&mut self, exercise: &Exercise, property: &Property) {
        say(&format!("{}\n", self.style.strong(&property.name)));
        say(&paragraph("hint", &property.hint));
        let (short, seen) = (exercise.short(), self.progress.hints(exercise));
        let first = if seen == 0 { "; the first is a question" } else { "" };
        say(&format!("\nThere are hints on the whole exercise, too{first}: cargo course hint {short}\n"));
        self.remember_hint(exercise, &property.name);
    }

    fn hint_of_exercise(&mut self, exercise: &Exercise, number: usize) -> anyhow::Result<()> {
        let all = exercise.hints.len();
        let Some(hint) = number.checked_sub(1).and_then(|n| exercise.hints.get(n)) else {
            let error = anyhow!("{} has hints 1 to {all}, and one for each property", exercise.name);
            return Err(WrongUsage::of(error).into());
        };
        say(&paragraph(&format!("hint {number} of {all}"), hint));
        let short = exercise.short();
        if number < all {
            say(&format!(
                "\nThink about it first. The next one says more: cargo course hint {short} {}\n",
                number + 1
            ));
        } else if !exercise.solution().is_file() {
            say("\nThat was the last one. What remains is to ask your teacher.\n");
        } else {
            say(&format!(
                "\nThat was the last one. What remains is the solution: cargo course solution {short}\n"
            ));
        }
        if number > self.progress.hints(exercise) {
            self.remember_hint(exercise, &number.to_string());
        }
        Ok(())
    }

    /// Records that a hint was given. If the progress file cannot be written, the command only prints a
    /// warning, because the learner has already seen the hint.
    fn remember_hint(&mut self, exercise: &Exercise, which: &str) {
        self.progress.gave_hint(exercise, which).unwrap_or_else(|error| eprintln!("warning: {error:#}"));
    }
}
