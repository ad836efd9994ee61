//! `book check`: finds faults of the book that a build does not report.

use crate::book::commands::Commands;
use crate::book::pages::Page;
use crate::book::{
    breaks, build, generated, includes, links, order, paths, predictions, prose, readable, schedules,
    transcripts,
};
use crate::exam::Exam;
use crate::exercises::catalogue;
use crate::ways::Ways;
use crate::workspace::Workspace;
use exercises_protocol::{Contents, Exercise, Kinds};
use std::fs;

/// Checks the book, prints every fault with its page and line, and returns whether there was no fault.
///
/// # Errors
/// Returns an error if the book or the project's manifests cannot be read.
pub fn check(workspace: &Workspace) -> anyhow::Result<bool> {
    let faults = faults(workspace)?;
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => println!(
            "the book is in order: pages, listings, commands, transcripts, experiments, links, figures and colours"
        ),
        1 => println!("\n1 fault"),
        n => println!("\n{n} faults"),
    }
    Ok(faults.is_empty())
}

fn faults(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let sources = workspace.book().join("src");
    let pages = Page::all(&sources)?;
    let awaited = fs::read_to_string(workspace.book().join("unwritten.txt")).unwrap_or_default();
    let exercises = catalogue::all(workspace).unwrap_or_default(); // a project may have none
    let (contents, ways) = (catalogue::contents(workspace), Ways::read(workspace)?);
    let mut made = generated::renew(&sources, &pages, &contents, &ways, &exercises)?;
    let mut faults = includes::faults(&pages);
    let listings_are_there = faults.is_empty();
    faults.extend(includes::unused_anchors(workspace.root(), &pages, &awaited)?);
    faults.extend(unlisted(&pages));
    faults.append(&mut made);
    let kinds = Kinds::read(&workspace.exercises())?;
    faults.extend(ways.faults(&contents, &exercises, &kinds));
    faults.extend(schedules::faults(&pages, &kinds));
    faults.extend(unlinked(&exercises, &pages));
    faults.extend(unexplained(&exercises, &pages));
    faults.extend(prose::faults(&pages));
    faults.extend(order::faults(&pages, &exercises));
    faults.extend(order::wrong_about_core(&pages, &contents, &ways.core()));
    faults.extend(order::unread(&pages, &ways));
    let [readme, architecture, contributing] =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| page_of_the_root(workspace, name));
    faults.extend(wrong_hours(&exercises, &pages, readme.as_ref()));
    faults.extend(wrong_core_hours(&pages, &contents, &ways.core()));
    let with_those_beside = pages.iter().chain(&readme).chain(&architecture).chain(&contributing);
    faults.extend(paths::faults(workspace.root(), with_those_beside));
    let commands = Commands::of(workspace)?;
    faults.extend(pages.iter().chain(&readme).flat_map(|page| commands.faults(page)));
    faults.extend(transcripts::faults(&sources, &pages)?);
    faults.extend(breaks::faults(workspace.root(), &sources, &pages)?);
    let unpredicted = predictions::faults(&pages);
    let can_be_built = listings_are_there && unpredicted.is_empty();
    faults.extend(unpredicted);
    let transcript = |name: &str| fs::read_to_string(sources.join("transcripts").join(name)).ok();
    if let Some(exam) = Exam::read(workspace)? {
        faults.extend(exam.faults(&contents, transcript));
        let for_teachers = pages.iter().filter(|page| page.name == "for-teachers.md");
        faults.extend(silent(for_teachers, &format!("There are {} questions", exam.count())));
    }
    if can_be_built {
        // If a listing or a prediction is broken, no book can be built, so there are no links to follow.
        match build(workspace) {
            Ok(book) => {
                faults.extend(links::faults(&book)?);
                faults.extend(readable::faults(&sources, &book)?);
            }
            Err(error) => faults.push(format!("{error:#}")),
        }
    }
    Ok(faults)
}

/// Returns the pages that readers cannot reach because the table of contents does not name them. Files that
/// tests generate are parts of pages, and do not count as pages.
fn unlisted(pages: &[Page]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.name == "SUMMARY.md") else { return Vec::new() };
    let is_listed = |page: &&Page| {
        page.name.starts_with("generated/")
            || page.name == "SUMMARY.md"
            || summary.text.contains(&format!("({})", page.name))
    };
    let unlisted = pages.iter().filter(|page| !is_listed(page));
    unlisted.map(|page| format!("{}: SUMMARY.md does not name this page", page.name)).collect()
}

