//! Checks that no file of an exercise is missing, and that the files of an exercise agree with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context;
use exercises_protocol::wrong::{Code, without_head};
use exercises_protocol::{Contents, Exercise, Wrong, with_minutes};

use crate::folder;

/// Returns all exercises, or only those whose names begin with `wanted`.
pub fn exercises(wanted: Option<&str>) -> anyhow::Result<Vec<Exercise>> {
    let mut exercises = exercises_protocol::all(&folder())?;
    exercises.retain(|exercise| wanted.is_none_or(|wanted| exercise.name.starts_with(wanted)));
    anyhow::ensure!(!exercises.is_empty(), "no exercise is called {}", wanted.unwrap_or_default());
    Ok(exercises)
}

/// Returns the exercises whose answers are compiled into this program: all exercises, unless `EXERCISE_ONLY`
/// was set when the program was built.
pub fn built() -> anyhow::Result<Vec<Exercise>> {
    let answers = [exercises_proof_solutions::ANSWERS, exercises_proof_memory::ANSWERS].concat();
    let mut exercises = exercises(None)?;
    exercises.retain(|exercise| answers.iter().any(|answer| answer.exercise == exercise.name));
    Ok(exercises)
}

/// Returns a message for each exercise whose `src/exercise.rs` is not the stub.
pub fn pristine(exercises: &[Exercise]) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for exercise in exercises {
        if read(&exercise.answer())? != read(&exercise.stub())? {
            mistakes.push(format!("{}: src/exercise.rs is not stub/exercise.rs", exercise.name));
        }
    }
    Ok(mistakes)
}

/// Returns the mistakes in an exercise's files: a part that is missing, or parts that do not agree.
pub(crate) fn incomplete(exercise: &Exercise) -> anyhow::Result<Vec<String>> {
    let mut mistakes = incomplete_description(exercise);
    mistakes.extend(judges_another(exercise)?);
    mistakes.extend(pages_that_differ(exercise)?);
    mistakes.extend(dead_links(exercise)?);
    mistakes.extend(solution_not_explained(exercise));
    mistakes.extend(wrong_answers_not_described(exercise)?);
    mistakes.extend(right_answers_not_described(exercise)?);
    for mistake in &mut mistakes {
        *mistake = format!("{}: {mistake}", exercise.name);
    }
    Ok(mistakes)
}

/// Checks an exercise whose answer is a test: it must name the exercise that it judges, and its suite must
/// have the answers to that exercise.
fn judges_another(exercise: &Exercise) -> anyhow::Result<Option<String>> {
    let Some(judged) = &exercise.judges else { return Ok(None) };
    let short = judged.split('-').next().unwrap_or(judged);
    let is_in_the_suite = read(&exercise.suite())?.contains(&format!("answers!({short} "));
    let is_there = folder().join(judged).join("exercise.toml").is_file();
    Ok((!is_there || !is_in_the_suite).then(|| {
        format!("exercise.toml says that it judges {judged}; its suite has no `answers!({short} …)`")
    }))
}

fn incomplete_description(exercise: &Exercise) -> Vec<String> {
    let Exercise { title, afterwards, needs, hints, .. } = exercise;
    let mut texts = [title, afterwards].into_iter().chain(needs).chain(hints);
    let mut mistakes = Vec::new();
    let mut require = |holds: bool, what: &str| {
        if !holds {
            mistakes.push(format!("exercise.toml: {what}"));
        }
    };
    require(texts.all(|text| !text.trim().is_empty()), "an empty text");
    require(hints.len() == 3, "three hints: a question, a pointer, nearly the answer");
    require(hints.first().is_some_and(|hint| hint.contains('?')), "the first hint is a question");
    require(afterwards.contains('?'), "the question for afterwards is a question");
    require(!exercise.chapters.is_empty(), "a chapter");
    let promises: BTreeSet<&str> =
        exercise.properties.iter().map(|property| property.promise.as_str()).collect();
    require(promises.len() == exercise.properties.len(), "two properties that promise the same");
    require(exercise.wrong.len() >= 6, "at least six wrong answers");
    let count = |stage| exercise.properties.iter().filter(|property| property.stage == stage).count();
    let stages = [count(1), count(2)];
    let is_cut = exercise.second_stage.as_ref().map(|asks| asks.ends_with('.'));
    if stages.iter().sum::<usize>() != exercise.properties.len()
        || is_cut.unwrap_or(stages[1] == 0) != (stages[0] > 0)
    {
        mistakes.push(
            "exercise.toml: `second_stage` and the properties of stages 1 and 2 belong together".to_owned(),
        );
    }
    for property in &exercise.properties {
        if property.hint.trim().is_empty() {
            mistakes.push(format!("exercise.toml: {} has no hint", property.name));
        }
    }
    mistakes
}

