//! Tests the commands that run from the pages of a served book: who may run them, what they print, and that
//! none of their processes and files remain.

use crate::fixture::Project;
use crate::running::{Running, within_deadline};
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Prints the process ID of the shell, and sleeps until it is killed. A second process has left the group;
/// its process ID is printed too.
const STUBBORN: &str = "trap '' INT TERM HUP; \
    setsid sh -c 'echo $$ >next; mv next pid; exec sleep 600' & \
    until cat pid 2>&-; do sleep 0.01; done; echo $$; exec sleep 600";

/// A server of a book whose page may run commands.
struct Page {
    course: Running,
    token: String,
}

impl Page {
    /// Serves a book with these commands. The transcripts are named after the commands, from `0.txt` for the
    /// first command.
    fn with(commands: &[&str]) -> Self {
        let project = Project::new();
        let recipe =
            |(number, command)| format!("[[run]]\ncommand = '''{command}'''\nfile = '{number}.txt'\n");
        let recipes: String = commands.iter().enumerate().map(recipe).collect();
        Self::of(project, &recipes)
    }

    fn of(project: Project, recipes: &str) -> Self {
        project.write("book/src/transcripts/record.toml", recipes);
        for number in 0..6 {
            project.write(&format!("book/src/transcripts/{number}.txt"), "as recorded\n");
        }
        let mut command = project.course(&["--addr", "127.0.0.1:0"]);
        let path = env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", project.path("bin").display())); // for stand-ins
        Self::at(Running::start_as(project, command))
    }

    fn at(course: Running) -> Self {
        let session = json_of(&course.get("/live/session.json"));
        let token = session["token"].as_str().unwrap().to_owned();
        Self { course, token }
    }

    fn request(&self, method: &str, path: &str, host: &str, fields: &str) -> String {
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n");
        Running::answer(self.course.start_request(&head))
    }

    fn get(&self, path: &str) -> String {
        self.request("GET", path, "localhost", "")
    }

    /// Sends a request that changes something, as a page of the book does.
    fn post(&self, path: &str) -> String {
        let host = format!("127.0.0.1:{}", self.course.port());
        let fields = format!(
            "Authorization: Bearer {}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n",
            self.token
        );
        self.request("POST", path, &host, &fields)
    }

    fn start(&self, files: &str) -> u64 {
        json_of(&self.post(&format!("/live/start?of={files}")))["run"].as_u64().unwrap()
    }

    fn stop(&self, run: u64) {
        assert!(self.post(&format!("/live/stop?run={run}")).starts_with("HTTP/1.1 204 "));
    }

    fn look(&self, run: u64) -> Value {
        let mut all = Vec::new();
        loop {
            let mut view = json_of(&self.get(&format!("/live/run?run={run}&seen={}", all.len())));
            all.append(view["lines"].as_array_mut().unwrap());
            if view["more"] == false {
                view["lines"] = Value::Array(all);
                return view;
            }
        }
    }

    /// Asks again and again, as a page does, until the expected answer comes.
    fn look_until(&self, run: u64, wanted: impl Fn(&Value) -> bool, what: &str) -> Value {
        within_deadline(|| Some(self.look(run)).filter(&wanted), what)
    }

    fn end_of(&self, run: u64) -> Value {
        self.look_until(run, |view| view["ended"] == true, "the end of a run")
    }

    /// Starts a stubborn command, and returns its run and the IDs of its processes.
    fn start_stubborn(&self) -> (u64, [String; 2]) {
        let run = self.start("0.txt");
        let view = self.look_until(run, |view| lines(view, 0).len() == 2, "two processes");
        (run, lines(&view, 0).try_into().unwrap())
    }

    fn folder_of_runs(&self) -> bool {
        let course = self.course.project.path("target/course");
        let entries = fs::read_dir(course).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("live-"))
    }
}

