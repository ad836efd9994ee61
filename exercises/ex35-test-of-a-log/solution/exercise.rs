//! A test of a log that must not lose a line. The test passes with each correct log, and fails with a log
//! that accepts a line and does not write that line.
#![allow(unused)]

use crate::sync::{Arc, thread};

/// The log of exercise 24: clients hand in lines, one thread writes the lines, and the log can be stopped at
/// any time.
pub trait Log: Send + Sync {
    /// Hands in a line. Returns true if the line is accepted and will be written, and false if the log is
    /// stopped. Waits while the queue to the writer is full.
    fn log(&self, line: &str) -> bool;

    /// Gives each accepted line to `write`. The thread of the writer calls `run` once. Returns when the log
    /// is stopped and every accepted line is written.
    fn run(&self, write: &mut dyn FnMut(String));

    /// Stops the log, which then accepts no more lines. Does not wait for any other thread.
    fn stop(&self);
}

/// Tests the logs that `new` makes. Each call of `new` makes an open log of the same kind. If the logs keep
/// all their promises, this function returns. If a log breaks a promise, this function panics or never
/// returns on at least one schedule.
pub fn accepted_means_written(new: fn() -> Arc<dyn Log>) {
    stopped_at_any_moment(new);
    another_log_goes_on(new);
}

/// Checks that exactly the accepted lines are written. Two clients hand in two lines each, and meanwhile the
/// log is stopped.
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

/// Checks that a client can still use an open log after another log was stopped.
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

/// Hands in the given lines, and returns the lines that were accepted.
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
