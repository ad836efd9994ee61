//! The commands that show something (`next`, `list`, `solution` and `wrong`), and the command
//! `reset`.

use crate::exercises::fingerprints::Fingerprints;
use crate::exercises::stage::Stage;
use crate::exercises::{Document, Learner, catalogue, say, say_json};
use crate::ways::Way;
use anyhow::Context;
use exercises_protocol::{Exercise, Minutes, Task, counted, paragraph};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The name that a learner gives to `--way` in order to follow no way any more.
const WHOLE_COURSE: &str = "all";

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    /// The shortest and the longest time, in minutes.
    minutes: Option<[usize; 2]>,
    needs: &'a [String],
    chapters: &'a [String],
    /// The number of the chapter after which the learner can do the exercise.
    after: Option<usize>,
    state: &'static str,
    hints_given: usize,
    sha256: Fingerprints,
}

/// An exercise that is not a package.
#[derive(Serialize)]
pub(super) struct ListedTask<'a> {
    #[serde(flatten)]
    task: Task<'a>,
    state: &'static str,
}

impl Learner {
    /// Returns the exercises that are not packages, each with the position of its page, in the order of
    /// the book.
    fn tasks(&self) -> Vec<(usize, Task<'_>)> {
        let place = |task: Task<'_>| self.contents.place(task.chapter).unwrap_or(usize::MAX);
        let mut tasks: Vec<_> = self.kinds.tasks().map(|task| (place(task), task)).collect();
        tasks.sort_by_key(|(place, _)| *place);
        tasks
    }

    /// `next`: prints the first exercise that the learner has not solved. If the learner has asked for a way,
    /// the command prints the first unsolved exercise of this way, until everything on the way is done.
    ///
    /// # Errors
    /// Returns an error if the way names an exercise that does not exist.
    pub fn next(&self) -> anyhow::Result<bool> {
        match self.progress.way().and_then(|name| self.ways.named(name).ok()) {
            Some(way) if !way.exercises().all(|(_, name)| self.has_done(name)) => self.next_on(way),
            _ => Ok(self.next_of_all()),
        }
    }

    fn next_of_all(&self) -> bool {
        let exercise = self.next_unsolved();
        let place = |exercise| self.contents.place_of(exercise).unwrap_or(usize::MAX);
        if let Some((at, task)) = self.tasks().into_iter().find(|(_, task)| !self.is_done(task))
            && exercise.is_none_or(|exercise| at <= place(exercise))
        {
            self.introduce_task(&task);
            return true;
        }
        let Some(exercise) = exercise else {
            say(&format!(
                "All {} exercises are solved. `cargo course list` shows them.\n",
                self.exercises.len()
            ));
            return true;
        };
        self.introduce(exercise);
        true
    }

    /// `next --way`: prints the first exercise of a way that the learner has not done yet, and the pages
    /// before this exercise. From then on, `next` follows this way.
    ///
    /// # Errors
    /// Returns an error if there is no such way, or if it names an exercise that does not exist.
    pub fn next_of(&mut self, name: &str) -> anyhow::Result<bool> {
        let is_way = name != WHOLE_COURSE;
        if is_way {
            self.ways.named(name)?; // a wrong name is not recorded
        }
        self.progress.chose(name).unwrap_or_else(|error| eprintln!("warning: {error:#}"));
        if is_way { self.next_on(self.ways.named(name)?) } else { Ok(self.next_of_all()) }
    }

    fn next_on(&self, way: &Way) -> anyhow::Result<bool> {
        let names = || way.exercises();
        let (all, done) = (names().count(), names().filter(|(_, name)| self.has_done(name)).count());
        let text = format!("{}: {done} of {} done", way.title, counted(all, "exercise"));
        let Some((part, name)) = names().find(|(_, name)| !self.has_done(name)) else {
            say(&format!("{text}. That is the whole way. `cargo course next` shows what it left out.\n"));
            return Ok(true);
        };
        say(&format!("{text}\n\n"));
        let pages = part.pages().filter_map(|page| self.contents.page(self.contents.place(&page)?));
        let titles: Vec<String> = pages.map(|page| page.title.replace('*', "")).collect();
        say(&paragraph(&part.title, &format!("the pages {}", titles.join("; "))));
        say("\n");
        match self.kinds.tasks().find(|task| task.name == name) {
            Some(task) => self.introduce_task(&task),
            None => self.introduce(catalogue::named(&self.exercises, name)?),
        }
        Ok(true)
    }

