//! The tools that catch mutants; for each tool: its test program, the build of this program, and the meaning
//! of a test's result.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The features of a build. One call of Cargo builds all tests with the same features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Build {
    Shuttle,
    Loom,
    /// The tests of the library itself, on real threads. All features are on, so one build is enough.
    Threads,
}

/// The time limit for one test, in seconds. Each test takes only a few seconds.
const DEADLINE: &str = "300";

pub(crate) fn build_of(tool: &str) -> Build {
    match tool {
        "loom" | "reservations" => Build::Loom,
        "shuttle" | "program" | "road" | "logqueue" | "pills" | "frontier" => Build::Shuttle,
        _ => Build::Threads,
    }
}

/// Returns the main file of the test program that the tool uses.
pub(crate) fn main_file(root: &Path, tool: &str) -> String {
    match tool {
        "shuttle" => "executor/model/tests/pools/main.rs".to_owned(),
        "loom" => "executor/model/tests/cores/main.rs".to_owned(),
        "program" => "executor/model/tests/program/main.rs".to_owned(),
        "road" | "reservations" => format!("logservice/model/tests/{tool}/main.rs"),
        "logqueue" => "logservice/model/tests/queue/main.rs".to_owned(),
        "pills" | "frontier" => format!("crawler/model/tests/{tool}.rs"),
        "unit" => "executor/src/lib.rs".to_owned(),
        _ => {
            let file = format!("executor/tests/{tool}/main.rs");
            if root.join(&file).exists() { file } else { format!("executor/tests/{tool}.rs") }
        }
    }
}

/// Returns the folder of the package, and the path of the main file inside that folder.
fn package(main_file: &str) -> (&str, &str) {
    let at = main_file.find("/tests/").or_else(|| main_file.find("/src/")).unwrap_or_default();
    (&main_file[..at], &main_file[at + 1..])
}

/// True if the modules of a test program are independent. If the modules are independent, a build can leave
/// out most modules and becomes much shorter.
pub(crate) fn has_modules(tool: &str) -> bool {
    matches!(tool, "shuttle" | "loom" | "executor")
}

/// Returns the main file of a large test program with only the wanted modules. The parts that all modules
/// share stay in the file.
pub(crate) fn with_modules(text: &str, wanted: &BTreeSet<&str>) -> String {
    let is_left_out = |line: &&str| {
        let module = line.strip_prefix("mod ").and_then(|rest| rest.split_once(';'));
        module.is_some_and(|(name, _)| {
            !["support", "seq_cst", "dice"].contains(&name) && !wanted.contains(name)
        })
    };
    text.split_inclusive('\n').filter(|line| !is_left_out(line)).collect()
}

/// Builds the test programs of these tools in `tree`, and returns the path of each program.
pub(crate) fn build(
    tree: &Path,
    target: &Path,
    build: Build,
    tools: &BTreeSet<&str>,
) -> Result<Vec<PathBuf>> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tree).env("CARGO_TARGET_DIR", target);
    cargo.env("EXECUTOR_TESTS_IMPATIENT", "1"); // a mutant that hangs is caught by a test's deadline
    // Optimisation (which the exercises use) and line tables are off, because only the duration of the build
    // matters.
    cargo.args(["test", "--no-run", "--config", "profile.dev.package.executor-model.opt-level=0"]);
    cargo.args(["--config", "profile.dev.debug=false"]);
    match build {
        Build::Shuttle => {}
        Build::Loom => _ = cargo.args(["--no-default-features", "--features", "loom"]),
        Build::Threads => _ = cargo.arg("--all-features"),
    }
    let mains: Vec<String> = tools.iter().map(|tool| main_file(tree, tool)).collect();
    for folder in mains.iter().map(|main| package(main).0).collect::<BTreeSet<_>>() {
        let package = if folder == "executor" { "task-execution" } else { &*folder.replace('/', "-") };
        cargo.args(["-p", package]);
    }
    for main in &mains {
        let (_, file) = package(main);
        match file.strip_prefix("tests/") {
            Some(test) => cargo.args(["--test", test.trim_end_matches("/main.rs").trim_end_matches(".rs")]),
            None => cargo.arg("--lib"),
        };
    }
    let output = cargo.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{build:?}: the mutants do not build:\n{said}");
    let program = |main: &String| {
        let begin = format!("{} (", package(main).1);
        let line = said.lines().find(|line| line.contains("Executable") && line.contains(&begin));
        let path = line.and_then(|line| line.split_once(&begin)?.1.strip_suffix(')'));
        Ok(tree.join(path.with_context(|| format!("Cargo names no program of {main}:\n{said}"))?))
    };
    mains.iter().map(program).collect()
}

/// A test to run.
pub(crate) struct Trial<'a> {
    /// The name of the mutant. For the unbroken library, this is the name of the tool.
    pub name: String,
    /// The mutant's number, or 0 for the unbroken library.
    pub mutant: u32,
    pub tests: Vec<&'a str>,
    /// The main file of the test program.
    pub main_file: String,
    pub program: PathBuf,
}

