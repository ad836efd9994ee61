//! Runs a program of the crawler as a child process of a test, and collects its output.

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A time limit that no program reaches.
pub(crate) const WATCHDOG: Duration = Duration::from_mins(2);

/// Returns the complete output of a child process, of any length. The child must end by itself.
pub(crate) fn ended(child: Child) -> Output {
    let id = child.id().to_string();
    let (sender, output) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = output.recv_timeout(WATCHDOG) else {
        let _ = Command::new("kill").args(["-9", &id]).status();
        panic!("it does not come to its end");
    };
    output.unwrap()
}

/// Returns the command `crawl`, which runs in a folder with the state file `state`.
pub(crate) fn crawl(folder: &Path, start: &str, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
    command.args([start, "--state", "state", "--delay", "0"]).args(flags).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the exit status and the report of a crawl.
pub(crate) fn report(output: &Output) -> (Option<i32>, Value) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    let report = serde_json::from_slice(&output.stdout);
    (output.status.code(), report.unwrap_or_else(|error| panic!("{error}: {said}")))
}
