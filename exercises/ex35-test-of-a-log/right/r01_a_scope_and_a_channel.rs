//! Right: The threads run in a scope, and send the accepted and the written lines through two channels. The
//! same client hands a line to each of two logs, while one of the logs is stopped.
#![allow(unused)]

use crate::sync::mpsc;
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
    let (log, other) = (new(), new());
    let (accepts, accepted) = mpsc::channel();
    let (writes, written) = mpsc::channel();
    thread::scope(|scope| {
        for log in [&log, &other] {
            let writes = writes.clone();
            scope.spawn(move || log.run(&mut |line| writes.send(line).unwrap()));
        }
        let (log, other) = (&log, &other);
        scope.spawn(move || {
            for line in ["x", "", "x"] {
                if log.log(line) {
                    accepts.send(line.to_owned()).unwrap();
                }
            }
            assert!(other.log("other"), "the other log is open");
            accepts.send("other".to_owned()).unwrap();
            other.stop();
        });
        log.stop();
    });
    drop(writes);
    let [mut accepted, mut written] = [accepted, written].map(|lines| lines.iter().collect::<Vec<String>>());
    accepted.sort();
    written.sort();
    assert_eq!(accepted, written);
}
