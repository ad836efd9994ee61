//! Right: The test counts, for each line, how often the line was accepted and has not been written yet. In
//! the first scenario the writer's thread is started first, in the second scenario the client's thread is
//! started first, and the third scenario has two logs.
#![allow(unused)]

use std::collections::BTreeMap;

use crate::sync::{Arc, Mutex, thread};

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
    for the_client_comes_first in [false, true] {
        let log = new();
        let owed = Arc::new(Mutex::new(BTreeMap::<String, i32>::new()));
        let mut threads = Vec::new();
        for client in [the_client_comes_first, !the_client_comes_first] {
            let (log, owed) = (Arc::clone(&log), Arc::clone(&owed));
            threads.push(thread::spawn(move || {
                let change =
                    |line: &str, by: i32| *owed.lock().unwrap().entry(line.to_owned()).or_default() += by;
                if client {
                    ["a", "", "b"].iter().filter(|line| log.log(line)).for_each(|line| change(line, 1));
                } else {
                    log.run(&mut |line| change(&line, -1));
                }
            }));
        }
        log.stop();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let owed = owed.lock().unwrap();
        assert!(owed.values().all(|times| *times == 0), "{owed:?}");
    }
    let [first, second] = [new(), new()];
    first.stop();
    assert!(!first.log(""));
    assert!(
        second.log("") && {
            second.stop();
            true
        }
    );
    let mut lines = 0;
    second.run(&mut |_| lines += 1);
    assert_eq!(lines, 1);
}
