//! `explain`: draws the failing schedule as a picture.

use crate::exercises::cargo::Messages;
use crate::exercises::check::{Checked, Verdict};
use crate::exercises::{Learner, catalogue, report, say, style};
use anyhow::Context;
use exercises_protocol::{Exercise, Failure, svg};
use std::fs;
use std::path::PathBuf;

impl Learner {
    /// `explain`: writes the picture of the first failure, or of the given property's failure, and prints the
    /// path of the picture.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise or property, or if the picture cannot be
    /// written.
    pub fn explain(&mut self, name: Option<&str>, property: Option<&str>) -> anyhow::Result<bool> {
        let exercise = self.chosen(name)?.clone();
        property.map(|property| catalogue::property(&exercise, property)).transpose()?;
        eprintln!("checking {}", exercise.name);
        let found = super::check::check(&self.workspace, &exercise, Messages::Shown);
        if matches!(found.verdict, Verdict::DoesNotCompile | Verdict::CouldNotCheck) {
            say(&report::text(&self.workspace, &exercise, &found, false, self.style));
            return Ok(false);
        }
        let failures: Vec<_> = found
            .failures(&exercise)
            .into_iter()
            .filter(|(checked, ..)| property.is_none_or(|property| checked.name == property))
            .collect();
        let drawn = failures.iter().find(|(_, _, failure)| failure.can_be_drawn());
        let Some((checked, mode, failure)) = drawn.or(failures.first()).copied() else {
            let what =
                property.map_or_else(|| "Every property".to_owned(), |property| format!("`{property}`"));
            say(&format!("{what} holds; there is nothing to explain.\n"));
            return Ok(true);
        };
        say(&failure.message(&checked.name, mode, style::terminal()));
        if !failure.can_be_drawn() {
            say("\nThere is no picture of this one: nothing happened that could be drawn.\n");
            return Ok(true);
        }
        let path = self.draw(&exercise, checked, failure)?;
        say(&format!("\nAs a picture, for a browser:\n  {}\n", path.display()));
        Ok(true)
    }

    fn draw(&self, exercise: &Exercise, checked: &Checked, failure: &Failure) -> anyhow::Result<PathBuf> {
        let folder = self.workspace.target().join("exercises").join(&exercise.name);
        let path = folder.join(format!("{}.svg", checked.name));
        let title = format!("{}: {}", exercise.name, checked.name);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, svg(failure, &title)))
            .with_context(|| format!("cannot write the picture to {}", path.display()))?;
        Ok(path)
    }
}