/// Returns the table of properties that the README of an exercise must contain.
pub fn table(exercise: &Exercise) -> String {
    let staged = exercise.second_stage.is_some();
    let mut table = "| property | what it promises |".to_owned();
    table.push_str(if staged { " stage |\n|---|---|---|\n" } else { "\n|---|---|\n" });
    for property in &exercise.properties {
        let stage = if staged { format!(" {} |", property.stage) } else { String::new() };
        let _ = writeln!(table, "| `{}` | {} |{stage}", property.name, property.promise);
    }
    table
}

/// Writes the table of properties and the minutes into the exercise's README.
pub fn write_table(exercise: &Exercise) -> anyhow::Result<()> {
    let path = exercise.readme();
    let readme = with_minutes(&read(&path)?, exercise.minutes_by_rule()?)
        .with_context(|| format!("{} does not say how many minutes", path.display()))?;
    let begin = readme.find("| property |").with_context(|| format!("{} has no table", path.display()))?;
    let end = readme[begin..].find("\n\n").map_or(readme.len(), |length| begin + length + 1);
    let readme = format!("{}{}{}", &readme[..begin], table(exercise), &readme[end..]);
    fs::write(&path, readme).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the rows of the list of exercises, in the order of the book. The column that says what an exercise
/// builds is copied from the current row.
fn rows(readme: &str) -> anyhow::Result<Vec<String>> {
    let mut all = exercises_protocol::all(&folder())?;
    Contents::read(&folder().join("../book/src/SUMMARY.md")).sort(&mut all);
    let row = |exercise: &Exercise| {
        let begin = format!("| [{0}]({0}/README.md) | ", exercise.name);
        let row = readme.lines().find_map(|line| line.strip_prefix(&begin));
        let builds = row.and_then(|row| row.split_once(" |"));
        let (builds, _) =
            builds.with_context(|| format!("exercises/README.md has no row for {}", exercise.name))?;
        let minutes = exercise.minutes_by_rule()?.to_string();
        let stages = if exercise.second_stage.is_some() { ", in two stages" } else { "" };
        Ok(format!("{begin}{builds} | {}{stages} |", minutes.trim_end_matches(" minutes")))
    };
    all.iter().map(row).collect()
}

fn is_row(line: &&str) -> bool {
    line.starts_with("| [ex")
}

/// Writes the list of exercises into `exercises/README.md`.
pub fn write_list() -> anyhow::Result<()> {
    let path = folder().join("README.md");
    let readme = read(&path)?;
    let mut rows = rows(&readme)?;
    let begin = readme.lines().position(|line| is_row(&line)).context("the list of exercises has no rows")?;
    let mut lines: Vec<String> = readme.lines().filter(|line| !is_row(line)).map(str::to_owned).collect();
    rows.extend(lines.split_off(begin));
    lines.append(&mut rows);
    fs::write(&path, lines.join("\n") + "\n").with_context(|| format!("cannot write {}", path.display()))
}

/// Checks that the README repeats the properties, the chapters and the minutes, and that the list of
/// exercises has the exercise's row at the right place.
fn pages_that_differ(exercise: &Exercise) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    let readme = read(&exercise.readme())?;
    if !readme.contains(&table(exercise)) {
        mistakes.push("README.md has another table of properties; `--tables` writes it anew".to_owned());
    }
    if let Some(asks) = &exercise.second_stage
        && !readme.split_whitespace().collect::<Vec<_>>().join(" ").contains(asks.as_str())
    {
        mistakes.push(format!("README.md does not say of the second stage: {asks}"));
    }
    for chapter in &exercise.chapters {
        if !folder().join("../book/src").join(chapter).is_file() {
            mistakes.push(format!("the book has no chapter {chapter}"));
        }
        if !readme.contains(&format!("book/src/{chapter}")) {
            mistakes.push(format!("README.md does not link the chapter {chapter}"));
        }
    }
    let minutes = exercise.minutes_by_rule()?;
    if exercise.minutes().ok() != Some(minutes) {
        mistakes.push(format!("README.md does not say \"{minutes}.\"; `--tables` writes it"));
    }
    let list = read(&folder().join("README.md"))?;
    let rows = rows(&list)?;
    let is_its_own = |row: &&str| row.starts_with(&format!("| [{}]", exercise.name));
    let place = rows.iter().position(|row| is_its_own(&row.as_str()));
    if list.lines().filter(is_row).position(|row| is_its_own(&row) && rows.iter().any(|other| other == row))
        != place
    {
        mistakes.push(
            "exercises/README.md has another row, or in another place; `--tables` writes it".to_owned(),
        );
    }
    Ok(mistakes)
}

