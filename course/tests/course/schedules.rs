//! Tests the game in which the learner is the scheduler: moves on the command line, moves at a prompt,
//! and wrong moves.

use crate::fixture::{Project, stderr, stdout};
use exercises_protocol::graph::Graph;
use exercises_protocol::{Kinds, counted};
use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

fn play(project: &Project, moves: &str) -> Output {
    let arguments: Vec<&str> = ["schedule"].into_iter().chain(moves.split(' ')).collect();
    project.course(&arguments).output().unwrap()
}

/// Plays moves, expects an exit code, and returns the program's output.
fn played(project: &Project, moves: &str, code: i32) -> String {
    let output = play(project, moves);
    assert_eq!(output.status.code(), Some(code), "{moves}: {}{}", stdout(&output), stderr(&output));
    stdout(&output) + &stderr(&output)
}

fn is_remembered(project: &Project, name: &str) -> bool {
    let progress = fs::read_to_string(project.path("progress.txt")).unwrap_or_default();
    progress.lines().any(|line| line == format!("solved {name}"))
}

#[test]
fn moves_that_are_given_are_played_and_a_goal_that_is_reached_is_remembered() {
    let project = Project::with_programs();
    let text = played(&project, "schedule1 1 2", 0);
    assert!(
        text.contains("thread 2, submitter: inbox.put(job)") && text.contains("arrived.notify_one();"),
        "{text}"
    );
    assert!(
        text.contains("  1   worker     next: locks") && text.contains("  ·   submitter  has ended\n"),
        "{text}"
    );
    assert!(!is_remembered(&project, "schedule1"), "nothing has ended");
    let stuck = played(&project, "schedule1 1 2 1 1", 0);
    assert!(stuck.contains("No thread can go on: worker waits on a Condvar at line "), "{stuck}");
    assert!(stuck.contains("That is it, after 4 moves. The least is 4."), "{stuck}");
    assert!(is_remembered(&project, "schedule1"));
    // Without a name, the command begins the next program, which the list also shows as the next one.
    let next = stdout(&project.course(&["schedule"]).stdin(Stdio::null()).output().unwrap());
    assert!(next.starts_with("schedule2: "), "{next}");
    let list = stdout(&project.course(&["list"]).output().unwrap());
    let state = |name: &str| list.lines().any(|line| line.starts_with(name));
    assert!(state("solved  schedule1 ") && state("        schedule2 "), "{list}");
}

#[test]
fn another_end_is_not_the_goal() {
    let project = Project::with_programs();
    let text = played(&project, "schedule1 2 1", 1);
    assert!(text.contains("nothing went wrong.\nThat is not what was asked for, after 2 moves."), "{text}");
    assert!(!is_remembered(&project, "schedule1"));
}

#[test]
fn a_promise_that_was_kept_for_one_submitter_is_broken_for_the_other() {
    let project = Project::with_programs();
    let text = played(&project, "schedule3 1 1 1 1 1 2 2 1", 0);
    assert!(text.contains("All threads have ended, and job b was taken and has not run."), "{text}");
    assert!(is_remembered(&project, "schedule3"));
}

#[test]
fn two_locks_in_different_orders_are_a_deadlock() {
    let project = Project::with_programs();
    let early = played(&project, "schedule4 2 1 1 1 1 1 1", 1);
    assert!(
        early.contains("nothing went wrong.\nThat is not what was asked for"),
        "no money, no deadlock: {early}"
    );
    assert!(!is_remembered(&project, "schedule4"));
    let stuck = played(&project, "schedule4 1 1 1 1 2", 0);
    for waits in
        ["payer waits at line 21 for the lock that saver", "saver waits at line 21 for the lock that payer"]
    {
        assert!(stuck.contains(&format!("{waits} has held since line 17")), "{stuck}");
    }
    assert!(stuck.contains("That is it, after 5 moves. The least is 5."), "{stuck}");
    assert!(is_remembered(&project, "schedule4"));
}

