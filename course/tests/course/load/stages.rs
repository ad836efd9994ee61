//! Tests the stages that `cargo course load` itself starts. These tests use stand-ins for Cargo and for
//! the stages, because the real programs would take minutes.

use super::{DEADLINE, Serving, finished, started};
use crate::fixture::{Project, stderr, stdout};
use std::fs;
use std::iter;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

pub(super) const DONE: &str = "exit 0";

pub(super) struct Stages {
    pub(super) project: Project,
}

impl Stages {
    pub(super) fn new(cargo: &str) -> Stages {
        let stages = Stages { project: Project::new() };
        stages.script("cargo", &format!("echo \"$@\" > {}\n{cargo}", stages.path("asked")));
        stages
    }

    pub(super) fn path(&self, path: &str) -> String {
        self.project.path(path).to_str().unwrap().to_owned()
    }

    fn script(&self, path: &str, text: &str) {
        self.project.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.project.path(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(super) fn stage(&self, name: &str, text: &str) {
        self.project.write(&format!("servers/src/bin/{name}.rs"), "");
        self.script(&format!("target/release/{name}"), text);
    }

    /// Makes a stage that prints the address of a server in the test.
    fn serving(&self, name: &str, serving: &Serving) {
        let (process, flags) = (self.path(&format!("{name}.process")), self.path(&format!("{name}.flags")));
        let address = format!("echo listening on http://{}/", serving.addr);
        self.stage(name, &format!("echo $$ > {process}\necho \"$@\" > {flags}\n{address}\nexec sleep 600"));
    }

    pub(super) fn load(&self, arguments: &[&str]) -> Output {
        finished(self.start_load(arguments))
    }

    fn start_load(&self, arguments: &[&str]) -> Child {
        let arguments = [&["load"], arguments].concat();
        started(self.project.course(&arguments).env("CARGO", self.path("cargo")))
    }

    /// Returns whether the process whose number is in the file is still running.
    fn is_alive(&self, file: &str) -> bool {
        signal("0", &self.read(file))
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project.path(path)).unwrap().trim().to_owned()
    }
}

/// Sends a signal to the process. Returns whether the process exists.
fn signal(signal: &str, process: &str) -> bool {
    let command = format!("kill -{signal} {process}");
    Command::new("sh").args(["-c", &command]).output().unwrap().status.success()
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
        assert!(!stages.is_alive(process), "{process} goes on");
    }
    let picture = stages.read("compared.svg");
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>"), "{picture}");
    assert!(picture.contains(">one</text>") && picture.contains(">two</text>"), "{picture}");
    assert!(picture.contains("prefers-color-scheme: dark"));
}

#[test]
fn several_numbers_of_connections_are_a_table_and_curves() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    stages.serving("one", &serving);
    stages.serving("two", &serving);
    let picture = stages.path("curves.svg");
    let load = ["--stages", "one,two", "--path", "/counted", "-n", "20", "-c", "1,3,9", "--svg", &picture];
    let output = stages.load(&load);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(serving.count(), 2 * 3 * 20, "{text}");
    let rows = |name| {
        let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|row| row.first() == Some(&name)).map(|row| row[1].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((rows("one"), rows("two")), (rows("two"), vec!["1".into(), "3".into(), "9".into()]), "{text}");
    assert!(text.contains("measured on ") && text.contains(" processors"), "{text}");
    let picture = stages.read("curves.svg");
    // The picture has panels for throughput and latency, and also for memory if the system reports it.
    // The curve has a point for each number.
    let panels = if cfg!(target_os = "linux") { 3 } else { 2 };
    assert_eq!(picture.matches("<polyline ").count(), 2 * panels, "{picture}");
    assert_eq!(picture.matches("<circle ").count(), 2 * 3 * panels, "{picture}");
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
    assert!(picture.contains("measured on "));
}

#[test]
fn several_rates_are_a_table_and_curves_too() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    stages.serving("one", &serving);
    let picture = stages.path("rates.svg");
    let load =
        ["--stages", "one", "--path", "/counted", "-n", "20", "-c", "3", "-r", "200,400", "--svg", &picture];
    let output = stages.load(&load);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(serving.count(), 2 * 20, "{text}");
    assert!(text.starts_with("3 connections, kept alive, 200, 400 requests a second\n"), "{text}");
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let rates = rows.filter(|row| row.first() == Some(&"one")).map(|row| row[1].to_owned());
    assert_eq!(rates.collect::<Vec<_>>(), ["200", "400"], "{text}");
    let picture = stages.read("rates.svg");
    assert!(picture.contains(">requests a second</text>") && picture.contains("not sent, %"), "{picture}");
    assert_eq!(picture.matches("<circle ").count(), 2 * 3, "{picture}");
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn a_stage_may_have_flags_of_its_own() {
    let (serving, stages) = (Serving::start(), Stages::new(DONE));
    stages.serving("one", &serving);
    let output =
        stages.load(&["--stages", "one,one:--policy=block:--queue=5", "--path", "/counted", "-n", "5"]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stages.read("asked").ends_with("--bin one"), "{}", stages.read("asked"));
    assert_eq!(stages.read("one.flags"), "--addr 127.0.0.1:0 --quiet --policy=block --queue=5");
    assert!(text.lines().any(|line| line.starts_with("one --policy=block --queue=5  ")), "{text}");
}

