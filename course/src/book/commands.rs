//! Proves that every `cargo …` command on the pages works when a reader types it. The package, program,
//! example or test in the command must exist, and must be built with the features that the command names.
//! `cargo course` must have the commands and options that the page shows.
//!
//! Commands are: lines of code blocks that begin with `$ cargo`, lines of `sh` blocks that begin with
//! `cargo`, and code in the prose that begins with `cargo`.

use crate::book::pages::Page;
use crate::cli::Course;
use crate::exercises::catalogue;
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use clap::CommandFactory;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Cargo's commands that name no package, and the commands that a reader installs because a page says so.
const OTHERS: [&str; 12] = [
    "--version",
    "--help",
    "--list",
    "add",
    "clean",
    "fetch",
    "init",
    "install",
    "new",
    "tree",
    "update",
    "vendor",
];

/// The names that a command may contain: packages, programs, examples and tests.
pub(super) struct Commands {
    project: Metadata,
    /// The workspace of the comparisons, which a command names by [`BENCH`].
    bench: Metadata,
    exercises: Vec<String>,
    course: clap::Command,
}

/// The manifest of the comparisons, below the project's root.
const BENCH: &str = "bench/Cargo.toml";

#[derive(Deserialize, Default)]
struct Metadata {
    packages: Vec<Package>,
    #[serde(default)]
    workspace_default_members: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    /// The program that runs if the command names no program.
    default_run: Option<String>,
    targets: Vec<Target>,
    features: BTreeMap<String, Vec<String>>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    features: Vec<String>,
}

impl Package {
    fn has_by_default(&self, feature: &str) -> bool {
        self.features.get("default").is_some_and(|features| features.iter().any(|has| has == feature))
    }

    /// Returns whether a build of this package turns on the feature of the other package.
    fn asks_for(&self, other: &Package, feature: &str) -> bool {
        let is_it = |dependency: &&Dependency| dependency.name == other.name;
        self.dependencies.iter().filter(is_it).any(|it| it.features.iter().any(|asked| asked == feature))
    }
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

impl Metadata {
    fn of(workspace: &Workspace, manifest: &str) -> anyhow::Result<Self> {
        let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .args(["--manifest-path", manifest])
            .current_dir(workspace.root())
            .stdin(Stdio::null())
            .output()
            .context("cannot run cargo")?;
        ensure!(
            output.status.success(),
            "cargo cannot read the project's manifests: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).context("cargo's metadata is not as expected")
    }
}

impl Commands {
    /// Asks Cargo for the packages and their build targets.
    ///
    /// # Errors
    /// Returns an error if Cargo cannot read the project's manifests.
    pub(super) fn of(workspace: &Workspace) -> anyhow::Result<Self> {
        let project = Metadata::of(workspace, "Cargo.toml")?;
        // A learner's copy of the project may have no comparisons.
        let has_bench = workspace.root().join(BENCH).is_file();
        let bench = if has_bench { Metadata::of(workspace, BENCH)? } else { Metadata::default() };
        let exercises = catalogue::all(workspace).unwrap_or_default(); // a project may have no exercises
        let mut course = Course::command();
        course.build();
        Ok(Self {
            project,
            bench,
            exercises: exercises
                .into_iter()
                .flat_map(|exercise| [exercise.short().to_owned(), exercise.name])
                .collect(),
            course,
        })
    }

    /// Returns those commands of a page that cannot be run.
    pub(super) fn faults(&self, page: &Page) -> Vec<String> {
        let faults = commands(page).into_iter().filter_map(|(line, command)| {
            let fault = self.judge(&command).err()?;
            Some(page.fault(line, format_args!("`{command}`: {fault}")))
        });
        faults.collect()
    }

    fn judge(&self, command: &str) -> Result<(), String> {
        // Redirections, pipes and comments are for the shell, so they are ignored.
        let ends = |word: &&str| ["#", "|", "&&", ">", "2>", ">>", "…"].contains(word);
        let words: Vec<&str> = command.split_whitespace().skip(1).take_while(|word| !ends(word)).collect();
        let Some((&first, rest)) = words.split_first() else { return Ok(()) };
        match first {
            "course" => self.judge_course(rest),
            "run" | "test" | "build" | "check" | "clippy" | "doc" | "bench" | "fmt" => {
                self.judge_targets(first, rest)
            }
            other if OTHERS.contains(&other) => Ok(()),
            other => Err(format!("cargo has no command `{other}`")),
        }
    }

