//! Stages that the command starts itself. Cargo and the stages are stand-ins: what they would do takes minutes.

use super::{Serving, finished, started};
use crate::fixture::{Project, stderr, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

const DONE: &str = "exit 0";

struct Stages {
    project: Project,
}

impl Stages {
    fn new(cargo: &str) -> Stages {
        let stages = Stages { project: Project::new() };
        stages.script("cargo", &format!("echo \"$@\" > {}\n{cargo}", stages.path("asked")));
        stages
    }

    fn path(&self, path: &str) -> String {
        self.project.path(path).to_str().unwrap().to_owned()
    }

    fn script(&self, path: &str, text: &str) {
        self.project.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.project.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn stage(&self, name: &str, text: &str) {
        self.project.write(&format!("servers/src/bin/{name}.rs"), "");
        self.script(&format!("target/release/{name}"), text);
    }

    /// A stage that is in truth a server of the test.
    fn serving(&self, name: &str, serving: &Serving) {
        let (process, flags) = (self.path(&format!("{name}.process")), self.path(&format!("{name}.flags")));
        let address = format!("echo listening on http://{}/", serving.addr);
        self.stage(name, &format!("echo $$ > {process}\necho \"$@\" > {flags}\n{address}\nexec sleep 600"));
    }

    fn load(&self, arguments: &[&str]) -> Output {
        let arguments = [&["load"], arguments].concat();
        finished(started(self.project.course(&arguments).env("CARGO", self.path("cargo"))))
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project.path(path)).unwrap().trim().to_owned()
    }
}

#[test]
fn stages_are_started_one_after_the_other_compared_and_ended() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    stages.serving("one", &serving);
    stages.serving("two", &serving);
    let picture = stages.path("compared.svg");
    let output = stages.load(&[
        "--stages",
        "one,two",
        "--threads",
        "7",
        "--path",
        "/counted",
        "-n",
        "20",
        "--svg",
        &picture,
    ]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(serving.count(), 40, "{text}");
    for start in ["stage", "one", "two"] {
        assert!(text.lines().any(|line| line.starts_with(start)), "{text}");
    }
    assert!(stages.read("asked").ends_with("--bin one --bin two"), "{}", stages.read("asked"));
    assert_eq!(stages.read("one.flags"), "--addr 127.0.0.1:0 --quiet --threads 7");
    for process in ["one.process", "two.process"] {
        let alive =
            Command::new("sh").args(["-c", &format!("kill -0 {}", stages.read(process))]).output().unwrap();
        assert!(!alive.status.success(), "{process} goes on");
    }
    let picture = stages.read("compared.svg");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>"), "{picture}");
    assert!(picture.contains(">one</text>") && picture.contains(">two</text>"), "{picture}");
    assert!(picture.contains("prefers-color-scheme: dark"));
}

#[test]
fn a_stage_that_cannot_be_built_or_started_is_told_with_the_reason() {
    let stages = Stages::new("exit 1");
    stages.stage("one", DONE);
    let output = stages.load(&["--stages", "one"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("could not be built"), "{}", stderr(&output));

    let stages = Stages::new(DONE);
    stages.stage("one", "echo no room left >&2; exit 1");
    let output = stages.load(&["--stages", "one"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no room left"), "{}", stderr(&output));
}

#[test]
fn a_stage_that_dies_of_the_load_is_told() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    stages.stage("one", &format!("echo listening on http://{}/\nexit 7", serving.addr));
    let output = stages.load(&["--stages", "one", "--path", "/counted", "--rate", "10", "-n", "10"]);
    assert!(stdout(&output).contains("the stage ended by itself"), "{}", stdout(&output));
}
