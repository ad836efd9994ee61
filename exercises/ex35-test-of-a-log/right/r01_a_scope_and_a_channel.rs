//! Right: The threads run in a scope, and tell what was accepted and written through two channels. The same
//! client hands a line to two logs, one of which is stopped meanwhile.
#![allow(unused)]

use crate::sync::mpsc;
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
