//! Records the graphs in which a learner plays the scheduler, and checks these graphs.

use std::fs;

use anyhow::{Context, bail, ensure};
use exercises_harness::model::graph::{Scene, record, text, walk};
use exercises_protocol::Kinds;
use exercises_protocol::graph::{Code, FORMAT, Graph, Kind, Program};

use crate::{built, folder};

/// The number of steps of a random walk.
const STEPS: usize = 1_000;

/// Records the graph of each program, or of the programs of one exercise, and writes the files of these
/// graphs. Returns the programs' names: there are none if no program is from that exercise.
///
/// # Errors
/// Returns an error if a graph is wrong.
pub fn write_graphs(wanted: Option<&str>) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    for program in of(wanted)? {
        let path = program.graph(&folder());
        fs::write(&path, proven(&program)?).with_context(|| format!("cannot write {}", path.display()))?;
        written.push(program.name);
    }
    Ok(written)
}

/// Returns the mistakes in the graphs of the programs that are built.
///
/// # Errors
/// Returns an error if the list of programs cannot be read.
pub fn graph_mistakes() -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    let built = built()?;
    let is_built = |code: &Code| built.iter().any(|built| built.name.starts_with(&code.exercise));
    for program in of(None)?.iter().filter(|program| program.code.as_ref().is_none_or(is_built)) {
        let path = program.graph(&folder());
        match proven(program) {
            Err(error) => mistakes.push(format!("{error:#}")),
            Ok(text) if fs::read_to_string(&path).ok().as_ref() != Some(&text) => mistakes.push(format!(
                "{} is not what was recorded: cargo run -p exercises-proof -- --graphs",
                path.display()
            )),
            Ok(_) => {}
        }
    }
    Ok(mistakes)
}

fn of(wanted: Option<&str>) -> anyhow::Result<Vec<Program>> {
    let mut programs = Kinds::read(&folder())?.schedule;
    let is_from = |program: &Program, wanted: &str| match &program.code {
        Some(code) => wanted.starts_with(&code.exercise),
        None => wanted == program.name,
    };
    programs.retain(|program| wanted.is_none_or(|wanted| is_from(program, wanted)));
    Ok(programs)
}

/// Returns the graph of a program as text, after checking that the goal can be reached, and that no run fails
/// with the solution.
fn proven(program: &Program) -> anyhow::Result<String> {
    let wrong = scene(program, exercises_proof_model::SCENES)?;
    let graph = Graph { listing: program.listing(wrong.source)?, ..recorded(program, wrong)? };
    let right = recorded(program, scene(program, exercises_proof_solutions::SCENES)?)?;
    for state in &right.states {
        if let Some(end) = state.end.as_ref().filter(|end| end.kind != Kind::Ended) {
            bail!("{}: the solution can be broken, too: {}", program.name, end.text);
        }
    }
    ensure!(graph.distances(program.breaks)[0].is_some(), "{}: the goal cannot be reached", program.name);
    let is_shown = |line: u32| graph.listing.iter().any(|shown| shown.number == line);
    for step in graph.states.iter().flat_map(|state| &state.moves) {
        ensure!(step.line.is_none_or(is_shown), "{}: `{}` is not in its listing", program.name, step.text);
    }
    Ok(text(&graph))
}

fn scene<'a>(program: &Program, scenes: &'a [Scene]) -> anyhow::Result<&'a Scene> {
    let scene = scenes.iter().find(|scene| scene.name == program.name);
    scene.with_context(|| format!("{} has not been built: it is from {:?}", program.name, program.code))
}

/// Returns the graph of a scene, without a listing, after comparing the graph with a random walk.
fn recorded(program: &Program, scene: &Scene) -> anyhow::Result<Graph> {
    let Program { title, goal, breaks, .. } = program;
    let (threads, states) = record(scene);
    let graph = Graph {
        format: FORMAT,
        title: title.clone(),
        goal: goal.clone(),
        breaks: *breaks,
        listing: Vec::new(),
        threads,
        states,
    };
    walk(scene, &graph, STEPS).map_err(anyhow::Error::msg)?;
    Ok(graph)
}
