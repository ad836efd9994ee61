//! The exercises of this project, and the names that a learner can use for an exercise.

use crate::cli::WrongUsage;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow};
use exercises_protocol::{Contents, Exercise, Property, Wrong};

/// The message about a file that is missing in a copy for students.
pub(super) const NO_MISTAKES: &str =
    "This copy of the course has no typical mistakes: it was made for students. Your teacher has them";

/// Returns all exercises, in the order of the book.
///
/// # Errors
/// Returns an error if there are no exercises, or if an exercise cannot be read.
pub fn all(workspace: &Workspace) -> anyhow::Result<Vec<Exercise>> {
    let mut exercises = exercises_protocol::all(&workspace.exercises())?;
    contents(workspace).sort(&mut exercises);
    Ok(exercises)
}

/// Returns the table of contents of the book.
pub fn contents(workspace: &Workspace) -> Contents {
    Contents::read(&workspace.book().join("src/SUMMARY.md"))
}

/// Finds the exercise that a learner means by a name such as `ex01`, `1`, `ex01-worker-pool` or
/// `worker-pool`.
///
/// # Errors
/// Returns an error if there is no such exercise, or more than one.
pub fn named<'a>(exercises: &'a [Exercise], wanted: &str) -> anyhow::Result<&'a Exercise> {
    let number = wanted.strip_prefix("ex").unwrap_or(wanted).parse::<u32>().ok();
    let is_meant = |exercise: &&Exercise| {
        let (short, rest) = exercise.name.split_once('-').unwrap_or((&exercise.name, ""));
        let same_number =
            number.is_some() && number == short.strip_prefix("ex").and_then(|n| n.parse::<u32>().ok());
        same_number || exercise.name == wanted || rest == wanted
    };
    let found = exercises.iter().find(is_meant).with_context(|| {
        let names: Vec<String> =
            exercises.iter().map(|exercise| format!("  {}  ({})", exercise.short(), exercise.name)).collect();
        format!("there is no exercise called `{wanted}`. There are:\n{}", names.join("\n"))
    });
    found.map_err(|error| WrongUsage::of(error).into())
}

/// Finds the property with the name that a learner has given.
///
/// # Errors
/// Returns an error if there is no such property.
pub fn property<'a>(exercise: &'a Exercise, wanted: &str) -> anyhow::Result<&'a Property> {
    exercise.property(wanted).map_err(|error| WrongUsage::of(error).into())
}

/// Finds the typical mistake with the name that a learner has given: `m03`, or the full name.
///
/// # Errors
/// Returns an error if there is no such mistake.
pub fn mistake<'a>(exercise: &'a Exercise, wanted: &str) -> anyhow::Result<&'a Wrong> {
    if exercise.wrong.is_empty() {
        return Err(WrongUsage::of(anyhow!(NO_MISTAKES)).into());
    }
    exercise.wrong(wanted).map_err(|error| WrongUsage::of(error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_book_and_not_of_the_numbers() {
        let exercises = all(&Workspace::find().unwrap()).unwrap();
        let place = |short: &str| exercises.iter().position(|exercise| exercise.short() == short).unwrap();
        assert_eq!((exercises[0].short(), exercises[1].short()), ("ex00", "ex01"));
        assert!(place("ex11") < place("ex03") && place("ex10") < place("ex07"));
    }

    #[test]
    fn an_exercise_is_found_by_number_short_name_name_and_what_it_is_about() {
        let exercises = all(&Workspace::find().unwrap()).unwrap();
        for wanted in ["ex01", "1", "01", "ex1", "ex01-worker-pool", "worker-pool"] {
            assert_eq!(named(&exercises, wanted).unwrap().name, "ex01-worker-pool", "{wanted}");
        }
        let error = named(&exercises, "ex99").unwrap_err().to_string();
        assert!(error.contains("`ex99`") && error.contains("ex02-one-shot-future"), "{error}");
    }

    #[test]
    fn every_typical_mistake_says_what_is_wrong() {
        for exercise in all(&Workspace::find().unwrap()).unwrap() {
            assert!(!exercise.wrong.is_empty());
            for mistake in &exercise.wrong {
                let text = mistake.what_is_wrong();
                assert!(text.len() > 10 && !text.contains("Wrong:"), "{}: {text}", mistake.name);
            }
        }
    }
}