/// Finds two kinds of mistakes in the README: links without an existing target, and names in code, such as
/// `Semaphore::acquire`, that the linked file does not contain.
fn dead_links(exercise: &Exercise) -> anyhow::Result<Vec<String>> {
    let readme = read(&exercise.readme())?;
    let mut mistakes = Vec::new();
    for (text, target) in links(&readme).filter(|(_, target)| !target.starts_with("https://")) {
        let path = exercise.folder().join(target);
        if !path.exists() {
            mistakes.push(format!("README.md links {target}, which is not there"));
        } else if text.starts_with('`') {
            let file = read(&path)?;
            let is_no_name = |c: char| !c.is_alphanumeric() && c != '_';
            for name in text.split(is_no_name).filter(|name| !file.contains(name)) {
                mistakes.push(format!("README.md links {target} for {name}, which is not in it"));
            }
        }
    }
    Ok(mistakes)
}

/// Returns the links of a page: text and target.
fn links(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.match_indices("](").filter_map(|(at, _)| {
        let (_, text) = page[..at].rsplit_once('[')?;
        let (target, _) = page[at + 2..].split_once(')')?;
        Some((text, target))
    })
}

/// Checks that the page on the solution exists, and that its table "without … | this fails" is right.
fn solution_not_explained(exercise: &Exercise) -> Vec<String> {
    match read(&exercise.explanation()) {
        Ok(page) => wrong_rows(exercise, &page),
        Err(_) => vec!["there is no solution/README.md, which says why the solution is right".to_owned()],
    }
}

/// Checks that each row of the table names at least one property, and only properties of this exercise. The
/// function does not check whether these properties fail.
fn wrong_rows(exercise: &Exercise, page: &str) -> Vec<String> {
    let table = page.lines().filter(|line| line.starts_with('|') && !line.starts_with("|-"));
    let rows: Vec<&str> = table.skip(1).collect();
    let mut mistakes = Vec::new();
    if rows.is_empty() {
        mistakes.push("solution/README.md does not say which property would fail without what".to_owned());
    }
    for row in rows {
        if failing(row).next().is_none() {
            mistakes.push(format!("solution/README.md has a row without a property: {row}"));
        }
        for name in failing(row).filter(|name| exercise.property(name).is_err()) {
            mistakes.push(format!("solution/README.md names {name}, which is no property"));
        }
    }
    mistakes
}

/// Returns the names that are written as code in the last cell of a row.
fn failing(row: &str) -> impl Iterator<Item = &str> {
    let cell = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap_or_default();
    cell.split('`').skip(1).step_by(2)
}

/// Checks three things: every edit applies, no two edits make the same answer, and every file belongs to an
/// entry. Each entry must name a property and some words of the property's message.
fn wrong_answers_not_described(exercise: &Exercise) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    let mut known = BTreeMap::new();
    known.insert(exercise.base(None)?, "solution");
    for right in &exercise.right {
        known.insert(exercise.base(Some(right))?, right);
    }
    for wrong in &exercise.wrong {
        let name = &wrong.name;
        match exercise.wrong_answer(wrong) {
            Ok(text) => {
                if let Some(same) = known.insert(without_head(&text).to_owned(), name) {
                    mistakes.push(format!("{name} is the same as {same}"));
                }
            }
            Err(error) => mistakes.push(format!("{name}: {}", error.root_cause())),
        }
        if wrong.message.len() < 10 {
            mistakes.push(format!("the message expected for {name} says nothing"));
        }
        exercise.property(&wrong.property)?;
    }
    for entry in fs::read_dir(exercise.folder().join("wrong")).into_iter().flatten() {
        let file = entry?.file_name().to_string_lossy().into_owned();
        let is_one =
            |wrong: &Wrong| wrong.code == Code::Whole && file.strip_suffix(".rs") == Some(&wrong.name);
        if !exercise.wrong.iter().any(is_one) {
            let name = file.trim_end_matches(".rs");
            mistakes.push(format!(
                "wrong.diff has nothing of wrong/{file}; `--keep {name}` makes an entry of it"
            ));
        }
    }
    Ok(mistakes)
}

