//! Proves that the experiments of the book can be done, and that the recorded output confirms their answers.

use super::experiment::{Experiment, section};
use super::{apply, patch_of};
use crate::book::includes::includes;
use crate::book::pages::Page;
use crate::book::recipes::{BREAKS, Recipes};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Returns the experiments that have no recipe, the recipes and patches that have no experiment, the patches
/// that do not apply, and the figures in answers that no recorded output contains.
///
/// # Errors
/// Returns an error if a `record.toml` cannot be parsed.
pub(in crate::book) fn faults(root: &Path, sources: &Path, pages: &[Page]) -> anyhow::Result<Vec<String>> {
    let all: Vec<(&Page, Experiment)> = pages
        .iter()
        .flat_map(|page| Experiment::all(page).into_iter().map(move |experiment| (page, experiment)))
        .collect();
    let names: BTreeSet<String> = all.iter().map(|(_, experiment)| experiment.name()).collect();
    let mut recorded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut by_hand = BTreeSet::new();
    let mut own_files = BTreeSet::from(["record.toml".to_owned()]);
    let mut faults = Vec::new();
    for folder in Recipes::FOLDERS {
        let recipes = Recipes::read(sources, folder)?;
        for (experiment, files) in recipes.experiments() {
            let texts = files.iter().map(|file| {
                let path = sources.join(folder).join(file);
                if folder == BREAKS && !path.is_file() {
                    faults.push(format!(
                        "{folder}/{file}: not recorded yet; `cargo course book record {file}` does it"
                    ));
                }
                fs::read_to_string(path).unwrap_or_default()
            });
            if recorded.insert(experiment.to_owned(), texts.collect()).is_some() {
                faults.push(format!("{folder}/record.toml: {experiment} has two recipes"));
            }
        }
        if folder == BREAKS {
            own_files.extend(recipes.files().into_iter().map(|(file, _)| file.to_owned()));
        }
        by_hand.extend(recipes.by_hand.into_iter().map(|by_hand| by_hand.breaks));
    }
    for (page, experiment) in &all {
        let name = experiment.name();
        match (recorded.get(&name), by_hand.contains(&name)) {
            (None, false) => faults.push(format!("{BREAKS}/record.toml: {name} has no recipe")),
            (Some(_), true) => {
                faults.push(format!("{BREAKS}/record.toml: {name} has a recipe, and is listed as by hand"));
            }
            (Some(texts), false) => {
                faults.extend(unrecorded(sources, page, experiment, texts));
            }
            (None, true) => {}
        }
    }
    for name in recorded.keys().chain(&by_hand).filter(|name| !names.contains(*name)) {
        faults.push(format!("{BREAKS}/record.toml: no page has the experiment {name}"));
    }
    for entry in fs::read_dir(sources.join(BREAKS)).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        match file.strip_suffix(".patch") {
            Some(name) if !names.contains(name) => {
                faults.push(format!("{BREAKS}/{file}: no page has this experiment"));
            }
            Some(_) => faults.extend(apply(&entry.path(), root).err().map(|error| format!("{error:#}"))),
            None if !own_files.contains(&file) => {
                faults.push(format!("{BREAKS}/{file}: record.toml does not name it"));
            }
            None => {}
        }
    }
    let command = Regex::new(r"cargo course break ([a-z0-9-]+) (\d+)").expect("a valid expression");
    for page in pages {
        for line in page.lines() {
            for typed in command.captures_iter(line.text) {
                if !names.contains(&format!("{}-{}", &typed[1], &typed[2])) {
                    faults.push(
                        page.fault(line.number, format_args!("`{}`: there is no such experiment", &typed[0])),
                    );
                }
            }
        }
    }
    Ok(faults)
}

/// Returns a fault if the answer has a figure that is found in none of these: the transcripts of the
/// experiment, its patch, and the rest of its page.
fn unrecorded(sources: &Path, page: &Page, experiment: &Experiment, texts: &[String]) -> Option<String> {
    let section = section(&page.text)?;
    let mut known = figures(&page.text[..section.start]);
    known.extend(figures(&page.text[section.end..]));
    known.extend(figures(&experiment.question));
    for include in includes(&page.text).filter(|include| include.file.contains("transcripts/")) {
        known.extend(figures(&fs::read_to_string(sources.join(include.file)).unwrap_or_default()));
    }
    let patch = fs::read_to_string(patch_of(sources, &experiment.name())).unwrap_or_default();
    texts.iter().chain([&patch]).for_each(|text| known.extend(figures(text)));
    let unknown: Vec<String> = figures(&experiment.answer).difference(&known).cloned().collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "{}: the answer to experiment {} has {}, which was not recorded",
            page.name,
            experiment.number,
            unknown.join(", ")
        )
    })
}

fn figures(text: &str) -> BTreeSet<String> {
    let figure = Regex::new(r"\d+(?:[.,]\d+)*").expect("a valid expression");
    figure.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}