fn json_of(answer: &str) -> Value {
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn lines(view: &Value, part: usize) -> Vec<String> {
    let lines = view["lines"].as_array().unwrap().iter();
    lines.filter(|line| line[0] == part).map(|line| line[1].as_str().unwrap().to_owned()).collect()
}

fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

fn wait_for_the_end_of(processes: &[String]) {
    within_deadline(|| (!processes.iter().any(|process| is_alive(process))).then_some(()), "no process");
}

#[test]
fn a_command_runs_and_is_compared_with_its_transcript() {
    let page = Page::with(&["echo as recorded", "echo as recorded; echo now; echo why >&2; exit 7"]);
    let view = page.end_of(page.start("0.txt,1.txt"));
    assert_eq!(view["cutShort"], Value::Null, "{view}");
    assert_eq!([lines(&view, 0), lines(&view, 1)], [vec!["as recorded"], vec!["as recorded", "now"]]);
    assert_eq!([&view["parts"][0]["status"], &view["parts"][1]["status"]], [0, 7]);
    assert_eq!(view["errors"], json!(["why"]));
    let as_recorded = json!({ "transcript": "0.txt", "part": 0, "old": [], "new": [], "lacks": [] });
    let differs = json!({ "transcript": "1.txt", "part": 1, "old": [], "new": [1], "lacks": [] });
    assert_eq!(view["verdicts"], json!([as_recorded, differs]));
    assert_eq!(json_of(&page.get("/live/run?run=1&seen=2"))["lines"], json!([[1, "now"]]));
}

#[test]
fn a_crash_shows_its_signal_and_its_last_lines() {
    let page = Page::with(&["echo \"thread 'main' panicked\" >&2; kill -ABRT $$"]);
    let view = page.end_of(page.start("0.txt"));
    assert_eq!(view["parts"][0]["status"], 134, "{view}");
    assert_eq!(view["errors"][0], "thread 'main' panicked");
}

#[test]
fn pages_are_told_which_exercises_are_solved() {
    let page = Page::of(Project::with_exercises(), "");
    assert_eq!(json_of(&page.get("/live/session.json"))["solved"], json!([]));
    page.course.project.write("progress.txt", "solved ex01-worker-pool\nfailed ex22-bounded-acceptor x\n");
    assert_eq!(json_of(&page.get("/live/session.json"))["solved"], json!(["how-exercises-work.html"]));
}

#[test]
fn a_server_and_its_clients_are_one_run() {
    let project = Project::new();
    project.write("server.sh", "echo listening on 127.0.0.1:9\nuntil [ -e asked ]; do sleep 0.01; done\necho answered\nexec sleep 600\n");
    let page = Page::of(
        project,
        "[[server]]\ncommand = 'sh server.sh'\nfile = '0.txt'\nlog = '1.txt'\nequal.but = ['answered']\nstep = [
             { start = 'cat; echo never' }, { wait = 0.01 },
             { run = 'echo as recorded', file = '2.txt' },
             { start = 'echo at 127.0.0.1:8080; echo $0 127.0.0.1:8080 >asked', file = '3.txt' },
         ]\n",
    );
    assert_eq!(
        json_of(&page.get("/live/session.json"))["servers"],
        json!([["0.txt", "2.txt", "3.txt", "1.txt"]])
    );
    let view = page.end_of(page.start("2.txt"));
    assert_eq!(view["cutShort"], Value::Null, "{view}");
    let printed: Vec<_> = (0..4).map(|part| lines(&view, part)).collect();
    let server = vec!["listening on 127.0.0.1:8080", "answered"];
    assert_eq!(printed, [server, vec![], vec!["as recorded"], vec!["at 127.0.0.1:8080"]]);
    let judged: Vec<_> =
        view["verdicts"].as_array().unwrap().iter().map(|it| (&it["transcript"], &it["new"])).collect();
    let expected =
        [("2.txt", json!([])), ("3.txt", json!([0])), ("0.txt", json!([0])), ("1.txt", json!([1]))];
    assert!(
        judged.iter().zip(&expected).all(|(is, should)| is.0 == should.0 && *is.1 == should.1),
        "{judged:?}"
    );
    let asked = fs::read_to_string(page.course.project.path("asked")).unwrap();
    assert!(asked.contains("127.0.0.1:9"), "{asked}");
}

