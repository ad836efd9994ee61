//! Records the graphs of the programs in which a learner is the scheduler, and checks these graphs.

use std::fs;

use anyhow::{Context, bail, ensure};
use exercises_harness::model::SCHEDULES;
use exercises_harness::model::graph::{Scene, record, text, walk};
use exercises_protocol::Kinds;
use exercises_protocol::graph::{Code, FORMAT, Graph, Kind, Program, State};

use crate::{built, folder};

/// Records the graph of each program, or of the programs of one exercise, and writes the files of these
/// graphs. Returns the programs' names; if no program belongs to that exercise, there are none.
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

/// Returns the graph of a program as text. First checks three things: the goal can be reached, a random walk
/// also reaches the nearest goal, and no run with the solution fails.
fn proven(program: &Program) -> anyhow::Result<String> {
    let wrong = scene(program, exercises_proof_model::SCENES)?;
    let graph = Graph { listing: program.listing(wrong.source)?, ..recorded(program, wrong)? };
    let right = recorded(program, scene(program, exercises_proof_solutions::SCENES)?)?;
    for state in &right.states {
        if let Some(end) = state.end.as_ref().filter(|end| end.kind != Kind::Ended) {
            bail!("{}: the solution can be broken, too: {}", program.name, end.text);
        }
    }
    ensure!(
        is_reached_by_chance(wrong, &graph)?,
        "{}: no random walk comes to the nearest goal",
        program.name
    );
    let is_shown = |line: u32| graph.listing.iter().any(|shown| shown.number == line);
    for step in graph.states.iter().flat_map(|state| &state.moves) {
        ensure!(step.line.is_none_or(is_shown), "{}: `{}` is not in its listing", program.name, step.text);
    }
    Ok(text(&graph))
}

/// Returns true if a random walk reaches the nearest goal. The walk gets a changed graph in which the goal is
/// not an end of the program. So the walk stops with an error when the program ends at the goal.
fn is_reached_by_chance(scene: &Scene, graph: &Graph) -> anyhow::Result<bool> {
    let is_goal = |state: &State| state.end.as_ref().is_some_and(|end| end.kind == graph.breaks);
    let nearest = graph.states.iter().position(is_goal); // the states are in the order of their distance
    let nearest = nearest.with_context(|| format!("{}: the goal cannot be reached", scene.name))?;
    let mut denied = graph.clone();
    denied.states[nearest].end = None;
    Ok(walk(scene, &denied, steps(graph)).is_err())
}

/// Returns the number of steps of a random walk. A walk has [`SCHEDULES`] different runs, and each run has at
/// least as many steps as the shortest run.
fn steps(graph: &Graph) -> usize {
    let kinds = [Kind::Ended, Kind::Deadlock, Kind::BrokenPromise, Kind::Panic];
    let shortest = kinds.into_iter().filter_map(|kind| graph.distances(kind)[0]).min().unwrap_or(1);
    shortest * (SCHEDULES - 1)
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
    walk(scene, &graph, steps(&graph)).map_err(anyhow::Error::msg)?;
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the comparison with the program finds each kind of mistake in a graph.
    #[test]
    fn a_graph_that_was_changed_by_hand_is_noticed() {
        let program = of(Some("schedule4")).unwrap().remove(0);
        let scene = scene(&program, exercises_proof_model::SCENES).unwrap();
        let graph = recorded(&program, scene).unwrap();
        let walked = |change: &dyn Fn(&mut Vec<State>)| {
            let mut changed = graph.clone();
            change(&mut changed.states);
            walk(scene, &changed, steps(&graph))
        };
        assert_eq!(walked(&|_| ()), Ok(()));
        let ends: Vec<usize> =
            (0..graph.states.len()).filter(|&state| graph.states[state].end.is_some()).collect();
        for number in 0..graph.states.len() {
            let what = format!("state {number} is changed");
            if ends.contains(&number) {
                walked(&|states| states[number].end = None).expect_err(&what);
                let text = "all is well".to_owned();
                walked(&|states| states[number].end.as_mut().unwrap().text.clone_from(&text))
                    .expect_err(&what);
            }
            for step in 0..graph.states[number].moves.len() {
                walked(&|states| drop(states[number].moves.remove(step))).expect_err(&what);
                walked(&|states| states[number].moves[step].text.push_str(", unlocks")).expect_err(&what);
                walked(&|states| states[number].moves[step].to = number).expect_err(&what);
            }
        }
        let nowhere = |graph: &Graph| {
            let mut graph = graph.clone();
            graph.states.iter_mut().flat_map(|state| &mut state.end).for_each(|end| end.kind = Kind::Ended);
            is_reached_by_chance(scene, &graph)
        };
        assert!(is_reached_by_chance(scene, &graph).unwrap());
        assert!(format!("{:#}", nowhere(&graph).unwrap_err()).contains("cannot be reached"));
    }
}
