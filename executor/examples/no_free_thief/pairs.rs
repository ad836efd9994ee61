//! Jobs that wait for each other in pairs, and a watchdog.

use super::lanes::Job;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// While both workers of a pool are busy, gives the pool the jobs of `count` pairs.
pub fn pairs(count: usize, execute: impl Fn(Job)) -> Receiver<()> {
    let (tell_met, all_met) = mpsc::channel();
    let both_busy = [occupy(&execute), occupy(&execute)];
    for _ in 0..count {
        let meet = Arc::new(Barrier::new(2));
        for _ in 0..2 {
            let (meet, tell_met) = (Arc::clone(&meet), tell_met.clone());
            execute(Box::new(move || {
                meet.wait();
                let _ = tell_met.send(()); // fails when the watchdog has given up
            }));
        }
    }
    drop(both_busy);
    all_met
}

/// Keeps a worker busy until the caller drops the returned sender.
fn occupy(execute: &impl Fn(Job)) -> Sender<()> {
    let (open, opened) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    execute(Box::new(move || {
        tell.send(()).expect("this function listens");
        let _ = opened.recv(); // fails as soon as the other end is dropped
    }));
    told.recv().expect("a worker runs it");
    open
}

/// Counts the jobs that have met their partner. Stops counting if no job meets its partner within a second.
pub fn watch(met: &Receiver<()>) -> String {
    for count in 0.. {
        match met.recv_timeout(Duration::from_secs(1)) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => return format!("all {count} have met their partner"),
            Err(RecvTimeoutError::Timeout) => {
                return format!("{count} have met, and then nothing for a second");
            }
        }
    }
    unreachable!("it counts as far as it can")
}