    /// Returns whether the learner has done an exercise or a task. A name that does not exist counts as
    /// not done.
    fn has_done(&self, name: &str) -> bool {
        let exercise = self.exercises.iter().find(|exercise| exercise.short() == name);
        exercise
            .map_or_else(|| self.progress.knows("solved", name), |exercise| self.progress.is_solved(exercise))
    }

    /// Returns how many exercises are done, as a part of a sentence.
    pub(super) fn done(&self) -> String {
        let done = self.exercises.iter().filter(|exercise| self.progress.is_solved(exercise)).count();
        format!("{done} of {} done", counted(self.exercises.len(), "exercise"))
    }

    /// Returns, as a part of a sentence, the page of the book after which an exercise can be done.
    fn after(&self, exercise: &Exercise) -> Option<String> {
        self.after_page(self.contents.place_of(exercise)?)
    }

    /// Returns the page at this position in the book, as a part of a sentence.
    pub(super) fn after_page(&self, place: usize) -> Option<String> {
        let page = self.contents.page(place)?;
        let title = page.title.replace('*', "");
        let (chapters, core) = (self.contents.chapters(), self.ways.core());
        let of_core = match core.iter().position(|name| *name == page.name) {
            Some(before) => format!(" (core page {} of {})", before + 1, core.len()),
            None if core.is_empty() => String::new(),
            None => " (further reading)".to_owned(),
        };
        Some(match page.number {
            Some(number) => format!("after page {number} of {chapters}{of_core}: {title}"),
            None => format!("after {title}"),
        })
    }

    /// Returns the position of an exercise among all exercises, and its place in the book.
    fn place(&self, exercise: &Exercise) -> String {
        let number = self.exercises.iter().position(|other| other.name == exercise.name).map_or(0, |n| n + 1);
        let place = format!("exercise {number} of {}", self.exercises.len());
        let place = self.after(exercise).map_or(place.clone(), |after| format!("{place}, {after}"));
        format!("{place}; {}", self.done())
    }

    /// Prints what a learner must know to begin an exercise.
    pub(super) fn introduce(&self, exercise: &Exercise) {
        let short = exercise.short();
        let stage = self.stage(exercise);
        let of = stage.map_or(String::new(), |stage| format!(", stage {} of 2", stage.number));
        let mut text =
            format!("{}\n\n", self.style.strong(&format!("{}{of}: {}", exercise.name, exercise.title)));
        if let Some(Stage { number, holding, of }) = stage {
            let asks = exercise.second_stage.as_ref().filter(|_| number == 2);
            let body = asks.cloned().unwrap_or_else(|| format!("{holding} of {of} properties"));
            text.push_str(&paragraph(&format!("stage {number} "), &body));
        }
        let chapters: Vec<String> =
            exercise.chapters.iter().map(|chapter| format!("book/src/{chapter}")).collect();
        let folder = self.workspace.relative(exercise.folder());
        for (title, body) in [
            ("where", self.place(exercise)),
            ("time", minutes(exercise)),
            ("you need", exercise.needs.join("; ")),
            ("chapters", format!("{} (`cargo course` serves the book)", chapters.join(", "))),
            ("read", format!("{folder}/README.md, which says what to build and what has to hold")),
            ("edit", format!("{folder}/src/exercise.rs, and nothing else")),
        ] {
            text.push_str(&paragraph(&format!("{title:8}"), &body));
        }
        let _ = writeln!(
            text,
            "\nCheck your answer: cargo course check {short}    Check whenever you save: cargo course watch {short}\n\
             If you are stuck:  cargo course hint {short}"
        );
        say(&text);
    }

    /// Returns the learner's stage: the first stage, as the last check has found it, or the second stage
    /// after the first is done.
    fn stage(&self, exercise: &Exercise) -> Option<Stage> {
        let first = self.progress.first_stage(exercise)?;
        if first.is_done() && exercise.is_begun() { Stage::begin(exercise, 2) } else { Some(first) }
    }

