//! Makes notes on the text of an answer; they do not depend on the verdict.

use exercises_protocol::{Exercise, Model, Source};
use std::fs;

/// Returns notes on the learner's file; returns none if the file cannot be read.
pub(super) fn of(exercise: &Exercise) -> Vec<String> {
    if exercise.model == Model::Memory {
        return Vec::new(); // its model tries every result that the orderings allow
    }
    let text = fs::read_to_string(exercise.answer()).unwrap_or_default();
    memory_ordering(&text).into_iter().collect()
}

/// If the file names an ordering that could be wrong, returns a note that memory orderings are not checked.
fn memory_ordering(text: &str) -> Option<String> {
    let orderings = Source::of(text).weak_orderings();
    let (first, _) = orderings.first()?;
    let advice = if *first == "Relaxed" {
        "`Relaxed` is right for a number that threads only count, and wrong for a flag that says that something else is \
         there"
    } else {
        "Only you can tell whether each `Acquire` reads what a `Release` has written"
    };
    let named: Vec<String> =
        orderings.iter().map(|(name, lines)| format!("`{name}` ({})", at(lines))).collect();
    Some(format!(
        "Memory ordering is not checked: the model runs every atomic as `SeqCst`. Your file names {}. {advice}: \
         book/src/who-sees-what.md.",
        named.join(", ")
    ))
}

fn at(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    format!("line{} {}", if lines.len() > 1 { "s" } else { "" }, numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_that_nothing_checks_are_named_with_their_lines() {
        let note = memory_ordering(
            "fn f() { A.store(1, Ordering::Relaxed) }\n\nfn g() { A.load(Ordering::Relaxed) }",
        );
        let note = note.unwrap();
        assert!(note.contains("names `Relaxed` (lines 1, 3). `Relaxed` is right for"), "{note}");
        let note = memory_ordering("use crate::sync::atomic::Ordering::{Acquire, Release};").unwrap();
        assert!(note.contains("`Acquire` (line 1), `Release` (line 1). Only you can tell"), "{note}");
        assert_eq!(memory_ordering("A.load(Ordering::SeqCst) // not Ordering::Relaxed"), None);
    }

    #[test]
    fn the_page_that_a_note_names_is_about_orderings() {
        let page = include_str!("../../../book/src/who-sees-what.md");
        assert!(page.contains("`Relaxed`"));
    }
}