#[test]
fn a_server_ends_when_one_of_its_steps_fails() {
    let project = Project::new();
    project.write("server.sh", "echo $$ >pid\necho listening on 127.0.0.1:9\nexec sleep 600\n");
    let step = "{ run = 'cat pid', file = 'gone.txt' }";
    let page = Page::of(
        project,
        &format!("[[server]]\ncommand = 'sh server.sh'\nfile = '0.txt'\nstep = [{step}]\n"),
    );
    let view = page.end_of(page.start("0.txt"));
    let why = view["cutShort"].as_str().unwrap();
    assert!(why.starts_with("cannot read") && why.contains("gone.txt"), "{view}");
    assert!(!is_alive(&lines(&view, 1)[0]));
}

#[test]
fn only_pages_of_this_server_may_run_a_command() {
    let page = Page::with(&["touch ran"]);
    let own = format!("127.0.0.1:{}", page.course.port());
    let token = format!("Authorization: Bearer {}\r\n", page.token);
    let (start, session) = ("/live/start?of=0.txt", "/live/session.json");
    for (status, method, path, host, fields) in [
        (401, "POST", start, own.as_str(), String::new()),
        (401, "POST", start, &own, "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n".to_owned()),
        (401, "POST", "/live/stop?run=1", &own, String::new()),
        (403, "POST", start, &own, format!("{token}Origin: http://127.0.0.1:9\r\n")),
        (403, "POST", start, &own, format!("{token}Origin: null\r\n")),
        (403, "POST", start, &own, format!("{token}Sec-Fetch-Site: cross-site\r\n")),
        (403, "POST", start, &own, format!("{token}Sec-Fetch-Site: same-site\r\n")),
        (421, "POST", start, "rebound.example", token.clone()),
        (405, "GET", start, &own, token.clone()),
        (405, "GET", "/live/stop?run=1", &own, token.clone()),
        (404, "POST", "/live/start?of=touch", &own, token.clone()),
        (404, "POST", "/live/start?of=0.txt,1.txt", &own, token.clone()),
        (404, "POST", "/live/start", &own, token.clone()),
        (404, "POST", "/live/stop?run=1", &own, token.clone()),
        (404, "GET", "/live/run?run=1&seen=0", &own, String::new()),
        (403, "GET", session, &own, "Origin: http://127.0.0.1:9\r\n".to_owned()),
        (403, "GET", session, &own, "Sec-Fetch-Site: same-site\r\n".to_owned()),
        (421, "GET", session, "rebound.example", String::new()),
    ] {
        let answer = page.request(method, path, host, &fields);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{method} {path} {host} {fields}: {answer}"
        );
    }
    page.end_of(page.start("0.txt"));
    assert_eq!(page.look(1)["parts"][0]["status"], 0, "the only run, and the first");
}