impl Trial<'_> {
    /// Runs the test. Succeeds if the test notices the mutant. For the unbroken library, succeeds if the test
    /// passes: a test that fails without a mutant would seem to catch every mutant.
    pub(crate) fn run(&self, tree: &Path) -> Result<(), String> {
        let mut command = Command::new("timeout");
        command.arg(DEADLINE).arg(&self.program).arg("--exact").args(&self.tests).stdin(Stdio::null());
        command.env("MUTANT", self.mutant.to_string()).env("RUST_BACKTRACE", "0");
        command.current_dir(tree.join(package(&self.main_file).0));
        if self.mutant == 0 {
            // The run of the unbroken library only needs to find tests that always fail in this build, so a
            // few schedules are enough. The model checks try all schedules.
            command.env("MODEL_SCHEDULES", "50").env("LOOM_MAX_PREEMPTIONS", "2");
        }
        let output = command.output().map_err(|error| error.to_string())?;
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let verdict = match (self.mutant, output.status.code()) {
            (0, Some(0)) => Ok(()),
            (0, _) => Err("the unbroken library fails"),
            (_, status) => verdict(status, &said),
        };
        let lines: Vec<&str> = said.lines().collect();
        verdict.map_err(|reason| {
            format!("{reason}\n    | {}", lines[lines.len().saturating_sub(20)..].join("\n    | "))
        })
    }
}

/// Decides from the output and the status of a test whether the mutant is caught. Only two kinds of failure
/// count: a failed check that names the expected value, and a stack overflow in a test of stack overflows.
fn verdict(status: Option<i32>, said: &str) -> Result<(), &'static str> {
    match status {
        _ if said.lines().any(|line| line.starts_with("running 0 tests")) => Err("there is no such test"),
        Some(0) => Err("it survived"),
        Some(124) => Err("no verdict within the deadline"),
        _ if said.contains("panicked at") || said.contains("has overflowed its stack") => Ok(()),
        _ => Err("the test program ended without a failed check"),
    }
}

/// Returns the files that affect the verdicts of a tool, or of one module of a tool, with the texts of these
/// files.
pub(crate) fn sources(root: &Path, tool: &str, module: &str) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let main = main_file(root, tool);
    let (folder, file) = package(&main);
    let mut files = Vec::new();
    if has_modules(tool) {
        let wanted = [module].into();
        files.push((root.join(&main), with_modules(&fs::read_to_string(root.join(&main))?, &wanted).into()));
        let beside = root.join(&main).with_file_name("");
        for shared in ["support", "seq_cst", "dice", module] {
            add_files(&beside.join(format!("{shared}.rs")), &mut files)?;
            add_files(&beside.join(shared), &mut files)?;
        }
    } else if file.ends_with("/main.rs") {
        add_files(&root.join(&main).with_file_name(""), &mut files)?;
    } else if tool != "unit" {
        add_files(&root.join(&main), &mut files)?; // for `unit` the patched files contain them
    }
    for of_a_model in ["Cargo.toml", "primitives", "src"] {
        for model in [folder, "executor/model"] {
            if build_of(tool) != Build::Threads {
                add_files(&root.join(model).join(of_a_model), &mut files)?;
            }
        }
    }
    Ok(files)
}

/// Adds a file, or all files of a folder in the order of their names. Adds nothing if the path does not
/// exist.
pub(crate) fn add_files(path: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<()> {
    if path.is_file() {
        files.push((path.to_owned(), fs::read(path)?));
    } else if path.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        entries.sort();
        entries.iter().try_for_each(|entry| add_files(entry, files))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_caught_by_a_failed_check_and_by_nothing_else() {
        let failed = "running 1 test\nthread panicked at x.rs:1:1:\n";
        assert_eq!(verdict(Some(101), failed), Ok(()));
        assert_eq!(verdict(None, "running 1 test\nthread 'x' has overflowed its stack\n"), Ok(()));
        for (status, said, reason) in [
            (Some(0), "running 1 test\n", "it survived"),
            (Some(0), "running 0 tests\n", "there is no such test"),
            (Some(124), failed, "no verdict within the deadline"),
            (Some(101), "running 1 test\n", "the test program ended without a failed check"),
            (None, "running 1 test\n", "the test program ended without a failed check"),
        ] {
            assert_eq!(verdict(status, said), Err(reason));
        }
    }

    #[test]
    fn the_wanted_modules_stay_with_what_they_share() {
        let text = "mod support; // shared\nmod a;\nmod b;\nmod inner {\n}\n";
        assert_eq!(with_modules(text, &["b"].into()), "mod support; // shared\nmod b;\nmod inner {\n}\n");
    }

    #[test]
    fn a_program_has_a_package_and_a_file() {
        assert_eq!(package("executor/model/tests/pools/main.rs"), ("executor/model", "tests/pools/main.rs"));
        assert_eq!(package("executor/src/lib.rs"), ("executor", "src/lib.rs"));
    }
}