/// Returns faults for exercises that name a missing chapter, and for chapters that do not name their
/// exercise.
fn unlinked(exercises: &[Exercise], pages: &[Page]) -> Vec<String> {
    let mut faults = Vec::new();
    for exercise in exercises {
        for chapter in &exercise.chapters {
            match pages.iter().find(|page| page.name == *chapter) {
                None => faults.push(format!("exercises/{}: there is no chapter {chapter}", exercise.name)),
                Some(page) if !page.text.contains(&exercise.name) => {
                    faults.push(format!("{chapter}: does not name its exercise, {}", exercise.name));
                }
                Some(_) => {}
            }
        }
    }
    faults
}

/// Returns a page beside the book. A project may have none.
fn page_of_the_root(workspace: &Workspace, name: &str) -> Option<Page> {
    let path = workspace.root().join(name);
    let text = fs::read_to_string(&path).ok()?;
    Some(Page { path, name: name.to_owned(), text })
}

/// Checks that the hours in the README and on the page about using the course are the sums of the times of
/// all pages and exercises.
fn wrong_hours(exercises: &[Exercise], pages: &[Page], readme: Option<&Page>) -> Vec<String> {
    let how_to_use = pages.iter().find(|page| page.name == "how-to-use.md");
    let of_pages: usize = pages.iter().filter_map(minutes).sum();
    let of_exercises = || exercises.iter().filter_map(|exercise| exercise.minutes().ok());
    let least: usize = of_exercises().map(|minutes| minutes.least).sum();
    let most: usize = of_exercises().map(|minutes| minutes.most).sum();
    let [of_pages, least, most] = [of_pages, least, most].map(in_hours);
    let text = format!("{of_pages} hours for the pages, and {least} to {most} hours for the exercises");
    silent(how_to_use.into_iter().chain(readme), &text)
}

/// Checks that the page on how to use the course says how many core pages there are, and how long they take.
fn wrong_core_hours(pages: &[Page], contents: &Contents, core: &[String]) -> Vec<String> {
    let of_core = pages.iter().filter(|page| core.contains(&page.name));
    let hours = in_hours(of_core.filter_map(minutes).sum());
    let text = format!("{} of the {} pages are the *core*: {hours} hours", core.len(), contents.chapters());
    let how_to_use = pages.iter().filter(|page| page.name == "how-to-use.md" && !core.is_empty());
    silent(how_to_use, &text)
}

fn in_hours(minutes: usize) -> usize {
    (minutes + 30) / 60
}

/// Returns the pages that do not contain these words; the words may be on different lines.
fn silent<'a>(pages: impl Iterator<Item = &'a Page>, text: &str) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let silent = pages.filter(|page| !words(&page.text).contains(text));
    silent.map(|page| format!("{}: does not say \"{text}\"", page.name)).collect()
}

/// Returns the minutes that a page takes, according to the line under its title.
pub(super) fn minutes(page: &Page) -> Option<usize> {
    let (_, facts) = page.text.split_once("<p class=\"facts\">")?;
    let (before, _) = facts.split_once("</p>")?.0.split_once(" minutes")?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the exercises that have a solution which no page explains.
fn unexplained(exercises: &[Exercise], pages: &[Page]) -> Vec<String> {
    let files = exercises.iter().map(|exercise| format!("exercises/{}/solution/README.md", exercise.name));
    let missing = files.filter(|file| !pages.iter().any(|page| page.text.contains(file)));
    missing.map(|file| format!("no page includes {file}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn hours_that_are_not_the_sum_of_the_minutes_are_named() {
        let page =
            |name: &str, text: &str| Page { path: PathBuf::new(), name: name.into(), text: text.into() };
        let one = page("one.md", "# One\n\n<p class=\"facts\">70 minutes. You need 5 minutes more.</p>\n");
        let two = |hours: &str| {
            let said = format!("{hours} hours for the\npages, and 0 to 0 hours for the exercises");
            page("how-to-use.md", &format!("<p class=\"facts\">50 minutes.</p>\n{said}\n"))
        };
        let pages = [one, two("2")];
        assert_eq!(wrong_hours(&[], &pages, Some(&pages[1])), Vec::<String>::new());
        let faults = wrong_hours(&[], &pages, Some(&page("README.md", "3 hours for the pages")));
        assert_eq!(
            faults,
            ["README.md: does not say \"2 hours for the pages, and 0 to 0 hours for the exercises\""]
        );
        let [one, _] = pages;
        let faults = wrong_hours(&[], &[one, two("3")], None);
        assert!(
            faults[0].starts_with("how-to-use.md") && faults[0].contains("2 hours for the pages"),
            "{faults:?}"
        );
    }
}