#[test]
fn a_thread_that_can_wake_either_of_two_has_two_moves() {
    let project = Project::with_programs();
    let both = played(&project, "schedule2 1 1 2 2 3", 0);
    let woken =
        |who: &str| both.lines().filter(|line| line.ends_with(&format!(", wakes worker {who}"))).count();
    assert_eq!((woken("a"), woken("b")), (1, 1), "{both}");
    assert!(both.contains("  3a  submitter  next: notify_one") && both.contains("  3b  submitter"), "{both}");
    let second = played(&project, "schedule2 1 1 2 2 3 3b", 0);
    assert!(
        second.contains("  2   worker b   next: wakes up") && second.contains("  ·   worker a"),
        "{second}"
    );
    let either = played(&project, "schedule2 1 1 2 2 3 3", 2);
    assert!(either.contains("submitter can go on in several ways: 3a or 3b"), "{either}");
    let thief = played(&project, "schedule2 1 1 3 2 3 1", 0);
    assert!(
        thief.contains("The end: worker a panics: called `Option::unwrap()` on a `None` value."),
        "{thief}"
    );
    assert!(is_remembered(&project, "schedule2"));
}

#[test]
fn a_move_that_is_none_says_why() {
    let project = Project::with_programs();
    let waits = played(&project, "schedule1 1 1 2", 2);
    assert!(
        waits.contains("submitter cannot go on: it waits at line ") && waits.contains("that worker has held"),
        "{waits}"
    );
    assert!(played(&project, "schedule1 2 2", 2).contains("submitter cannot go on: it has ended"));
    for none in ["0", "3", "b", "one"] {
        let text = played(&project, &format!("schedule1 {none}"), 2);
        assert!(text.contains(&format!("`{none}` is no thread: there are 1 to 2")), "{text}");
    }
    assert!(played(&project, "schedule99", 2).contains("nothing called `schedule99`"));
}

#[test]
fn without_moves_it_asks_for_them() {
    let project = Project::with_programs();
    let mut child = project
        .course(&["schedule", "schedule1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // After the submitter's first move, the goal cannot be reached any more. So the test undoes two moves,
    // and then reaches the goal.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"?\n2\n?\nb\nb\n7\n1\n2\n1\n?\n1\n").unwrap();
    drop(stdin);
    let text = stdout(&child.wait_with_output().unwrap());
    let said = [
        "it takes 4 moves at least",
        "cannot be reached any more",
        "This is the beginning",
        "`7` is no thread",
        "it takes 1 move at least",
        "That is it, after 4 moves",
    ];
    let mut rest = text.as_str();
    for words in said {
        rest = rest.split_once(words).unwrap_or_else(|| panic!("no {words} in its place in {text}")).1;
    }
    assert!(is_remembered(&project, "schedule1"));
}

#[test]
fn a_game_that_nobody_ends_is_no_failure() {
    let project = Project::with_programs();
    for input in ["", "q\n1\n"] {
        let mut child = project
            .course(&["schedule", "schedule1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && !stdout(&output).contains("worker: locks"), "{}", stdout(&output));
    }
}

/// Plays each program along a shortest path to its goal.
#[test]
fn each_program_can_be_won_in_the_least_number_of_moves() {
    let project = Project::with_programs();
    let exercises = project.path("exercises");
    for program in Kinds::read(&exercises).unwrap().schedule {
        let json = fs::read_to_string(program.graph(&exercises)).unwrap();
        let graph: Graph = serde_json::from_str(&json).unwrap();
        let distances = graph.distances(program.breaks);
        let least = distances[0].unwrap();
        let (mut moves, mut at) = (vec![program.name.clone()], 0);
        for left in (0..least).rev() {
            let step = graph.states[at].moves.iter().find(|step| distances[step.to] == Some(left)).unwrap();
            let of_it = graph.states[at].moves.iter().filter(|other| other.thread == step.thread);
            let of_it: Vec<_> = of_it.collect();
            let letters = if of_it.len() > 1 { ["a", "b"].as_slice() } else { &[""] };
            let letter = letters[of_it.iter().position(|other| *other == step).unwrap()];
            moves.push(format!("{}{letter}", step.thread + 1));
            at = step.to;
        }
        let text = played(&project, &moves.join(" "), 0);
        let said = format!("That is it, after {}. The least is {least}.", counted(least, "move"));
        assert!(text.contains(&said), "{text}");
        assert!(is_remembered(&project, &program.name), "{}", program.name);
    }
}
