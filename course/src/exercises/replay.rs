//! Keeps the schedule on which the learner's answer last failed; a panel of the book shows this schedule step
//! by step.
//!
//! The file has the same format as the programs for `schedule`: a [`Graph`], in which each state has one
//! move. The server of the book sends the file, and nothing else reads it.

use crate::exercises::check::{Report, Verdict};
use crate::workspace::Workspace;
use anyhow::Context;
use exercises_protocol::graph::{End, FORMAT, Graph, Kind, Move, Player, Stand, State};
use exercises_protocol::schedule::{Action, Event, Schedule};
use exercises_protocol::{Exercise, Failure, told};
use serde::Serialize;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use tempfile::NamedTempFile;

/// The largest number of steps that are kept: if a schedule has more steps, its last steps and the decisive
/// step are kept.
const MOST_STEPS: usize = 200;

#[derive(Serialize)]
struct Replay<'a> {
    /// The learner's file.
    file: String,
    /// The likely cause of the failure.
    cause: &'a str,
    #[serde(flatten)]
    graph: Graph,
}

/// Returns the path of the kept schedule.
pub(crate) fn path(workspace: &Workspace) -> PathBuf {
    workspace.target().join("course/your-schedule.json")
}

/// Keeps the schedule of the first failure of a check, or removes the kept schedule if the answer is right.
/// The failures of a stub are not the learner's failures, so these failures change nothing.
pub(super) fn renew(workspace: &Workspace, exercise: &Exercise, report: &Report) -> anyhow::Result<()> {
    match (report.verdict, report.failures(exercise).first()) {
        (Verdict::Solved, _) => forget(workspace),
        (Verdict::Failed, Some((checked, _, failure))) if exercise.is_begun() => {
            keep(workspace, exercise, &checked.name, failure)
        }
        _ => Ok(()),
    }
}

fn keep(workspace: &Workspace, exercise: &Exercise, property: &str, failure: &Failure) -> anyhow::Result<()> {
    let graph = graph(format!("{}, {property}", exercise.name), failure);
    let replay = Replay { file: workspace.relative(&exercise.answer()), cause: &failure.cause, graph };
    let path = path(workspace);
    let write = || {
        let folder = path.with_file_name("");
        fs::create_dir_all(&folder)?;
        // A page may ask for the file at any moment, so the file must always be complete or absent.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(serde_json::to_string(&replay)?.as_bytes())?;
        file.persist(&path)?;
        anyhow::Ok(())
    };
    write().with_context(|| format!("cannot write the failed schedule to {}", path.display()))
}

