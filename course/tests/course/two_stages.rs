//! Tests a long exercise with two stages: its first check, the end of the first stage, and a later failure in
//! the first stage. These tests use stand-ins for Cargo and for the test program, because the real programs
//! need a compiler.

use crate::fixture::{Project, stdout};
use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Exercise, Failure, State};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const NAME: &str = "ex22-bounded-acceptor";

struct Learner {
    project: Project,
    exercise: Exercise,
}

impl Learner {
    /// Makes a learner who has solved all other exercises, and has begun the exercise with two stages.
    fn new() -> Self {
        let project = Project::with_exercises();
        let exercises = exercises_protocol::all(&project.path("exercises")).unwrap();
        let others = exercises.iter().filter(|exercise| exercise.name != NAME);
        let solved: Vec<_> = others.map(|exercise| format!("solved {}\n", exercise.name)).collect();
        project.write("progress.txt", &solved.concat());
        project.write(&format!("exercises/{NAME}/src/exercise.rs"), "// begun\n");
        let learner =
            Self { exercise: Exercise::read(project.path(&format!("exercises/{NAME}"))).unwrap(), project };
        let program = learner.path("program");
        let built = format!(r#"{{"target":{{"kind":["test"]}},"executable":"{program}"}}"#);
        learner.script("cargo", &format!("echo '{built}'"));
        learner.script("program", &format!("cp {}/* \"$EXERCISE_TRACE\"", learner.path("states")));
        learner
    }

    fn path(&self, path: &str) -> String {
        self.project.path(path).to_str().unwrap().to_owned()
    }

    fn script(&self, path: &str, text: &str) {
        self.project.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.project.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> String {
        let mut command = self.project.course(arguments);
        stdout(&command.env("CARGO", self.path("cargo")).output().unwrap())
    }

    /// Checks an answer in which the last `broken` properties of each stage fail.
    fn check(&self, broken: [usize; 2], more: &[&str]) -> String {
        for (stage, broken) in [1, 2].into_iter().zip(broken) {
            let properties: Vec<_> =
                self.exercise.properties.iter().filter(|property| property.stage == stage).collect();
            for (n, property) in properties.iter().enumerate() {
                let state = if n + broken < properties.len() {
                    State::Held
                } else {
                    State::Failed(Box::new(Failure::new(
                        &property.promise,
                        "it broke",
                        "why",
                        Schedule::default(),
                    )))
                };
                let json = serde_json::to_string(&state).unwrap();
                self.project.write(&format!("states/{}.json", property.name), &json);
            }
        }
        self.run(&[&["check", "ex22"], more].concat())
    }

    /// Returns the lines of the progress file about the stages.
    fn remembered(&self) -> Vec<String> {
        let progress = fs::read_to_string(self.project.path("progress.txt")).unwrap();
        progress.lines().filter(|line| line.starts_with("stage ")).map(str::to_owned).collect()
    }

    /// Returns two lines of the list: the line of the exercise, and the first line below it.
    fn listed(&self) -> [String; 2] {
        let list = self.run(&["list"]);
        let mut lines =
            list.lines().skip_while(|line| !line.contains(NAME)).map(|line| line.trim().to_owned());
        [lines.next().unwrap(), lines.next().unwrap()]
    }

    fn state(&self) -> String {
        let list: serde_json::Value = serde_json::from_str(&self.run(&["list", "--json"])).unwrap();
        let exercises = list["exercises"].as_array().unwrap();
        let listed = exercises.iter().find(|listed| listed["name"] == NAME).unwrap();
        listed["state"].as_str().unwrap().to_owned()
    }

    fn next(&self) -> String {
        self.run(&["next"]).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

const DONE: &str = "The first stage is done: all of its properties hold.";

#[test]
fn a_check_says_how_far_each_stage_is_and_when_the_first_is_done() {
    let learner = Learner::new();
    let asks = learner.exercise.second_stage.clone().unwrap();
    let text = learner.check([3, 9], &[]);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words} in {text}"));
    assert!(place("\nstage 1: 6 of 9 properties\n") < place("  holds  clients_are_handed_to_the_executor"));
    assert!(place("  holds  an_accept_that_fails_takes_no_place") < place("\nstage 2: 0 of 9 properties\n"));
    assert!(place("\nstage 2: ") < place("  FAILS  whom_the_executor_refuses_is_refused"), "{text}");
    assert!(!text.contains(DONE) && !text.contains(&asks), "{text}");
    let text = learner.check([0, 9], &[]);
    assert!(text.contains("\nstage 1: 9 of 9 properties\n"), "{text}");
    assert!(text.contains(&format!("\n{DONE}\n  {asks}\n\nproperty  ")), "{text}");
    let text = learner.check([1, 0], &[]);
    assert!(!text.contains(DONE) && text.contains("\nstage 2: 9 of 9 properties\n"), "{text}");
}

#[test]
fn the_list_and_next_say_what_the_last_check_found() {
    let learner = Learner::new();
    let asks = learner.exercise.second_stage.clone().unwrap();
    let title = &learner.exercise.title;
    let first = |found| format!("{NAME}, stage 1 of 2: {title} stage 1 {found} of 9 properties where ");
    let second = format!("{NAME}, stage 2 of 2: {title} stage 2 {asks} where ");
    for (broken, state, found, next) in [
        (None, "begun", 0, &first(0)),
        (Some([3, 9]), "begun", 6, &first(6)),
        (Some([0, 7]), "stage 1", 9, &second),
        (Some([0, 7]), "stage 1", 9, &second),
        (Some([2, 1]), "begun", 7, &first(7)),
    ] {
        broken.map(|broken| learner.check(broken, &[]));
        assert_eq!(learner.state(), state, "{broken:?}");
        let [line, below] = learner.listed();
        assert!(line.starts_with(&state.replace(' ', "")), "{broken:?}: {line}");
        assert_eq!(below, format!("stage 1: {found} of 9 properties"), "{broken:?}");
        assert!(learner.next().starts_with(next), "{broken:?}: {}", learner.next());
    }
    assert_eq!(learner.remembered(), ["6", "9", "7"].map(|found| format!("stage {NAME} {found}")));
}

#[test]
fn a_check_for_machines_remembers_the_stage_and_names_the_stage_of_each_property() {
    let learner = Learner::new();
    let report: serde_json::Value = serde_json::from_str(&learner.check([0, 1], &["--json"])).unwrap();
    let properties = report["exercises"][0]["properties"].as_array().unwrap();
    let of = |stage| properties.iter().filter(|property| property["stage"] == stage).count();
    assert_eq!((of(1), of(2)), (9, 9), "{report:#}");
    assert_eq!((learner.state(), learner.remembered()), ("stage 1".into(), vec![format!("stage {NAME} 9")]));
}

#[test]
fn what_is_solved_new_or_begun_again_is_at_no_stage() {
    let learner = Learner::new();
    learner.check([0, 1], &[]);
    assert_eq!(learner.state(), "stage 1");
    learner.run(&["reset", "ex22"]);
    assert_eq!(learner.state(), "new");
    assert!(learner.listed()[1].starts_with("needs "), "{:?}", learner.listed());
    assert!(learner.next().starts_with(&format!("{NAME}, stage 1 of 2: ")), "{}", learner.next());
    learner.check([0, 1], &[]);
    assert_eq!(learner.state(), "new", "a stub that holds is no answer");
    learner.project.write(&format!("exercises/{NAME}/src/exercise.rs"), "// begun\n");
    assert_eq!(learner.state(), "begun", "what was done before the reset is forgotten");
    learner.check([0, 0], &[]);
    assert_eq!(learner.state(), "solved");
}
