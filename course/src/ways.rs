//! The ways through the course from `book/ways.toml`, for readers who do not want to read the whole book.

use crate::cli::WrongUsage;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow};
use exercises_protocol::{Contents, Exercise, Kinds};
use serde::Deserialize;
use std::fs;

/// The name of the way whose pages are the core of the book. The other chapters are further reading.
const CORE: &str = "core";

/// All ways through the course.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ways {
    #[serde(rename = "way", default)]
    ways: Vec<Way>,
}

/// One way through the course, part by part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// The name that a learner types, such as `week`.
    pub name: String,
    pub title: String,
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// A part of the way, for example a day or a week: its pages, and then its exercises.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub title: String,
    /// The file names of the pages, without `.md`.
    pages: Vec<String>,
    /// The names of the exercises, such as `ex01`, and of the tasks, such as `schedule1`.
    pub exercises: Vec<String>,
}

impl Part {
    /// Returns the files of the pages.
    pub fn pages(&self) -> impl Iterator<Item = String> {
        self.pages.iter().map(|page| format!("{page}.md"))
    }
}

impl Way {
    /// Returns the exercises of the way, in the order of the way, each with its part.
    pub fn exercises(&self) -> impl Iterator<Item = (&Part, &String)> {
        self.parts.iter().flat_map(|part| part.exercises.iter().map(move |name| (part, name)))
    }
}

impl Ways {
    /// Reads the ways of the project. If the project has no `ways.toml`, there are no ways.
    ///
    /// # Errors
    /// Returns an error if the file is malformed.
    pub fn read(workspace: &Workspace) -> anyhow::Result<Self> {
        let path = workspace.book().join("ways.toml");
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not as it should be", path.display()))
    }

    /// Returns all ways, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Way> {
        self.ways.iter()
    }

    /// Returns the files of the core pages, in reading order. If the project has no ways, there are no core
    /// pages.
    pub fn core(&self) -> Vec<String> {
        let core = self.iter().find(|way| way.name == CORE);
        core.iter().flat_map(|way| &way.parts).flat_map(Part::pages).collect()
    }

    /// Returns the files of the pages of the way with this name.
    ///
    /// # Errors
    /// Returns an error if there is no such way.
    pub fn pages_of(&self, name: &str) -> anyhow::Result<Vec<String>> {
        Ok(self.named(name)?.parts.iter().flat_map(Part::pages).collect())
    }

    /// Returns the way with this name.
    ///
    /// # Errors
    /// Returns an error if there is no such way.
    pub fn named(&self, name: &str) -> anyhow::Result<&Way> {
        let names: Vec<&str> = self.iter().map(|way| way.name.as_str()).collect();
        self.iter().find(|way| way.name == name).ok_or_else(|| {
            WrongUsage::of(anyhow!("there is no way `{name}`. There are: {}", names.join(", "))).into()
        })
    }

    /// Returns the faults of the ways: a page that the book does not have, an exercise that does not exist,
    /// or an exercise that comes before all pages that explain this exercise.
    pub fn faults(&self, contents: &Contents, exercises: &[Exercise], kinds: &Kinds) -> Vec<String> {
        let mut faults = Vec::new();
        for way in self.iter() {
            let mut read: Vec<String> = Vec::new();
            for part in &way.parts {
                let mut fault = |what: String| {
                    faults.push(format!("ways.toml: way {:?}, part {:?}: {what}", way.name, part.title));
                };
                for page in part.pages() {
                    if contents.place(&page).is_none() {
                        fault(format!(
                            "SUMMARY.md has no page {page}. If another page has its text now, name that one"
                        ));
                    }
                    read.push(page);
                }
                if part.exercises.is_empty() {
                    fault("it has no exercise, so `cargo course next` would never name its pages".into());
                }
                for name in &part.exercises {
                    match chapters(name, exercises, kinds) {
                        None => fault(format!("there is no exercise {name}")),
                        Some(chapters) if !chapters.iter().any(|chapter| read.contains(chapter)) => {
                            fault(format!(
                                "{name} needs {}, which this way has not read",
                                chapters.join(" or ")
                            ));
                        }
                        Some(_) => {}
                    }
                }
            }
        }
        faults
    }
}

/// Returns the pages that explain an exercise or a task; returns `None` if neither an exercise nor a task
/// has this name.
fn chapters(name: &str, exercises: &[Exercise], kinds: &Kinds) -> Option<Vec<String>> {
    let of_exercise = exercises.iter().find(|exercise| exercise.short() == name);
    let of_task = || kinds.tasks().find(|task| task.name == name).map(|task| vec![task.chapter.to_owned()]);
    of_exercise.map(|exercise| exercise.chapters.clone()).or_else(of_task)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercises::catalogue;

    /// Makes a one-part way, replaces one page and one exercise in it, and returns the faults of the result.
    fn faults(pages: &str, exercises: &str) -> Vec<String> {
        let workspace = Workspace::find().unwrap();
        let text = format!(
            "[[way]]\nname = \"day\"\ntitle = \"A day\"\n[[way.part]]\ntitle = \"Noon\"\npages = {pages}\nexercises = {exercises}\n"
        );
        let ways: Ways = toml::from_str(&text).unwrap();
        let kinds = Kinds::read(&workspace.exercises()).unwrap();
        ways.faults(&catalogue::contents(&workspace), &catalogue::all(&workspace).unwrap(), &kinds)
    }

    #[test]
    fn a_way_has_pages_and_exercises_that_are_there_in_an_order_that_can_be_followed() {
        let pages = r#"["locks-and-waiting", "how-exercises-work"]"#;
        assert_eq!(faults(pages, r#"["schedule1", "ex01"]"#), Vec::<String>::new());
        for (pages, exercises, fault) in [
            (r#"["how-exercises-work", "gone"]"#, r#"["ex01"]"#, "SUMMARY.md has no page gone.md."),
            (pages, r#"["ex99"]"#, "there is no exercise ex99"),
            (pages, r#"["ex03"]"#, "ex03 needs no-room.md, which this way has not read"),
            (r#"["how-exercises-work"]"#, r#"["schedule1"]"#, "schedule1 needs locks-and-waiting.md"),
            (pages, "[]", "it has no exercise"),
        ] {
            let faults = faults(pages, exercises);
            let [only] = &faults[..] else { panic!("{exercises}: {faults:?}") };
            assert!(
                only.starts_with("ways.toml: way \"day\", part \"Noon\": ") && only.contains(fault),
                "{only}"
            );
        }
    }
}