fn forget(workspace: &Workspace) -> anyhow::Result<()> {
    let path = path(workspace);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn graph(title: String, failure: &Failure) -> Graph {
    let mut schedule = failure.schedule.clone();
    schedule.shorten(MOST_STEPS);
    let mut states = states(&schedule);
    if let Some(last) = states.last_mut() {
        last.end = Some(End { kind: Kind::BrokenPromise, text: failure.seen.clone() });
    }
    let player = |name: &String| Player { name: name.clone(), runs: String::new() };
    Graph {
        format: FORMAT,
        title,
        goal: failure.promise.clone(),
        breaks: Kind::BrokenPromise,
        listing: schedule.code.clone(),
        threads: schedule.threads.iter().map(|thread| player(&thread.name)).collect(),
        states,
    }
}

/// Returns the state before each event, and the state after the last one.
fn states(schedule: &Schedule) -> Vec<State> {
    let events = &schedule.events;
    let mut did = vec![(String::new(), None); schedule.threads.len()];
    let mut holders = Vec::new();
    let mut states = Vec::new();
    for n in 0..=events.len() {
        let stand = |(thread, (did, line)): (usize, &(String, Option<u32>))| {
            let next = events[n..].iter().find(|event| event.thread == thread);
            let at_the_end = || (schedule.threads[thread].end.clone(), *line);
            let (next, next_line) =
                next.map_or_else(at_the_end, |event| (words(schedule, event), event.line));
            Stand { did: did.clone(), line: *line, next, next_line }
        };
        let threads = did.iter().enumerate().map(stand).collect();
        let mut state = State { threads, holders: holders.clone(), moves: Vec::new(), end: None };
        if let Some(event @ Event { thread, line, .. }) = events.get(n) {
            let mut text = words(schedule, event);
            did[*thread] = (text.clone(), *line);
            if schedule.decisive == Some(n) {
                text.push_str(" (the decisive step)");
            }
            state.moves.push(Move { thread: *thread, to: n + 1, text, line: *line });
            hold(&mut holders, event);
        }
        states.push(state);
    }
    states
}

/// Records which thread holds which lock after an event.
fn hold(holders: &mut Vec<Option<usize>>, event: &Event) {
    let (lock, holder) = match event.action {
        Action::Lock(lock) | Action::Wake { lock, .. } => (lock, Some(event.thread)),
        Action::Unlock(lock) | Action::Wait { lock, .. } => (lock, None),
        _ => return,
    };
    holders.resize(holders.len().max(lock + 1), None);
    holders[lock] = holder;
}

/// Returns the action of a thread in words, and the threads that it wakes.
fn words(schedule: &Schedule, event: &Event) -> String {
    let words = told(schedule, &[Event { line: None, ..event.clone() }]);
    match &event.action {
        Action::Notify { woken, .. } if !woken.is_empty() => {
            let woken: Vec<&str> =
                woken.iter().map(|&thread| schedule.threads[thread].name.as_str()).collect();
            format!("{words}, wakes {}", woken.join(" and "))
        }
        _ if words.is_empty() => "waits".to_owned(),
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exercises_protocol::schedule::Thread;

    /// Returns a failure in which a worker checks its condition, then sleeps, and never ends although it is
    /// notified.
    fn failure() -> Failure {
        let event = |thread, action, line| Event { thread, action, line };
        let thread = |name: &str, end: &str| Thread { name: name.to_owned(), end: end.to_owned() };
        let events = vec![
            event(1, Action::Lock(0), Some(3)),
            event(0, Action::Want(0), Some(7)),
            event(1, Action::Wait { condvar: 0, lock: 0 }, Some(4)),
            event(0, Action::Lock(0), Some(7)),
            event(0, Action::Notify { condvar: 0, all: false, woken: vec![1] }, Some(8)),
            event(0, Action::Await(1), None),
        ];
        let schedule = Schedule {
            threads: vec![thread("the test", "waits for worker"), thread("worker", "waits at line 4")],
            events,
            decisive: Some(2),
            code: Vec::new(),
        };
        Failure::new("It ends.", "It does not end.", "A look too few.", schedule)
    }

    #[test]
    fn a_failed_schedule_is_a_graph_with_one_way() {
        let graph = graph("t".into(), &failure());
        let ways: Vec<usize> =
            graph.states.iter().flat_map(|state| &state.moves).map(|step| step.to).collect();
        assert_eq!(ways, [1, 2, 3, 4, 5, 6]);
        let texts: Vec<&str> =
            graph.states.iter().flat_map(|state| &state.moves).map(|step| step.text.as_str()).collect();
        let sleeps = "waits (the decisive step)";
        assert_eq!(texts, ["locks", "wants the lock", sleeps, "locks", "notify_one, wakes worker", "waits"]);
        let holders: Vec<_> =
            graph.states.iter().map(|state| state.holders.first().copied().flatten()).collect();
        assert_eq!(holders, [None, Some(1), Some(1), None, Some(0), Some(0), Some(0)]);
        let [first, .., last] = &graph.states[..] else { panic!("{graph:?}") };
        let stand = |stand: &Stand| (stand.did.clone(), stand.line, stand.next.clone(), stand.next_line);
        assert_eq!(stand(&first.threads[1]), (String::new(), None, "locks".into(), Some(3)));
        assert_eq!(stand(&last.threads[1]), ("waits".into(), Some(4), "waits at line 4".into(), Some(4)));
        let end = last.end.as_ref().unwrap();
        assert_eq!((end.kind, end.text.as_str()), (graph.breaks, "It does not end."));
    }

    #[test]
    fn a_failure_without_steps_is_its_own_end() {
        let failure = Failure::new("It ends.", "It panics.", "", Schedule::default());
        let graph = graph("t".into(), &failure);
        assert!(graph.states.len() == 1 && graph.states[0].end.is_some(), "{graph:?}");
    }
}
