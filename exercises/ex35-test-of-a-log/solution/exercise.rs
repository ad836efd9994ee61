//! A test of a log that must lose no line: it lets each right log pass, and none that accepts a line and does
//! not write it.
#![allow(unused)]

use crate::sync::{Arc, thread};

/// A log, as exercise 24 has it: clients hand in lines, one thread writes them, and it can be stopped at any
/// time.
pub trait Log: Send + Sync {
    /// Hands in a line. True: it is accepted, and will be written. False: the log is stopped. Waits while the
    /// queue to the writer is full.
    fn log(&self, line: &str) -> bool;

    /// Gives each accepted line to `write`. Called once, on the thread of the writer. Returns when the log is
    /// stopped and every accepted line is written.
    fn run(&self, write: &mut dyn FnMut(String));

    /// Stops the log: from now on it accepts nothing. Waits for no other thread.
    fn stop(&self);
}

/// The test. `new` makes an open log, each time of the same kind. The test comes back if such a log keeps its
/// promises. If not, it panics or never comes back, on one schedule or another.
pub fn accepted_means_written(new: fn() -> Arc<dyn Log>) {
    stopped_at_any_moment(new);
    another_log_goes_on(new);
}

/// Two clients hand in lines, while the log is stopped. Which lines are still accepted is left open; those
/// are written.
fn stopped_at_any_moment(new: fn() -> Arc<dyn Log>) {
    let log = new();
    let writer = start(&log, |log| {
        let mut written = Vec::new();
        log.run(&mut |line| written.push(line));
        written
    });
    let clients = [["", "a"], ["b", "c"]].map(|lines| start(&log, move |log| hand_in(log, &lines)));
    log.stop();
    let mut accepted: Vec<String> = clients.into_iter().flat_map(|client| client.join().unwrap()).collect();
    let mut written = writer.join().unwrap();
    accepted.sort(); // which client comes first is left open
    written.sort();
    assert_eq!(written, accepted, "what is written, and what was accepted");
}

/// One log is stopped. Another one is open, for the same client, too.
fn another_log_goes_on(new: fn() -> Arc<dyn Log>) {
    let (stopped, open) = (new(), new());
    stopped.stop();
    assert!(!stopped.log("a"), "a log that is stopped accepts nothing");
    assert!(open.log("b"), "a log that is open accepts a line");
    open.stop();
    let mut written = Vec::new();
    open.run(&mut |line| written.push(line));
    assert_eq!(written, ["b"]);
}

/// Hands in these lines. Returns those that were accepted.
fn hand_in(log: &dyn Log, lines: &[&str]) -> Vec<String> {
    lines.iter().filter(|line| log.log(line)).map(|line| (*line).to_owned()).collect()
}

/// Starts a thread that uses the log.
fn start<T: Send + 'static>(
    log: &Arc<dyn Log>,
    work: impl FnOnce(&dyn Log) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let log = Arc::clone(log);
    thread::spawn(move || work(&*log))
}