/// Under a host name that was given with `--host`, the book can be read, but its commands cannot be run.
#[test]
fn who_reads_the_book_from_elsewhere_runs_nothing() {
    let course = Running::start(Project::new(), &["--addr", "127.0.0.1:0", "--host", "course.example"]);
    assert!(course.get_for("course.example", "/live/session.json").starts_with("HTTP/1.1 403 "));
    let everywhere = Running::start(Project::new(), &["--addr", "0.0.0.0:0"]);
    assert!(everywhere.get("/live/session.json").starts_with("HTTP/1.1 404 "));
    assert!(everywhere.get("/").starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_fifth_run_is_refused_until_another_has_ended() {
    let page = Page::with(&["sleep 600"]);
    let runs = [(); 4].map(|()| page.start("0.txt"));
    let refusal = page.post("/live/start?of=0.txt");
    assert!(refusal.starts_with("HTTP/1.1 503 ") && refusal.contains("4 runs go on already"), "{refusal}");
    page.stop(runs[2]);
    assert_eq!(page.end_of(runs[2])["cutShort"], "stopped");
    page.start("0.txt");
    assert!(page.post("/live/start?of=0.txt").starts_with("HTTP/1.1 503 "));
}

#[test]
fn a_command_that_is_stopped_can_say_its_last_words() {
    let page = Page::with(&[
        "trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.01; done",
        "echo no",
    ]);
    let run = page.start("0.txt,1.txt");
    page.look_until(run, |view| lines(view, 0) == ["ready"], "the first line");
    page.stop(run);
    let view = page.end_of(run);
    assert_eq!(lines(&view, 0), ["ready", "interrupted"]);
    assert_eq!((&view["parts"][0]["status"], &view["cutShort"]), (&json!(3), &json!("stopped")));
    assert_eq!(view["parts"].as_array().unwrap().len(), 1, "the next command does not run");
    assert_eq!(view["verdicts"], json!([]));
}

#[test]
fn a_command_that_ignores_the_interrupt_is_killed_with_all_its_processes() {
    let page = Page::with(&[STUBBORN]);
    let (run, processes) = page.start_stubborn();
    page.stop(run);
    assert_eq!(page.end_of(run)["parts"][0]["status"], 137);
    assert!(!processes.iter().any(|process| is_alive(process)));
}

#[test]
fn what_a_command_leaves_in_the_background_ends_with_it() {
    let page = Page::with(&[STUBBORN.strip_suffix("; exec sleep 600").unwrap()]);
    let (run, processes) = page.start_stubborn();
    assert_eq!(page.end_of(run)["parts"][0]["status"], 0);
    assert!(!processes.iter().any(|process| is_alive(process)));
}

#[test]
fn a_command_that_prints_without_end_is_ended() {
    let page = Page::with(&["yes", "tr '\\0' x </dev/zero", "yes >&2"]);
    for file in ["0.txt", "1.txt", "2.txt"] {
        let view = page.end_of(page.start(file));
        assert_eq!(view["cutShort"], "more output than 1 MiB or 10,000 lines");
        assert_eq!(view["parts"][0]["status"], 137);
        let bytes: usize = lines(&view, 0).iter().map(|line| line.len() + 1).sum();
        assert!(bytes <= 1 << 20 && (bytes >= 20_000) == (file != "2.txt"), "{file}: {bytes}");
    }
}

#[test]
fn no_process_survives_a_course_that_is_killed() {
    let mut page = Page::with(&[STUBBORN, "echo as recorded"]);
    let (_, processes) = page.start_stubborn();
    page.course.signal("KILL");
    page.course.wait();
    wait_for_the_end_of(&processes);
    assert!(page.folder_of_runs());
    // If a process of the course could not remove its folder, the next process of the course removes that
    // folder.
    let left = page.course.project.path("target/course/live-99999999/1"); // above the largest number of a process
    fs::create_dir_all(&left).unwrap();
    let next = page.course.project.course(&["--addr", "127.0.0.1:0"]);
    let next = Page::at(Running::start_as(Project::new(), next));
    next.end_of(next.start("1.txt"));
    assert!(!left.exists());
}

#[test]
fn a_course_that_ends_kills_its_commands_and_removes_their_files() {
    let mut page = Page::with(&[STUBBORN]);
    let (_, processes) = page.start_stubborn();
    assert!(page.folder_of_runs());
    page.course.signal("INT");
    assert_eq!(page.course.wait().code(), Some(0));
    assert!(!processes.iter().any(|process| is_alive(process)));
    assert!(!page.folder_of_runs());
}

#[test]
fn what_a_command_writes_is_gone_when_it_has_ended() {
    let page = Page::with(&["touch target/a.txt; mktemp; ls target/a.txt", "ls target/a.txt; pwd"]);
    let view = page.end_of(page.start("0.txt,1.txt"));
    let [first, second] = [lines(&view, 0), lines(&view, 1)];
    assert!(first[0].starts_with("target/tmp."), "{first:?}");
    assert_eq!((first[1].as_str(), second[0].as_str()), ("target/a.txt", "target/a.txt"));
    assert_eq!(second[1], page.course.project.path("").canonicalize().unwrap().to_str().unwrap());
    assert!(!page.course.project.path("target/a.txt").exists());
    let runs = page.course.project.path("target/course").join(format!("live-{}", page.course.id()));
    assert_eq!(fs::read_dir(runs).unwrap().count(), 0);
    let again = page.end_of(page.start("1.txt"));
    assert_eq!(lines(&again, 0).len(), 1, "a run sees no file of an earlier one: {again}");
}

#[test]
fn a_recipe_with_an_answer_runs_in_a_copy() {
    let project = Project::with_exercises();
    let recipe = "[[run]]\ncommand = 'cat exercises/ex01-worker-pool/src/exercise.rs'\nfile = '0.txt'\nanswer = 'ex01 m01_if_for_while'\n";
    let answer = project.path("exercises/ex01-worker-pool/src/exercise.rs");
    let before = fs::read_to_string(&answer).unwrap();
    let page = Page::of(project, recipe);
    let view = page.end_of(page.start("0.txt"));
    assert_eq!(view["cutShort"], Value::Null);
    assert!(lines(&view, 0).iter().any(|line| line.starts_with("//! Wrong:")), "{view}");
    assert_eq!(fs::read_to_string(&answer).unwrap(), before);
}

/// A stand-in for Cargo, which begins a build as soon as the test allows this.
#[test]
fn an_experiment_is_done_in_a_copy() {
    let page = Page::of(crate::breaks::project(), "");
    let view = page.end_of(page.start("break-index-1"));
    assert_eq!(
        (&view["parts"][0]["command"], &view["parts"][0]["status"]),
        (&"cargo course break index 1".into(), &0.into())
    );
    let printed = lines(&view, 0);
    for line in ["  In `said.txt`, say *third*.", "+third", "third", "  It says *third*."] {
        assert!(printed.iter().any(|printed| printed == line), "{line}: {printed:?}");
    }
    assert_eq!(view["verdicts"], json!([]));
    assert_eq!(fs::read_to_string(page.course.project.path("said.txt")).unwrap(), "first\nsecond\n");
    assert!(page.post("/live/start?of=break-index-2").starts_with("HTTP/1.1 404 "));
}

#[test]
fn a_build_shows_its_progress_and_why_it_failed() {
    let project = Project::new();
    let cargo = "#!/bin/sh
        [ $1 = run ] && exec echo as recorded
        echo \"$@\" >&2; printf '1/2: executor\\r' >&2
        until [ -e go ]; do sleep 0.01; done
        echo no such place >&2; exit $(cat go)\n";
    project.write("bin/cargo", cargo);
    fs::set_permissions(project.path("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let page = Page::of(project, "[[run]]\ncommand = 'cargo run --bin a -- b'\nfile = '0.txt'\n");
    let run = page.start("0.txt");
    let view = page.look_until(run, |view| view["progress"] == "1/2: executor", "progress");
    assert_eq!((&view["building"], &view["errors"][0]), (&json!(true), &json!("build --bin a")));
    page.course.project.write("go.new", "101");
    fs::rename(page.course.project.path("go.new"), page.course.project.path("go")).unwrap();
    let view = page.end_of(run);
    assert_eq!(view["cutShort"], "`cargo build --bin a` failed");
    assert_eq!(view["errors"].as_array().unwrap().last().unwrap(), "no such place");
    page.course.project.write("go", "0");
    let view = page.end_of(page.start("0.txt"));
    assert_eq!((lines(&view, 0), &view["errors"]), (vec!["as recorded".to_owned()], &json!([])));
}
