//! The common build: the mutants that it contains, and the results of their tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;
use std::{fs, thread};

use anyhow::{Context, Result};
use mutants::Change;

use crate::merge::{self, Merged};
use crate::patch::Patch;
use crate::tool::{self, Build, Trial};
use crate::{Mutant, Place, Verdicts, conclude, tree};

/// The project's files with their texts, by path.
type Texts = BTreeMap<String, String>;

/// Decides for each mutant which build contains it, and returns the texts of the merged files.
pub(crate) fn put_together(root: &Path, patches: Vec<Patch>) -> Result<(Vec<Mutant>, Texts)> {
    let mut originals: Texts = BTreeMap::new();
    for path in patches.iter().flat_map(|patch| &patch.files).map(|change| &change.path) {
        originals.insert(path.clone(), fs::read_to_string(root.join(path)).unwrap_or_default());
    }
    let mut files = BTreeMap::new();
    for (path, text) in &originals {
        files.insert(path.as_str(), Merged::new(text).with_context(|| path.clone())?);
    }
    let mut mutants = Vec::new();
    for (number, patch) in (1..).zip(patches) {
        let apply = |change: &Change| change.apply(&originals[&change.path]);
        let place = match patch.files.iter().map(apply).collect::<Option<Vec<_>>>() {
            None => Place::Nowhere("it does not apply any more".to_owned()),
            Some(texts) => place_of(number, &patch, &texts, &mut files)?,
        };
        mutants.push(Mutant { patch, number, place });
    }
    let texts = files
        .iter()
        .map(|(path, file)| Ok(((*path).to_owned(), file.text()?)))
        .collect::<Result<BTreeMap<_, _>>>()?;
    for mutant in &mut mutants {
        let check = |change: &Change| {
            let text = change.apply(&originals[&change.path]).context("it does not apply any more")?;
            merge::check(&texts[&change.path], mutant.number, &text)
        };
        if matches!(mutant.place, Place::Together)
            && let Err(error) = mutant.patch.files.iter().try_for_each(check)
        {
            mutant.place = Place::Nowhere(format!("it is in no build: {error:#}"));
        }
    }
    Ok((mutants, texts))
}

fn place_of(
    number: u32,
    patch: &Patch,
    patched: &[String],
    files: &mut BTreeMap<&str, Merged>,
) -> Result<Place> {
    for (change, patched) in patch.files.iter().zip(patched) {
        if let Some(objection) = files[&*change.path].objection(patched)? {
            println!("apart   {:<50} {objection}", patch.name);
            return Ok(Place::Apart);
        }
    }
    for (change, patched) in patch.files.iter().zip(patched) {
        files.get_mut(&*change.path).context("all were read")?.add(number, patched)?;
    }
    Ok(Place::Together)
}

/// The mutants of the common build, by tool.
type ByTool<'a> = BTreeMap<(Build, &'a str), Vec<&'a Mutant>>;

/// Builds the given mutants, and tries each of them. The unbroken library must pass the tests of these
/// mutants.
pub(crate) fn try_together(
    root: &Path,
    target: &Path,
    mutants: &[Mutant],
    texts: Texts,
    verdicts: &mut Verdicts,
) -> Result<()> {
    let mut by_tool = ByTool::new();
    for mutant in mutants.iter().filter(|mutant| matches!(mutant.place, Place::Together)) {
        let tool = mutant.patch.tool.as_str();
        by_tool.entry((tool::build_of(tool), tool)).or_default().push(mutant);
    }
    let tree = target.join("mutants/together");
    fs::create_dir_all(&tree)?;
    tree::write(root, &tree, &with_roots(root, &by_tool, texts)?)?;
    for build in [Build::Shuttle, Build::Loom, Build::Threads] {
        let tools: BTreeSet<&str> =
            by_tool.keys().filter(|(of, _)| *of == build).map(|(_, tool)| *tool).collect();
        if tools.is_empty() {
            continue;
        }
        let begin = Instant::now();
        let programs = tool::build(&tree, target, build, &tools)?;
        println!("built   {:<50} {:>4} s", format!("{build:?}").to_lowercase(), begin.elapsed().as_secs());
        let with_program = tools.iter().zip(programs);
        let trials =
            with_program.flat_map(|(tool, program)| trials(root, tool, &program, &by_tool[&(build, *tool)]));
        run(&tree, &trials.collect::<Vec<_>>(), verdicts);
    }
    Ok(())
}

/// Adds the main files of the crates. Each main file decides which mutant the process runs. The main file of
/// a large test program contains only the modules that the mutants need.
fn with_roots(root: &Path, by_tool: &ByTool, mut texts: Texts) -> Result<Texts> {
    let mut roots = BTreeMap::from([("executor/src/lib.rs".to_owned(), None)]);
    for ((_, tool), mutants) in by_tool {
        let modules = mutants.iter().map(|mutant| mutant.patch.module()).collect::<BTreeSet<_>>();
        roots.insert(tool::main_file(root, tool), tool::has_modules(tool).then_some(modules));
    }
    for (file, modules) in roots {
        let text = texts.remove(&file).map_or_else(|| fs::read_to_string(root.join(&file)), Ok);
        let text = text.with_context(|| file.clone())?;
        let text = modules.map_or_else(|| text.clone(), |modules| tool::with_modules(&text, &modules));
        texts.insert(file, text + merge::WHICH);
    }
    Ok(texts)
}

fn trials<'a>(root: &Path, tool: &str, program: &Path, mutants: &[&'a Mutant]) -> Vec<Trial<'a>> {
    let trial = |name: String, mutant, tests: Vec<&'a str>| Trial {
        name,
        mutant,
        tests,
        main_file: tool::main_file(root, tool),
        program: program.to_owned(),
    };
    let all: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.patch.test.as_str()).collect();
    let unbroken = trial(format!("{tool} unbroken"), 0, all.into_iter().collect());
    let each = mutants
        .iter()
        .map(|mutant| trial(mutant.patch.name.clone(), mutant.number, vec![&mutant.patch.test]));
    [unbroken].into_iter().chain(each).collect()
}

/// Runs the compiled tests, a few at a time: while one test waits for a deadline, other tests use the core.
fn run(tree: &Path, trials: &[Trial], verdicts: &mut Verdicts) {
    let (next, verdicts) = (Mutex::new(trials.iter()), Mutex::new(verdicts));
    let workers = thread::available_parallelism().map_or(1, usize::from).min(3) + 1;
    let work = || {
        loop {
            let Some(trial) = next.lock().unwrap().next() else { return };
            let begin = Instant::now();
            let result = trial.run(tree);
            let word = if trial.mutant == 0 { "passed" } else { "caught" };
            conclude(word, &trial.name, begin, result, &mut verdicts.lock().unwrap());
        }
    };
    thread::scope(|scope| (0..workers).for_each(|_| _ = scope.spawn(work)));
}