    /// Checks the commands and options of a `cargo course` line. The value of an option is checked only if
    /// the value must be an exercise.
    fn judge_course(&self, words: &[&str]) -> Result<(), String> {
        let mut command = &self.course;
        let mut words = words.iter();
        let mut positionals = command.get_positionals();
        while let Some(word) = words.next() {
            let (option, value) =
                word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
            if let Some(name) = option.strip_prefix("--") {
                let Some(argument) =
                    command.get_arguments().find(|argument| argument.get_long() == Some(name))
                else {
                    return Err(format!(
                        "`{}` has no option --{name}",
                        command.get_bin_name().unwrap_or_default()
                    ));
                };
                if argument.get_action().takes_values() && value.is_none() {
                    words.next();
                }
            } else if let Some(subcommand) = command.find_subcommand(word) {
                command = subcommand;
                positionals = command.get_positionals();
            } else {
                let name = command.get_bin_name().unwrap_or_default();
                let many = command
                    .get_positionals()
                    .last()
                    .is_some_and(|last| last.get_num_args().is_some_and(|n| n.max_values() > 1));
                let positional =
                    positionals.next().or_else(|| command.get_positionals().last().filter(|_| many));
                let Some(positional) = positional else {
                    return Err(format!("`{name}` has no command or argument `{word}`"));
                };
                self.judge_value(positional.get_id().as_str(), word)?;
            }
        }
        Ok(())
    }

    fn judge_value(&self, argument: &str, value: &str) -> Result<(), String> {
        let is_exercise = argument.starts_with("exercise");
        if is_exercise && !is_placeholder(value) && !self.exercises.iter().any(|known| known == value) {
            return Err(format!("there is no exercise `{value}`"));
        }
        Ok(())
    }

