//! Right: It counts for each line how often it was accepted and not written yet. Three scenarios: the writer
//! is there first, the lines are there first, and two logs.
#![allow(unused)]

use std::collections::BTreeMap;

use crate::sync::{Arc, Mutex, thread};

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
