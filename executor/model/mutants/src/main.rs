//! Breaks the library and the programs, once for each patch in the folders `model/mutants`: the test that the
//! patch names must then fail. There is one common build for each model checker. This build contains all
//! mutants that change only function bodies, and in each process the environment variable `MUTANT` chooses
//! one mutant. `bash .ci/mutants NAME` builds a patched tree instead. Use this command for mutants that
//! change more than function bodies, and to check the verdicts of the common build.
//!
//! Without arguments this program tries all mutants, and tries a tenth of them also in separate trees. With
//! `--changed TURN` this program tries two sets of mutants: the mutants whose sources have changed since they
//! were last caught (see [`ledger`]), and the tenth with the number TURN.

mod ledger;
mod merge;
mod patch;
mod source;
mod together;
mod tool;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use ledger::Ledger;
use patch::Patch;
use together::{put_together, try_together};

/// A patch, and the build that contains its mutant.
struct Mutant {
    patch: Patch,
    number: u32,
    place: Place,
}

enum Place {
    /// In the common build.
    Together,
    /// The mutant is in a separate tree, which contains no other mutant.
    Apart,
    /// In no build. The text is the reason.
    Nowhere(String),
}

/// The name of each mutant that was tried, and the reason if the mutant was not caught. The unbroken library
/// has an entry in this list, too.
type Verdicts = BTreeMap<String, Result<(), String>>;

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("FAIL    {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<bool> {
    let begin = Instant::now();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize()?;
    let (changed_only, turn) = match arguments {
        [] => (false, env::var("TURN").ok()),
        [option, turn] if option == "--changed" => (true, Some(turn.clone())),
        _ => bail!("the arguments are NAME…, or --changed TURN, or none"),
    };
    let turn = match turn {
        Some(turn) => turn,
        None => tree::lines_of(Command::new("git").current_dir(&root).args(["rev-list", "--count", "HEAD"]))?
            .concat(),
    };
    let turn: usize = turn.parse().context("TURN must be a number")?;

    let patches = patch::all(&root)?;
    let ledger = Ledger::new(&root, &patches)?;
    let (mut mutants, texts) = put_together(&root, patches)?;
    let in_turn = tenth(&mutants, turn);
    let is_due =
        |mutant: &Mutant| !ledger.has_proven(&mutant.patch) || matches!(mutant.place, Place::Nowhere(_));
    let due = mutants.iter().filter(|mutant| is_due(mutant)).count();
    let count = mutants.len();
    let together = mutants.iter().filter(|mutant| matches!(mutant.place, Place::Together)).count();
    println!(
        "{count} mutants: {together} in one build. {due} have changed; the turn of {} has come.",
        in_turn.len()
    );
    if changed_only {
        mutants.retain(|mutant| is_due(mutant) || in_turn.contains(&mutant.number));
    }

    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target));
    let mut verdicts = Verdicts::new();
    for mutant in &mutants {
        if let Place::Nowhere(reason) = &mutant.place {
            conclude("", &mutant.patch.name, begin, Err(reason.clone()), &mut verdicts);
        }
    }
    try_together(&root, &target, &mutants, texts, &mut verdicts)?;
    let is_tried_apart = |mutant: &&Mutant| match mutant.place {
        Place::Together => !changed_only && in_turn.contains(&mutant.number),
        Place::Apart => true,
        Place::Nowhere(_) => false,
    };
    try_apart(&root, &mutants.iter().filter(is_tried_apart).collect::<Vec<_>>(), &mut verdicts)?;

    let caught =
        mutants.iter().filter(|mutant| verdicts.get(&mutant.patch.name).is_some_and(Result::is_ok)).count();
    let all_is_well = caught == mutants.len() && verdicts.values().all(Result::is_ok);
    if all_is_well {
        ledger.write(&root)?;
    }
    println!("{caught} mutants caught, {} not, in {} s", mutants.len() - caught, begin.elapsed().as_secs());
    Ok(all_is_well)
}

/// Prints one verdict and stores it. `good` is the text for an expected verdict.
fn conclude(good: &str, name: &str, begin: Instant, result: Result<(), String>, verdicts: &mut Verdicts) {
    let seconds = begin.elapsed().as_secs();
    match &result {
        Ok(()) => println!("{good}  {name:<50} {seconds:>4} s"),
        Err(reason) => println!("FAIL    {name:<50} {seconds:>4} s  {reason}"),
    }
    verdicts.insert(name.to_owned(), result);
}

/// Returns the tenth of the mutants that this turn tries. The mutants of the same tool and module are
/// neighbours in this order, so a tenth needs few builds.
fn tenth(mutants: &[Mutant], turn: usize) -> BTreeSet<u32> {
    let mut order: Vec<&Mutant> = mutants.iter().collect();
    order.sort_by_key(|mutant| {
        (tool::build_of(&mutant.patch.tool), &mutant.patch.tool, mutant.patch.module())
    });
    let (turn, count) = (turn % 10, order.len());
    order[turn * count / 10..(turn + 1) * count / 10].iter().map(|mutant| mutant.number).collect()
}

/// Builds a tree for each mutant. A mutant that is also in the common build must get the same verdict there.
fn try_apart(root: &Path, mutants: &[&Mutant], verdicts: &mut Verdicts) -> Result<()> {
    if mutants.is_empty() {
        return Ok(());
    }
    let begin = Instant::now();
    let names = mutants.iter().map(|mutant| &mutant.patch.name);
    let output = Command::new("bash").current_dir(root).arg(".ci/mutants").args(names).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    for line in said.lines().filter(|line| !line.contains(" mutants caught, ")) {
        println!("{line}"); // the numbers of both ways are summed at the end
    }
    for mutant in mutants {
        let line = |word: &str| {
            said.lines().any(|line| line.split_whitespace().take(2).eq([word, &mutant.patch.name]))
        };
        ensure!(line("caught") || line("FAIL"), "no word of {} apart", mutant.patch.name);
        let apart = if line("caught") { Ok(()) } else { Err("it is not caught".to_owned()) };
        let together = verdicts.insert(mutant.patch.name.clone(), apart.clone());
        if let Some(together) = together
            && together.is_ok() != apart.is_ok()
        {
            let reason = format!("the verdicts differ: together {together:?}, apart {apart:?}");
            conclude("", &mutant.patch.name, begin, Err(reason), verdicts);
        }
    }
    Ok(())
}