#[cfg(debug_assertions)] // an optimised program does not hand over
mod handing_over {
    use super::*;

    impl Stages {
        /// Starts the program as `cargo course load` does.
        fn start_as_typed(&self, arguments: &[&str]) -> Child {
            let arguments = [&["load"], arguments].concat();
            let mut command = self.project.course(&arguments);
            started(command.env("CARGO", self.path("cargo")).env_remove(course::load::AS_BUILT))
        }
    }

    #[test]
    fn the_optimised_program_takes_over_with_arguments_process_and_exit_status() {
        let (serving, stages) = (Serving::start(), Stages::new(DONE));
        let url = format!("http://{}/", serving.addr);
        stages.script("target/release/course", "echo $$ $COURSE_LOAD_AS_BUILT \"$@\"; exit 7");
        let load = stages.start_as_typed(&[&url, "--svg", "some picture"]);
        let process = load.id();
        let output = finished(load);
        assert_eq!(output.status.code(), Some(7));
        let said = stdout(&output);
        assert!(said.starts_with(&format!("{process} 1 load {url} --svg some picture ")), "{said}");
        assert!(stages.read("asked").starts_with("build --release --package course --no-default-features"));
        assert!(!stderr(&output).contains("Compiling an optimised client"), "it was there");
    }

    #[test]
    fn what_cannot_be_built_is_told_and_what_needs_no_client_is_told_first() {
        let stages = Stages::new("exit 1");
        for (url, said) in [
            ("ftp://127.0.0.1/", "only http://"),
            ("http://127.0.0.1:1/", "nothing answers at http://127.0.0.1:1/"),
        ] {
            let output = finished(stages.start_as_typed(&[url]));
            assert_eq!(output.status.code(), Some(1));
            assert!(stderr(&output).contains(said), "{}", stderr(&output));
            assert!(!stages.project.path("asked").exists(), "it was compiled for");
        }

        let serving = Serving::start();
        let output = finished(stages.start_as_typed(&[&format!("http://{}/", serving.addr)]));
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said.contains("Compiling an optimised client") && said.contains("could not be built"),
            "{said}"
        );
    }
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

/// A server whose queue of new connections is full. The system does not respond to further clients, so a
/// load waits for its connection, and only the time-out ends this wait.
#[cfg(target_os = "linux")]
struct Full {
    listener: socket2::Socket,
    _queued: Vec<TcpStream>,
}

#[cfg(target_os = "linux")]
impl Full {
    fn new() -> Full {
        let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        listener.listen(0).unwrap();
        let addr = listener.local_addr().unwrap().as_socket().unwrap();
        let connect = || TcpStream::connect_timeout(&addr, Duration::from_millis(300)).ok();
        Full { listener, _queued: iter::from_fn(connect).collect() }
    }

    fn addr(&self) -> SocketAddr {
        self.listener.local_addr().unwrap().as_socket().unwrap()
    }

    /// Returns whether a client waits for its connection (state 2 in the system's table of sockets).
    fn has_callers(&self) -> bool {
        let called = format!(":{:04X} 02 ", self.addr().port());
        fs::read_to_string("/proc/net/tcp").unwrap().lines().any(|line| line.contains(&called))
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_ctrl_c_ends_a_load_that_cannot_end_in_order_and_its_stage() {
    let (full, stages) = (Full::new(), Stages::new(DONE));
    let address = format!("echo listening on http://{}/", full.addr());
    stages.stage("one", &format!("echo $$ > {}\n{address}\nexec sleep 600", stages.path("one.process")));
    let mut load = stages.start_load(&["--stages", "one", "-c", "2", "--timeout", "1440m"]);
    let until = Instant::now() + DEADLINE;
    while !full.has_callers() {
        assert!(Instant::now() < until, "no client connects");
        thread::sleep(Duration::from_millis(5)); // only the interval of the checks
    }
    assert!(stages.is_alive("one.process"));
    // The system keeps only one pending signal of a kind, so the test sends the second signal again until
    // it is delivered.
    while load.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it goes on");
        signal("INT", &load.id().to_string());
        thread::sleep(Duration::from_millis(20)); // only the interval of the tries
    }
    assert_eq!(finished(load).status.code(), Some(130));
    assert!(!stages.is_alive("one.process"), "the stage goes on");
}