/// Checks that every right answer except the solution says how it is built.
fn right_answers_not_described(exercise: &Exercise) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for right in &exercise.right {
        if !read(&exercise.right_answer(right))?.starts_with("//! Right: ") {
            mistakes.push(format!("right/{right}.rs does not begin with how it is built"));
        }
    }
    Ok(mistakes)
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_without_a_hint_is_named() {
        let mut exercise = exercises(Some("ex01")).unwrap().remove(0);
        assert_eq!(incomplete_description(&exercise), Vec::<String>::new());
        exercise.properties[0].hint = " ".to_owned();
        assert_eq!(incomplete_description(&exercise), ["exercise.toml: every_job_runs_once has no hint"]);
    }

    #[test]
    fn a_suite_with_answers_to_another_exercise_than_the_list_says_is_named() {
        let mut exercise = exercises(Some("ex34")).unwrap().remove(0);
        assert_eq!(judges_another(&exercise).unwrap(), None);
        exercise.judges = Some("ex24-reservations".to_owned());
        assert!(judges_another(&exercise).unwrap().unwrap().contains("no `answers!(ex24 …)`"));
    }

    #[test]
    fn a_mistake_that_is_another_one_is_named_and_so_is_a_file_without_an_entry() {
        let is_whole = |wrong: &Wrong| wrong.code == Code::Whole;
        let has_a_file = |exercise: &Exercise| exercise.wrong.iter().any(is_whole);
        let mut exercise = exercises(None).unwrap().into_iter().find(has_a_file).unwrap();
        assert_eq!(wrong_answers_not_described(&exercise).unwrap(), Vec::<String>::new());
        let alone = exercise.wrong.iter().position(is_whole).unwrap();
        let name = exercise.wrong.remove(alone).name;
        let first = exercise.wrong[0].clone();
        let same = format!("m99_twin is the same as {}", first.name);
        exercise.wrong.push(Wrong { name: "m99_twin".to_owned(), ..first });
        let without_entry =
            format!("wrong.diff has nothing of wrong/{name}.rs; `--keep {name}` makes an entry of it");
        let mistakes = [same, without_entry];
        assert_eq!(wrong_answers_not_described(&exercise).unwrap(), mistakes);
    }

    #[test]
    fn the_list_is_in_the_order_of_the_book_with_ranges_that_follow_the_rule() {
        let list = read(&folder().join("README.md")).unwrap();
        let rows = rows(&list).unwrap();
        assert_eq!(list.lines().filter(is_row).collect::<Vec<_>>(), rows);
        let place = |name: &str| rows.iter().position(|row| row.starts_with(&format!("| [{name}")));
        assert!(place("ex11") < place("ex06") && place("ex29") < place("ex18"), "{rows:?}");
        let error = super::rows(&list.replace("| [ex07-", "| [ex77-")).unwrap_err().to_string();
        assert!(error.contains("no row for ex07-completion-service"), "{error}");
    }

    #[test]
    fn the_properties_in_a_row_of_a_table_are_found() {
        let row = "| `Drop` for `Guest` | `nobody_is_forgotten`, `all_are_told` |";
        assert_eq!(failing(row).collect::<Vec<_>>(), ["nobody_is_forgotten", "all_are_told"]);
    }

    #[test]
    fn a_row_without_a_property_of_the_exercise_is_named() {
        let exercise = exercises(Some("ex01")).unwrap().remove(0);
        let page =
            |rows: &str| wrong_rows(&exercise, &format!("| without | this fails |\n|---|---|\n{rows}"));
        assert_eq!(page("| `join` | `every_job_runs_once` |\n"), Vec::<String>::new());
        let old = "| `join` | `every_job_runs_once`, `it_was_called_so_once` |\n| a lock | a property |\n";
        let named = "solution/README.md names it_was_called_so_once, which is no property";
        assert_eq!(
            page(old),
            [named, "solution/README.md has a row without a property: | a lock | a property |"]
        );
        assert_eq!(page(""), ["solution/README.md does not say which property would fail without what"]);
    }

    #[test]
    fn the_links_of_a_page_are_found() {
        let page = "[a](b.md), [`C::d`](../e.rs)\nno [link] (here)";
        assert_eq!(links(page).collect::<Vec<_>>(), [("a", "b.md"), ("`C::d`", "../e.rs")]);
    }
}
