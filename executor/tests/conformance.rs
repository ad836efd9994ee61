//! Checks that `CONFORMANCE.md` and the tests name the same behaviours.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A map from ids such as `ABC-1` to the names of test modules.
type Modules = BTreeMap<String, BTreeSet<String>>;

/// For each behaviour, `CONFORMANCE.md` says which modules test it, and the tests in these modules cite the
/// id of the behaviour.
#[test]
fn the_list_of_behaviours_and_the_tests_agree() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut faults = Vec::new();
    let listed = listed(&fs::read_to_string(tests.join("CONFORMANCE.md")).unwrap(), &mut faults);
    let cited = cited(&tests);
    assert!(listed.len() > 100 && cited.len() > 100, "the list or the tests were not found");

    for (id, modules) in &listed {
        for module in modules.difference(cited.get(id).unwrap_or(&BTreeSet::new())) {
            faults.push(format!("CONFORMANCE.md lists {id} as tested in `{module}`, where no test cites it"));
        }
    }
    let groups: BTreeSet<&str> = listed.keys().map(|id| group(id)).collect();
    for (id, modules) in cited.iter().filter(|(id, _)| groups.contains(group(id))) {
        let listed = listed.get(id);
        for module in modules.iter().filter(|module| !listed.is_some_and(|listed| listed.contains(*module))) {
            let there = if listed.is_some() { " as tested there" } else { "" };
            faults
                .push(format!("a test in `{module}` cites {id}, which CONFORMANCE.md does not list{there}"));
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Returns each id in the first column of the list's tables, with the modules in the last column of the same
/// row. If a behaviour has no test, the last column gives `n/a` and the reason, but no modules.
fn listed(list: &str, faults: &mut Vec<String>) -> Modules {
    let mut listed = Modules::new();
    for line in list.lines() {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let ids: Vec<_> = cells[0].split(", ").collect();
        if !line.starts_with('|') || !ids.iter().any(|id| is_id(id)) {
            continue;
        }
        let place = *cells.last().unwrap();
        let modules: Option<BTreeSet<_>> = match place.split_once(": ").map_or(place, |(word, _)| word) {
            "n/a" => Some(BTreeSet::new()),
            _ => place.split(", ").map(|name| name.strip_prefix('`')?.strip_suffix('`')).collect(),
        };
        let Some(modules) = modules.filter(|_| cells.len() == 3) else {
            faults.push(format!("CONFORMANCE.md does not say where this is tested, or why not: {line}"));
            continue;
        };
        for id in ids {
            let modules = modules.iter().map(ToString::to_string).collect();
            if !is_id(id) || listed.insert(id.to_owned(), modules).is_some() {
                faults.push(format!("CONFORMANCE.md lists {id} twice, or it is no id"));
            }
        }
    }
    listed
}

/// Returns each id that the comments of tests cite, with the modules of the tests that cite the id.
fn cited(tests: &Path) -> Modules {
    let mut cited = Modules::new();
    for file in sources(tests) {
        let module = module(file.strip_prefix(tests).unwrap());
        for line in
            fs::read_to_string(&file).unwrap().lines().filter(|line| line.trim_start().starts_with("///"))
        {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            for id in words.filter(|word| is_id(word)) {
                cited.entry(id.to_owned()).or_default().insert(module.clone());
            }
        }
    }
    cited
}

/// Returns the Rust files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns the name of the module in a file of the test program `executor`, such as `invoke_any::cut_short`.
fn module(file: &Path) -> String {
    let file = file.strip_prefix("executor").unwrap_or(file).with_extension("");
    let file = if file.ends_with("mod") { file.parent().unwrap() } else { &file };
    file.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("::")
}

/// Returns true if a word is an id such as `ABC-1`.
fn is_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(group, number)| {
        !group.is_empty()
            && group.chars().all(|c| c.is_ascii_uppercase())
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
    })
}

fn group(id: &str) -> &str {
    id.split('-').next().unwrap()
}
