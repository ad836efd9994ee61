//! The book's table of contents, and the place of each exercise in the table.

use std::fs;
use std::path::Path;

use crate::Exercise;

/// The page that explains how to do the exercises.
const HOW: &str = "how-exercises-work.md";

/// The pages of the book, in the order of the book.
#[derive(Debug, Default)]
pub struct Contents(Vec<Page>);

/// An entry of the table of contents.
#[derive(Debug)]
pub struct Page {
    /// The page's file name.
    pub name: String,
    /// The page's title.
    pub title: String,
    /// The page's number among the chapters. Pages before and after the chapters have no number.
    pub number: Option<usize>,
}

impl Contents {
    /// Reads `SUMMARY.md`; if there is no such file, there are no pages.
    pub fn read(summary: &Path) -> Self {
        Self::of(&fs::read_to_string(summary).unwrap_or_default())
    }

    /// Reads the text of a `SUMMARY.md`.
    pub fn of(summary: &str) -> Self {
        let mut numbers = 1..;
        let page = |line: &str| {
            let entry = line.trim_start();
            let (title, rest) = entry.trim_start_matches("- ").strip_prefix('[')?.split_once("](")?;
            let name = rest.split_once(')')?.0.to_owned();
            let number = entry.starts_with('-').then(|| numbers.next()).flatten();
            Some(Page { name, title: title.to_owned(), number })
        };
        Self(summary.lines().filter_map(page).collect())
    }

    /// Returns the position of a page in the table of contents; the first page has the position 0.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|page| page.name == name)
    }

    /// Returns the page after which an exercise can be done: the first page that explains the exercise's
    /// subject. An exercise that is no warm-up also comes after the page that explains how to do exercises.
    pub fn page_of(&self, exercise: &Exercise) -> Option<&Page> {
        Some(&self.0[self.place_of(exercise)?])
    }

    /// Returns the position of the page after which an exercise can be done.
    pub fn place_of(&self, exercise: &Exercise) -> Option<usize> {
        let explained = exercise.chapters.iter().filter_map(|chapter| self.place(chapter)).min();
        if exercise.warm_up { explained } else { explained.max(explained.and(self.place(HOW))) }
    }

    /// Returns the page at this position in the table of contents.
    pub fn page(&self, place: usize) -> Option<&Page> {
        self.0.get(place)
    }

    /// Returns the number of chapters.
    pub fn chapters(&self) -> usize {
        self.0.iter().filter(|page| page.number.is_some()).count()
    }

    /// Sorts exercises by the pages after which they can be done. Exercises that belong to the same page keep
    /// their order; exercises without a page come last.
    pub fn sort(&self, exercises: &mut [Exercise]) {
        exercises.sort_by_key(|exercise| self.place_of(exercise).unwrap_or(usize::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "# Summary\n\n[Before](index.md)\n\n# Part\n\n- [One](one.md)\n- [How](how-exercises-work.md)\n\
                           \x20 - [*Two*, and more](two.md)\n\n---\n\n[After](after.md)\n";

    fn exercise(name: &str, chapters: &[&str]) -> Exercise {
        let toml = format!(
            "title = \"\"\nchapters = {chapters:?}\nneeds = []\nhints = []\nafterwards = \"\"\nproperty = []\n"
        );
        let mut exercise: Exercise = toml::from_str(&toml).unwrap();
        name.clone_into(&mut exercise.name);
        exercise
    }

    #[test]
    fn only_chapters_have_numbers() {
        let contents = Contents::of(SUMMARY);
        let pages: Vec<_> = contents.0.iter().map(|page| (page.title.as_str(), page.number)).collect();
        let expected = [
            ("Before", None),
            ("One", Some(1)),
            ("How", Some(2)),
            ("*Two*, and more", Some(3)),
            ("After", None),
        ];
        assert_eq!(pages, expected);
        assert_eq!((contents.chapters(), contents.place("two.md")), (3, Some(3)));
    }

    #[test]
    fn an_exercise_stands_at_the_first_page_that_explains_it_and_not_before_the_one_on_exercises() {
        let contents = Contents::of(SUMMARY);
        let mut exercises =
            [("a", &["gone.md"][..]), ("b", &["after.md", "two.md"]), ("c", &["one.md"]), ("d", &["one.md"])]
                .map(|(name, chapters)| exercise(name, chapters));
        let mut warm_up = exercises[2].clone();
        warm_up.warm_up = true;
        assert_eq!(contents.page_of(&warm_up).unwrap().name, "one.md");
        let pages =
            exercises.each_ref().map(|exercise| contents.page_of(exercise).map(|page| page.name.as_str()));
        assert_eq!(pages, [None, Some("two.md"), Some(HOW), Some(HOW)]);
        contents.sort(&mut exercises);
        assert_eq!(exercises.map(|exercise| exercise.name), ["c", "d", "b", "a"]);
    }
}
