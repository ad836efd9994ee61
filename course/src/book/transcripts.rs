//! Proves that the output on the pages was really recorded. Each page includes the output from
//! `transcripts/`, below the command that printed it, and `record.toml` says how to record it again.

use crate::book::includes::includes;
use crate::book::pages::Page;
use crate::book::recipes::Recipes;
use mdbook_driver::book::Book;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The folder of the transcripts, as pages write it in includes.
const FOLDER: &str = "transcripts/";

/// Returns three kinds of faults: transcripts without a recipe, transcripts without a page, and output on
/// pages that is not a transcript.
///
/// # Errors
/// Returns an error if `record.toml` cannot be parsed.
pub(super) fn faults(sources: &Path, pages: &[Page]) -> anyhow::Result<Vec<String>> {
    let recipes = Recipes::read(sources, "transcripts")?;
    let commands: BTreeMap<&str, Option<&str>> = recipes.files().into_iter().collect();
    let mut faults = Vec::new();
    let mut shown = BTreeSet::new();
    for page in pages {
        for include in includes(&page.text) {
            shown.extend(include.file.split_once(FOLDER).map(|(_, file)| file));
        }
        console_blocks(page, &commands, &mut faults);
    }
    let recorded: BTreeSet<&str> = commands.keys().copied().collect();
    for file in recorded.difference(&shown) {
        faults.push(format!("{FOLDER}record.toml: no page shows {file}"));
    }
    for file in shown.difference(&recorded) {
        faults.push(format!("{FOLDER}record.toml: {file} is shown, and nothing says how to record it"));
    }
    for file in recorded.iter().filter(|file| !sources.join(FOLDER).join(file).is_file()) {
        faults.push(format!("{FOLDER}{file}: not recorded yet; `cargo course book record {file}` does it"));
    }
    for run in &recipes.run {
        let (Some(file), Some(speed_up)) = (&run.file, &run.speed_up) else { continue };
        let text = fs::read_to_string(sources.join(FOLDER).join(file)).unwrap_or_default();
        faults.extend(speed_up.faults(&text).into_iter().map(|fault| format!("{FOLDER}{file}: {fault}")));
    }
    for entry in fs::read_dir(sources.join(FOLDER)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "record.toml" && !recorded.contains(name.as_str()) {
            faults.push(format!("{FOLDER}{name}: record.toml does not name it"));
        }
    }
    Ok(faults)
}

/// Marks each code block of a book with the names of the transcripts that it shows: the block `console` with
/// `pool_of_two.txt` becomes `console,shows-pool_of_two.txt`. So a page knows which command it can ask the
/// live course to run.
pub(super) fn mark(book: &mut Book) {
    book.for_each_chapter_mut(|chapter| chapter.content = marked(&chapter.content));
}

fn marked(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut opening = None;
    for line in text.split('\n') {
        if line.trim_start().starts_with("```") {
            opening = if opening.is_some() { None } else { Some(lines.len()) };
        } else if let Some(opening) = opening {
            let shown = includes(line).filter_map(|include| include.file.split_once(FOLDER));
            shown.for_each(|(_, file)| lines[opening].extend([",shows-", file]));
        }
        lines.push(line.to_owned());
    }
    lines.join("\n")
}

/// Checks `console` blocks: a command may be followed only by other commands and by its own transcript.
fn console_blocks(page: &Page, commands: &BTreeMap<&str, Option<&str>>, faults: &mut Vec<String>) {
    let mut last_command = None;
    for line in page.lines() {
        if line.block != Some("console") {
            last_command = None;
            continue;
        }
        let text = line.text.trim();
        if let Some(command) = text.strip_prefix("$ ") {
            last_command = Some(command);
        } else if let Some(include) = includes(text).next() {
            let file = include.file.split_once(FOLDER).map(|(_, file)| file);
            let recorded = file.and_then(|file| commands.get(file).copied().flatten());
            if let (Some(recorded), Some(shown)) = (recorded, last_command)
                && recorded != shown
            {
                let what =
                    format!("{} is recorded from `{recorded}`, and shown below `{shown}`", include.file);
                faults.push(page.fault(line.number, what));
            }
        } else if !text.is_empty() {
            let what = format!("`{text}` is output without a recording; include it from {FOLDER}");
            faults.push(page.fault(line.number, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a book with one page and one recorded transcript, and returns its faults.
    fn faults_of(page: &str, recipes: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("transcripts")).unwrap();
        fs::write(dir.path().join("transcripts/a.txt"), "output\n").unwrap();
        fs::write(dir.path().join("transcripts/record.toml"), recipes).unwrap();
        fs::write(dir.path().join("page.md"), page).unwrap();
        faults(dir.path(), &Page::all(dir.path()).unwrap()).unwrap()
    }

    const RECIPE: &str = "[[run]]\ncommand = \"cargo test\"\nfile = \"a.txt\"\n";
    const PAGE: &str = "```console\n$ cargo test\n{{#include transcripts/a.txt}}\n```\n";

    #[test]
    fn a_block_is_marked_with_each_transcript_that_it_shows() {
        let two =
            PAGE.replace("\n```\n", "\n$ b\n{{#include ../transcripts/b.txt}}\n```\n\n```text\nno\n```\n");
        let marked = marked(&two);
        assert_eq!(marked, two.replace("```console", "```console,shows-a.txt,shows-b.txt"));
    }

    #[test]
    fn a_transcript_below_its_command_is_fine() {
        assert_eq!(faults_of(PAGE, RECIPE), Vec::<String>::new());
    }

    #[test]
    fn each_kind_of_fault_is_named() {
        let other_command = PAGE.replace("cargo test", "cargo build");
        let by_hand = PAGE.replace("{{#include transcripts/a.txt}}", "{{#include transcripts/a.txt}}\nok\n");
        let two = format!("{PAGE}```text\n{{{{#include transcripts/b.txt}}}}\n```\n");
        let two_recipes = format!("{RECIPE}{}", RECIPE.replace("a.txt", "b.txt"));
        let too_fast = format!("{RECIPE}speed_up = {{ processors = 2, times = [\"part\"] }}\n");
        for (page, recipes, fault) in [
            (
                other_command.as_str(),
                RECIPE,
                "page.md:3: transcripts/a.txt is recorded from `cargo test`, and shown below",
            ),
            (&by_hand, RECIPE, "page.md:4: `ok` is output without a recording"),
            (PAGE, "", "a.txt is shown, and nothing says how to record it"),
            ("", RECIPE, "no page shows a.txt"),
            (&two, &two_recipes, "transcripts/b.txt: not recorded yet"),
            ("", "", "transcripts/a.txt: record.toml does not name it"),
            (PAGE, &too_fast, "transcripts/a.txt: there is no column `part`"),
        ] {
            let found = faults_of(page, recipes);
            assert!(found.iter().any(|found| found.contains(fault)), "{fault}: {found:?}");
        }
    }
}
