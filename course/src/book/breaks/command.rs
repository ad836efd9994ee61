//! `break`: does an experiment in a copy of the project.

use super::experiment::Experiment;
use super::{broken_copy, patch_of};
use crate::book::pages::Page;
use crate::book::recipes::{Recipes, Run, Server};
use crate::book::running::Runner;
use crate::cli::WrongUsage;
use crate::copy::Copy;
use crate::exercises::{Style, catalogue, say};
use crate::workspace::Workspace;
use anyhow::{Context, anyhow, ensure};
use exercises_protocol::paragraph;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process;

/// The name of the copy in the target directory.
const COPY: &str = "break";

/// Does an experiment of a page. Without a number, lists the experiments of the page; without a page, lists
/// the pages that have experiments.
///
/// # Errors
/// Returns an error if there is no such page or experiment, if its patch does not apply, or if its command
/// cannot be run.
pub fn break_it(workspace: &Workspace, page: Option<&str>, number: Option<usize>) -> anyhow::Result<()> {
    let pages = pages(workspace)?;
    let Some(page) = page else {
        say(&list(&pages));
        return Ok(());
    };
    let name = page.trim_end_matches(".md");
    let (_, experiments) =
        pages.iter().find(|(_, all)| all.iter().any(|it| it.page == name)).ok_or_else(|| {
            let names: Vec<&str> =
                pages.iter().map(|(_, experiments)| experiments[0].page.as_str()).collect();
            WrongUsage::of(anyhow!("no page `{name}` has experiments. These have:\n  {}", names.join("\n  ")))
        })?;
    let Some(number) = number else {
        for experiment in experiments {
            say(&format!(
                "{}\n{}\n",
                Style::of_stdout().strong(&experiment.command()),
                told(&experiment.question)
            ));
        }
        return Ok(());
    };
    let experiment = experiments.iter().find(|it| it.number == number).ok_or_else(|| {
        WrongUsage::of(anyhow!("{name} has no experiment {number}: it has 1 to {}", experiments.len()))
    })?;
    perform(workspace, experiment)
}

/// Returns the titles of the pages that have experiments, in the order of the book, with the experiments.
fn pages(workspace: &Workspace) -> anyhow::Result<Vec<(String, Vec<Experiment>)>> {
    let sources = workspace.book().join("src");
    let contents = catalogue::contents(workspace);
    let mut pages = Vec::new();
    for entry in (0..).map_while(|place| contents.page(place)) {
        let path = sources.join(&entry.name);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let experiments = Experiment::all(&Page { path, name: entry.name.clone(), text });
        if !experiments.is_empty() {
            pages.push((entry.title.replace('*', ""), experiments));
        }
    }
    Ok(pages)
}

fn list(pages: &[(String, Vec<Experiment>)]) -> String {
    let mut text = String::new();
    for (title, experiments) in pages {
        let page = &experiments[0].page;
        let numbers = if experiments.len() == 1 { "1".into() } else { format!("1 to {}", experiments.len()) };
        let _ = writeln!(text, "{page:40} {numbers:7} {title}");
    }
    text.push_str("\nOne of them: cargo course break PAGE NUMBER\n");
    text
}

fn perform(workspace: &Workspace, experiment: &Experiment) -> anyhow::Result<()> {
    let style = Style::of_stdout();
    say(&format!("{}\n{}\n", style.strong(&experiment.command()), told(&experiment.question)));
    let sources = workspace.book().join("src");
    let name = experiment.name();
    let _alone = alone(workspace)?;
    let copy = broken_copy(workspace, &name, COPY)?;
    let prediction = ask();
    if copy.is_some() {
        say(&format!("{}\n", difference(&patch_of(&sources, &name), style)?));
    }
    run(copy.as_ref().map_or(workspace, Copy::workspace), &sources, &name)?;
    if let Some(prediction) = prediction {
        say(&format!("\n{}\n{}", style.strong("You predicted"), told(&prediction)));
    }
    say(&format!("\n{}\n{}", style.strong("What you should see"), told(&experiment.answer)));
    Ok(())
}

/// Makes sure that only one process uses the copy, and that a signal which ends the process also removes the
/// copy. If the copy remained, Cargo would mistake the builds of the copy for builds of the project.
fn alone(workspace: &Workspace) -> anyhow::Result<File> {
    let target = workspace.target();
    let path = target.join("break.lock");
    let cannot_write = || format!("cannot write {}", path.display());
    fs::create_dir_all(&target).with_context(cannot_write)?;
    let lock = File::create(&path).with_context(cannot_write)?;
    ensure!(lock.try_lock().is_ok(), "another `cargo course break` is at work; one at a time");
    command_line::on_signals(move |status| {
        let _ = fs::remove_dir_all(target.join(COPY)); // there may be no copy
        process::exit(status);
    })?;
    Ok(lock)
}

/// Asks the reader for a prediction, if there is a reader.
fn ask() -> Option<String> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return None;
    }
    say("What do you predict? (Enter goes on) ");
    let mut line = String::new();
    io::stdin().read_line(&mut line).ok()?;
    say("\n");
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Runs the recipe of an experiment, and shows the output.
fn run(place: &Workspace, sources: &Path, name: &str) -> anyhow::Result<()> {
    let runner = Runner::in_project(place).shown_by(&say);
    let is_it = |breaks: &Option<String>| breaks.as_deref() == Some(name);
    let mut reason = None;
    for folder in Recipes::FOLDERS {
        let recipes = Recipes::read(sources, folder)?;
        if let Some(Run { command, .. }) = recipes.run.iter().find(|run| is_it(&run.breaks)) {
            eprintln!("building what has changed");
            return runner.run(command).map(drop);
        }
        if let Some(server) = recipes.server.iter().find(|server: &&Server| is_it(&server.breaks)) {
            eprintln!("building what has changed");
            return runner.serve(server).map(drop);
        }
        reason = reason.or_else(|| recipes.by_hand.into_iter().find(|it| it.breaks == name));
    }
    let reason = reason.map_or_else(String::new, |it| format!(": {}", it.reason));
    say(&format!("The course cannot run this experiment for you{reason}.\n"));
    Ok(())
}

/// Returns the changes of a patch: the files, and their lines in colours.
fn difference(patch: &Path, style: Style) -> anyhow::Result<String> {
    let patch = fs::read_to_string(patch).with_context(|| format!("cannot read {}", patch.display()))?;
    let mut text = String::new();
    for line in patch.lines() {
        let shown = match line.as_bytes() {
            [b'd' | b'i' | b'#', ..] | [b'-', b'-', b'-', b' ', ..] => continue,
            [b'+', b'+', b'+', b' ', ..] => style.strong(line.trim_start_matches("+++ b/")),
            [b'@', ..] => "…".to_owned(),
            [b'-', ..] => style.bad(line),
            [b'+', ..] => style.good(line),
            _ => line.to_owned(),
        };
        let _ = writeln!(text, "{shown}");
    }
    Ok(text)
}

/// Lays out text for the terminal.
fn told(text: &str) -> String {
    text.lines().map(|line| paragraph("", line)).collect()
}
