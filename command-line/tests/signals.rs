//! Tests signals that a separate process receives.

#![cfg(unix)]

use executor::CancelToken;
use std::env;
use std::io::{self, BufRead, BufReader, Lines};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const READY: &str = "ready";

/// These functions are not tests: each is a program that a test below starts, and only a signal
/// ends the program.
mod programs {
    use super::*;

    #[test]
    #[ignore = "does not end by itself"]
    fn names_each_signal() {
        command_line::on_signals(|status| say(&status.to_string())).unwrap();
        until_a_signal_ends_it();
    }

    #[test]
    #[ignore = "does not end by itself"]
    fn hangs_while_it_stops() {
        command_line::stop_on_signals_and(&CancelToken::new(), || say("first"), || say("last")).unwrap();
        until_a_signal_ends_it();
    }

    /// The program also ends when the test is over, because its standard input ends then.
    fn until_a_signal_ends_it() {
        say(READY);
        io::copy(&mut io::stdin(), &mut io::sink()).unwrap();
    }

    fn say(word: &str) {
        command_line::print(format_args!("{word}\n")).unwrap();
    }
}

struct Program {
    child: Child,
    /// Standard input stays open for as long as the program may live, because `Child::wait` would
    /// close it.
    _stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    /// Starts the program with the given name from a shell that first runs the command `before`.
    fn start(before: &str, name: &str) -> Program {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
            .arg(env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", &format!("programs::{name}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut program = Program { _stdin: child.stdin.take(), child, lines };
        while !program.line().ends_with(READY) {} // before it, what the test harness prints
        program
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("the program has ended").unwrap()
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill(); // perhaps it has ended
        let _ = self.child.wait();
    }
}

#[test]
fn a_second_signal_ends_the_process_with_its_own_status() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if signal == "HUP" && !command_line::hears_hangup() {
            continue; // these tests were started with it ignored, and the program inherits that
        }
        let mut program = Program::start("true", "hangs_while_it_stops");
        program.signal("TERM");
        assert_eq!(program.line(), "first");
        program.signal(signal);
        assert_eq!(program.line(), "last");
        assert_eq!(program.child.wait().unwrap().code(), Some(status), "{signal}");
    }
}

/// The program is started with SIGHUP ignored, as `nohup` starts it.
#[test]
fn a_hangup_that_is_ignored_stays_ignored() {
    let mut program = Program::start("trap '' HUP", "names_each_signal");
    program.signal("HUP");
    program.signal("TERM");
    assert_eq!(program.line(), "143");
    program.signal("INT");
    assert_eq!(program.line(), "130");
}