    fn state(&self, exercise: &Exercise) -> &'static str {
        match (self.progress.is_solved(exercise), exercise.is_begun()) {
            (true, _) => "solved",
            (false, true) if self.progress.first_stage(exercise).is_some_and(Stage::is_done) => "stage 1",
            (false, true) => "begun",
            (false, false) => "new",
        }
    }

    /// `list`: prints all exercises and the learner's progress in each.
    pub fn list(&self, json: bool) -> anyhow::Result<bool> {
        if json {
            let listed = self.exercises.iter().map(|exercise| {
                Ok(Listed {
                    name: &exercise.name,
                    title: &exercise.title,
                    minutes: exercise.minutes().ok().map(|Minutes { least, most }| [least, most]),
                    needs: &exercise.needs,
                    chapters: &exercise.chapters,
                    after: self.contents.page_of(exercise).and_then(|page| page.number),
                    state: self.state(exercise),
                    hints_given: self.progress.hints(exercise),
                    sha256: Fingerprints::of(&self.workspace, exercise)?,
                })
            });
            let tasks = self.tasks().into_iter().map(|(_, task)| {
                let state = if self.is_done(&task) { "solved" } else { "new" };
                ListedTask { task, state }
            });
            let listed = listed.collect::<anyhow::Result<_>>()?;
            return say_json(&Document { tasks: tasks.collect(), ..Document::of(listed) }).map(|()| true);
        }
        let mut text = String::new();
        let tasks = self.tasks();
        let mut tasks = tasks.iter().peekable();
        let all = self.exercises.iter().map(|exercise| (self.contents.place_of(exercise), Some(exercise)));
        for (place, exercise) in all.chain([(None, None)]) {
            while let Some((_, task)) = tasks.next_if(|(at, _)| place.is_none_or(|place| *at <= place)) {
                let state = if self.is_done(task) { self.style.good("solved") } else { "      ".into() };
                let time = format!("about {} minutes", task.minutes);
                let _ = writeln!(text, "{state}  {:26}  {time:18}  {}", task.name, task.title);
            }
            let Some(exercise) = exercise else { break };
            let state = match self.state(exercise) {
                "solved" => self.style.good("solved"),
                "begun" => self.style.strong("begun "),
                "stage 1" => self.style.strong("stage1"),
                _ => "      ".into(),
            };
            let _ =
                writeln!(text, "{state}  {:26}  {:18}  {}", exercise.name, minutes(exercise), exercise.title);
            if !self.progress.is_solved(exercise) {
                let begun = self.progress.first_stage(exercise).filter(|_| exercise.is_begun());
                let begun = begun.map(|stage| stage.to_string());
                let needs = format!("needs {}", exercise.needs.join("; "));
                let facts: Vec<String> =
                    begun.into_iter().chain(self.after(exercise)).chain([needs]).collect();
                text.push_str(&paragraph(&" ".repeat(6), &facts.join("\n")));
            }
        }
        let solved = self.exercises.iter().filter(|exercise| self.progress.is_solved(exercise)).count();
        let _ = writeln!(
            text,
            "\n{solved} of {} solved. Any of them at any time; this is the order of the book.",
            self.exercises.len()
        );
        if let Some(after) = self.next_unsolved().and_then(|exercise| self.after(exercise)) {
            let _ = writeln!(text, "The next one comes {after}.");
        }
        let done = self.kinds.tasks().filter(|task| self.is_done(task)).count();
        let _ = writeln!(
            text,
            "Of the short ones {done} of {} are done; each is a command, such as `cargo course predict predict1`.",
            self.kinds.tasks().count()
        );
        say(&text);
        Ok(true)
    }

    /// `solution`: prints the code and the reasons why it is right, if the exercise is solved or the
    /// learner has asked twice.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise, or if its files cannot be read.
    pub fn solution(&mut self, name: &str) -> anyhow::Result<bool> {
        let exercise = catalogue::named(&self.exercises, name)?;
        if !exercise.solution().is_file() {
            say(
                "This copy of the course has no solutions: it was made for students. Your teacher has them.\n",
            );
            return Ok(false);
        }
        if !self.progress.is_solved(exercise) && !self.progress.has_asked(exercise) {
            let (short, given) = (exercise.short(), self.progress.hints(exercise));
            say(&format!(
                "You have not solved {} yet, and have seen {given} of {} hints (cargo course hint {short}).\n\
                 If you want the solution all the same, ask again: cargo course solution {short}\n",
                exercise.name,
                exercise.hints.len()
            ));
            self.progress.asked(exercise)?; // otherwise asking again would not help
            return Ok(false);
        }
        let read =
            |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
        let (code, why) = (read(&exercise.solution())?, read(&exercise.explanation())?);
        say(&format!(
            "{code}\n// This is {}. It is one solution, not the only one.\n\n{why}",
            self.workspace.relative(&exercise.solution())
        ));
        Ok(true)
    }

    /// `wrong`: after the exercise is solved, prints which property catches which mistake.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise, or if its files cannot be read.
    pub fn wrong(&self, name: &str) -> anyhow::Result<bool> {
        let exercise = catalogue::named(&self.exercises, name)?;
        let short = exercise.short();
        if exercise.wrong.is_empty() {
            say(&format!("{}.\n", catalogue::NO_MISTAKES));
            return Ok(false);
        }
        if !self.progress.is_solved(exercise) {
            say(&format!(
                "The typical mistakes give the answer away, so they are shown once you have solved {}.\n\
                 If you are stuck: cargo course hint {short}\n",
                exercise.name
            ));
            return Ok(false);
        }
        let mut text = String::new();
        for property in &exercise.properties {
            let caught: Vec<_> =
                exercise.wrong.iter().filter(|wrong| wrong.property == property.name).collect();
            if caught.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{}\n  {}", self.style.strong(&property.name), property.promise);
            for wrong in caught {
                let _ = writeln!(text, "    {}", self.style.bad(&wrong.name));
                text.push_str(&paragraph("     ", &wrong.what_is_wrong()));
                text.push_str(&paragraph("     ", &format!("What you would see: {}", wrong.what_is_seen())));
            }
            text.push('\n');
        }
        let first = exercise.wrong.first().map_or("", |wrong| &wrong.name);
        let _ = writeln!(
            text,
            "One of them, line by line beside the solution: cargo course wrong {short} {first}\n\
             All of them so: {}",
            self.workspace.relative(&exercise.folder().join("wrong.diff"))
        );
        say(&text);
        Ok(true)
    }

    /// `reset`: writes the stub into the learner's file, after making a backup of the learner's answer.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise, or if a file cannot be written; in both cases no
    /// text of the learner is lost.
    pub fn reset(&mut self, name: Option<&str>) -> anyhow::Result<bool> {
        let exercise = self.chosen(name)?.clone();
        let stub = fs::read(exercise.stub()).with_context(|| {
            format!("cannot read {}; `git checkout` brings it back", exercise.stub().display())
        })?;
        let answer = exercise.answer();
        if answer.exists() && !exercise.is_begun() {
            say(&format!(
                "{} is as it was in the beginning; there is nothing to reset.\n",
                self.workspace.relative(&answer)
            ));
            return Ok(true);
        }
        if answer.exists() {
            let backup = back_up(&exercise)?;
            say(&format!("Your answer is kept in {}\n", self.workspace.relative(&backup)));
        }
        fs::write(&answer, stub).with_context(|| format!("cannot write {}", answer.display()))?;
        say(&format!("{} is as it was in the beginning.\n", self.workspace.relative(&answer)));
        self.progress.reset(&exercise)?;
        Ok(true)
    }
}

/// Returns the time that an exercise takes, if its README gives it.
fn minutes(exercise: &Exercise) -> String {
    exercise.minutes().map(|minutes| minutes.to_string()).unwrap_or_default()
}

/// Copies the answer to a new file beside it, and returns the new file's path. Cargo ignores the new
/// file.
pub(super) fn back_up(exercise: &Exercise) -> anyhow::Result<PathBuf> {
    let answer = exercise.answer();
    let text = fs::read(&answer).with_context(|| format!("cannot read {}", answer.display()))?;
    let mut number = 1;
    loop {
        let backup = answer.with_file_name(format!("exercise.{number}.bak"));
        match File::create_new(&backup) {
            Ok(mut file) => {
                let written = file.write_all(&text).and_then(|()| file.sync_all());
                return written
                    .map(|()| backup.clone())
                    .with_context(|| format!("cannot write {}", backup.display()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(error).with_context(|| {
                    format!("cannot keep your answer in {}, so nothing was changed", backup.display())
                });
            }
        }
    }
}
