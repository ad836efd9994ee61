//! Tests `cargo course watch` at a terminal. The program `script` (from util-linux) provides the terminal.

use crate::fixture::{Project, stdout};
use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_mins(2);

/// A terminal in which the command `watch` runs. The test prints the settings of the terminal before and
/// after the command, each time in one line.
struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Receiver<String>,
    seen: String,
    read: usize,
}

impl Terminal {
    /// Starts to watch, and waits for the first verdict. (This project has nothing to build, so the verdict
    /// comes soon.)
    fn watch(project: &Project) -> Self {
        Self::watch_under(project, "")
    }

    /// Like [`watch`](Self::watch), but the program `other` starts `watch`.
    fn watch_under(project: &Project, other: &str) -> Self {
        let root = project.path("");
        let course = env!("CARGO_BIN_EXE_course");
        // Ctrl-C goes to all programs in the foreground of a terminal, so the shell must catch it.
        let command = format!(
            "trap : INT; echo settings-before $(stty -g); sh -c 'echo pid $$; exec {other} {course} watch ex01 --workspace {}'; \
             echo exit-code $?; echo settings-after $(stty -g)",
            root.display()
        );
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .env("CARGO_TARGET_DIR", project.path("target"))
            .env("SHELL", "/bin/sh")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script`, of util-linux, makes the terminal");
        let mut stdout = child.stdout.take().unwrap();
        let (sender, screen) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut piece) {
                let _ = sender.send(String::from_utf8_lossy(&piece[..length]).into_owned());
            }
        });
        let keyboard = child.stdin.take().unwrap();
        let mut terminal = Self { child, keyboard, screen, seen: String::new(), read: 0 };
        terminal.shows("Enter checks again.");
        terminal
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until the terminal shows these words, after the words for which the last call has waited.
    /// Returns the text that ends with these words.
    fn shows(&mut self, words: &str) -> String {
        let until = Instant::now() + DEADLINE;
        loop {
            if let Some(at) = self.seen[self.read..].find(words) {
                let end = self.read + at + words.len();
                let shown = self.seen[self.read..end].to_owned();
                self.read = end;
                return shown;
            }
            let left = until.saturating_duration_since(Instant::now());
            let piece = self.screen.recv_timeout(left);
            let piece = piece.unwrap_or_else(|error| {
                panic!("no `{words}` behind byte {}, {error}: {}", self.read, self.seen)
            });
            self.seen.push_str(&piece);
        }
    }

    /// Returns the word that follows the given word in the text that was shown so far.
    fn word_after(&self, word: &str) -> &str {
        let (_, rest) = self.seen.split_once(&format!("{word} ")).unwrap_or_else(|| panic!("{}", self.seen));
        rest.split_whitespace().next().unwrap()
    }

    /// Checks that the terminal has its old settings and that the program has ended with this code.
    fn is_left_with(&mut self, code: &str) {
        self.shows("settings-after ");
        self.shows("\n");
        assert_eq!(self.word_after("exit-code"), code, "{}", self.seen);
        assert_eq!(self.word_after("settings-after"), self.word_after("settings-before"), "{}", self.seen);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_give_hints_list_go_on_check_and_quit() {
    let project = Project::with_exercises();
    project.write("progress.txt", "solved ex02-one-shot-future\n");
    let mut terminal = Terminal::watch(&project);
    terminal.press("h");
    terminal.shows("hint 1 of 3");
    terminal.shows("Enter checks again.");
    terminal.press("h");
    let shown = terminal.shows("hint 2 of 3");
    assert_eq!(shown.trim_start(), "hint 2 of 3", "the key is not shown");
    terminal.press("l");
    terminal.shows(" solved. Any of them at any time");
    terminal.press("n");
    terminal.shows("ex03-bounded-executor/README.md");
    terminal.shows("save exercises/ex03-bounded-executor/src/exercise.rs");
    terminal.press("\n");
    terminal.shows("ex03-bounded-executor: could not be checked");
    terminal.shows("Enter checks again.");
    // From now on, the command watches the exercise that was saved.
    project.write("exercises/ex01-worker-pool/src/exercise.rs", "// saved");
    project.write("exercises/ex03-bounded-executor/src/exercise.rs", "// saved");
    let shown = terminal.shows("could not be checked");
    assert!(shown.contains("ex03-bounded-executor") && !shown.contains("ex01-worker-pool"), "{shown}");
    terminal.press("q");
    terminal.is_left_with("0");
}

#[test]
fn keys_work_on_when_a_shell_has_changed_the_terminal() {
    let project = Project::with_exercises();
    let mut terminal = Terminal::watch(&project);
    let device = fs::read_link(format!("/proc/{}/fd/0", terminal.word_after("pid"))).unwrap();
    let stty = |arguments: &[&str]| {
        let output = Command::new("stty").arg("-F").arg(&device).args(arguments).output().unwrap();
        stdout(&output)
    };
    stty(&["icanon", "echo"]); // as a shell does when a stopped program goes on
    let until = Instant::now() + DEADLINE;
    while !stty(&["-a"]).contains("-icanon") {
        assert!(Instant::now() < until, "the terminal waits for Enter");
        thread::yield_now();
    }
    terminal.press("h");
    terminal.shows("hint 1 of 3");
    terminal.press("q");
    terminal.is_left_with("0");
}

#[test]
fn the_terminal_is_as_it_was_after_ctrl_c_and_after_a_signal() {
    let project = Project::with_exercises();
    let mut terminal = Terminal::watch(&project);
    terminal.press("\x03");
    terminal.is_left_with("130");

    let mut terminal = Terminal::watch(&project);
    let kill = Command::new("kill").args(["-TERM", terminal.word_after("pid")]).status().unwrap();
    assert!(kill.success());
    terminal.is_left_with("143");
}

/// After a signal handler has restored the terminal, `watch` may still poll the keyboard before the process
/// ends.
#[test]
fn the_terminal_is_as_it_was_when_the_end_takes_long() {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !traced.is_ok_and(|status| status.success()) {
        return eprintln!("not tried: there is no strace here, or it may not trace");
    }
    let project = Project::with_exercises();
    // The end of the process takes longer than two intervals between two polls of `watch`.
    let slowly = "strace -f -qq -o /dev/null -e trace=exit_group -e inject=exit_group:delay_enter=500000";
    let mut terminal = Terminal::watch_under(&project, slowly);
    terminal.press("\x03");
    terminal.is_left_with("130");
}