    fn judge_targets(&self, command: &str, words: &[&str]) -> Result<(), String> {
        let own = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        let words = &words[..own]; // the remaining arguments are for the program
        let value = |names: [&str; 2]| {
            let at = words.iter().position(|word| names.contains(word))?;
            words.get(at + 1).copied()
        };
        let workspace = match value(["--manifest-path", ""]) {
            None => &self.project,
            Some(BENCH) => &self.bench,
            Some(other) => return Err(format!("no command of the book needs `--manifest-path {other}`")),
        };
        let Metadata { packages: all, workspace_default_members: default_members } = workspace;
        let packages: Vec<&Package> = match value(["-p", "--package"]) {
            Some(name) if is_placeholder(name) => return Ok(()),
            Some(name) => {
                let package = all.iter().find(|package| package.name == name);
                vec![package.ok_or_else(|| format!("there is no package `{name}`"))?]
            }
            None if words.contains(&"--workspace") => all.iter().collect(),
            None => all.iter().filter(|package| default_members.contains(&package.id)).collect(),
        };
        let all_features = words.contains(&"--all-features");
        let features = value(["-F", "--features"]).unwrap_or_default();
        let is_on = |package: &Package, feature: &str| {
            let named = format!("{}/{feature}", package.name);
            all_features
                || features.split(',').any(|asked| asked == feature || asked == named)
                || package.has_by_default(feature)
                || packages.len() > 1 && packages.iter().any(|other| other.asks_for(package, feature))
        };
        let mut named = false;
        for kind in ["bin", "example", "test", "bench"] {
            if let Some(name) = value([&format!("--{kind}"), ""]) {
                named = true;
                judge_target(&packages, kind, name, is_on)?;
            }
        }
        if let [package] = packages[..]
            && named
            && !all_features
            && default_members.contains(&package.id)
        {
            return Err(format!(
                "without `-p {}` it is built as `cargo test` builds it, and not again",
                package.name
            ));
        }
        if command == "run" && !named {
            let is_program = |target: &&Target| target.kind.iter().any(|kind| kind == "bin");
            let programs = packages.iter().flat_map(|package| &package.targets).filter(is_program).count();
            let has_default = matches!(packages[..], [package] if package.default_run.is_some());
            if programs != 1 && !has_default {
                return Err(format!("it does not say which of {programs} programs to run"));
            }
        }
        Ok(())
    }
}

/// Checks that one of the packages has the target, and that the command turns on the features that the target
/// needs.
fn judge_target(
    packages: &[&Package],
    kind: &str,
    name: &str,
    is_on: impl Fn(&Package, &str) -> bool,
) -> Result<(), String> {
    let is_it = |target: &&Target| target.name == name && target.kind.iter().any(|of| of == kind);
    let found = packages.iter().find_map(|package| Some((package, package.targets.iter().find(is_it)?)));
    let (package, target) =
        found.ok_or_else(|| format!("there is no {kind} `{name}` in the packages it is looked for"))?;
    match target.required_features.iter().find(|feature| !is_on(package, feature)) {
        Some(feature) => Err(format!("{kind} `{name}` needs `--features {}/{feature}`", package.name)),
        None => Ok(()),
    }
}

/// The name `exNN` stands for any exercise.
fn is_placeholder(name: &str) -> bool {
    name.starts_with("exNN") || name.starts_with("[exNN")
}

/// Returns the commands on a page, each with its line.
fn commands(page: &Page) -> Vec<(usize, String)> {
    let mut prose = String::new();
    let mut found = Vec::new();
    for line in page.lines() {
        while prose.matches('\n').count() < line.number - 1 {
            prose.push('\n');
        }
        if line.block.is_none() {
            prose.push_str(line.text);
        } else {
            let text = line.text.trim();
            let typed = text.strip_prefix("$ ").or_else(|| (line.block == Some("sh")).then_some(text));
            if let Some(command) = typed.filter(|command| command.starts_with("cargo ")) {
                found.push((line.number, command.trim().to_owned()));
            }
        }
    }
    // Code in prose may begin on one line and end on the next line.
    let code = Regex::new(r"`(cargo\s[^`]*)`|<code>(cargo\s[^<]*)</code>").expect("a valid expression");
    for captures in code.captures_iter(&prose) {
        let whole = captures.get(1).or_else(|| captures.get(2)).expect("one of the two");
        let line = prose[..whole.start()].matches('\n').count() + 1;
        let command: Vec<&str> = whole.as_str().split_whitespace().collect();
        found.push((line, command.join(" ")));
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(command: &str) -> Result<(), String> {
        Commands::of(&Workspace::find().unwrap()).unwrap().judge(command)
    }

    #[test]
    fn commands_that_exist_are_accepted() {
        for command in [
            "cargo course",
            "cargo course --addr 127.0.0.1:9000",
            "cargo course check ex01 ex02 --json",
            "cargo course check exNN",
            "cargo course hint ex01 2",
            "cargo course wrong ex01 m01_if_for_while --runs 5",
            "cargo course book record --check pool_of_two.txt",
            "cargo test",
            "cargo test -p ex01-worker-pool --test model shutdown",
            "cargo test -p exNN-name",
            "cargo run --bin pooled -- --threads 2",
            "cargo run --example pool_of_two",
            "cargo run --example last_words", // the programs ask for the feature
            "cargo run --features task-execution/processes --example process_of_its_own",
            "cargo run -p crawler -- pills single", // the package's default program
            "cargo test -p task-execution --all-features --test uninterruptible",
            "cargo run -p exercises-proof # the table",
            "cargo run --release --manifest-path bench/Cargo.toml -p growth -- --svg target/growth.svg",
            "cargo --version",
        ] {
            assert_eq!(judge(command), Ok(()), "{command}");
        }
    }

    #[test]
    fn commands_that_do_not_exist_are_refused_with_the_reason() {
        for (command, reason) in [
            ("cargo course chekc ex01", "no command or argument `chekc`"),
            ("cargo course check ex77", "there is no exercise `ex77`"),
            ("cargo course check --jsn", "no option --jsn"),
            ("cargo course book", ""),
            ("cargo course book chek", "no command or argument `chek`"),
            ("cargo course doctor now", "no command or argument `now`"),
            ("cargo run --bin pooledd", "no bin `pooledd`"),
            ("cargo run -p servers --example pool_of_two", "no example `pool_of_two`"),
            ("cargo run -p servers", "which of"),
            ("cargo run --manifest-path bench/Cargo.toml -p servers", "no package `servers`"),
            ("cargo run --manifest-path other/Cargo.toml -p growth", "no command of the book"),
            ("cargo run --example process_of_its_own", "needs `--features task-execution/processes`"),
            ("cargo run -p task-execution --example last_words", "needs `--features task-execution/signals`"),
            (
                "cargo run -p task-execution --example pool_of_two",
                "without `-p task-execution` it is built as",
            ),
            ("cargo test -p executer", "no package `executer`"),
            ("cargo test -p ex01-worker-pool --test modell", "no test `modell`"),
            ("cargo bild", "cargo has no command `bild`"),
        ] {
            match judge(command) {
                Err(said) => assert!(!reason.is_empty() && said.contains(reason), "{command}: {said}"),
                Ok(()) => assert!(reason.is_empty(), "{command} is accepted"),
            }
        }
    }

    #[test]
    fn commands_are_found_in_blocks_and_in_prose_across_lines() {
        let text = "Type `cargo course\nnext`, not `git`.\n```console\n$ cargo test\ncargo no\n```\n<code>cargo run</code>\n```sh\n# Why.\ncargo fmt\n```\n";
        let page = Page { path: "page.md".into(), name: "page.md".into(), text: text.into() };
        let expected = [(1, "cargo course next"), (4, "cargo test"), (7, "cargo run"), (10, "cargo fmt")];
        assert_eq!(commands(&page), expected.map(|(line, command)| (line, command.to_owned())));
    }
}
