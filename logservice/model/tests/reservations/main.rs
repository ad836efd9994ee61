//! Checks the count of reservations under loom, with every schedule. This test uses a small queue of its
//! own, because the library's channel has too many steps for loom to try all orders.
#![cfg(feature = "loom")]

use std::array::from_fn;
use std::collections::VecDeque;

use logservice_model::door;

use door::sync::{Arc, Condvar, Mutex};
use door::thread;

#[path = "../../../road/src/reservations.rs"]
mod reservations;
use reservations::Reservations;

#[derive(Default)]
struct Log {
    reservations: Reservations,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<usize>,
    writer_is_interrupted: bool,
}

impl Log {
    /// Logs a line in the same way as a client. If `interrupted` is true, the client fails to put its line.
    /// Returns true if the line was accepted.
    fn log(&self, line: usize, interrupted: bool) -> bool {
        if !self.reservations.reserve() {
            return false;
        }
        if interrupted {
            if self.reservations.end_one() {
                self.interrupt();
            }
        } else {
            self.queue.lock().unwrap().lines.push_back(line);
            self.changed.notify_one();
        }
        !interrupted
    }

    fn stop(&self) {
        self.reservations.stop();
        self.interrupt();
    }

    fn interrupt(&self) {
        self.queue.lock().unwrap().writer_is_interrupted = true;
        self.changed.notify_one();
    }

    fn write(&self) -> Vec<usize> {
        let mut written = Vec::new();
        while !self.reservations.are_over() {
            if let Some(line) = self.take() {
                written.push(line);
                self.reservations.end_one();
            }
        }
        written
    }

    fn take(&self) -> Option<usize> {
        let queue = self.queue.lock().unwrap();
        let nothing = |queue: &mut Queue| queue.lines.is_empty() && !queue.writer_is_interrupted;
        let mut queue = self.changed.wait_while(queue, nothing).unwrap();
        let line = queue.lines.pop_front();
        queue.writer_is_interrupted &= line.is_some(); // the wait that an interrupt ends consumes it
        line
    }
}

/// Lets clients log while the log is stopped; the first client may be interrupted. In each schedule, the
/// writer ends after it has written all accepted lines.
fn model<const CLIENTS: usize>(interrupted: bool, preemptions: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions);
    builder.check(move || {
        let log = Arc::new(Log::default());
        let clients: [_; CLIENTS] = from_fn(|line| {
            let log = Arc::clone(&log);
            thread::spawn(move || log.log(line, interrupted && line == 0).then_some(line))
        });
        let writer = {
            let log = Arc::clone(&log);
            thread::spawn(move || log.write())
        };
        log.stop();
        let mut written = writer.join().unwrap();
        let accepted: Vec<_> = clients.into_iter().filter_map(|client| client.join().unwrap()).collect();
        written.sort_unstable();
        assert_eq!(written, accepted);
    });
}

#[test]
fn what_was_accepted_is_written_and_the_writer_ends() {
    model::<1>(false, None);
}

#[test]
fn an_interrupted_client_does_not_keep_the_writer() {
    model::<1>(true, None);
}

/// The number of preemptions is limited, because without a limit this test takes minutes.
#[test]
fn of_two_clients_each_is_counted() {
    model::<2>(false, Some(3));
}

#[test]
fn of_two_clients_one_is_interrupted() {
    model::<2>(true, Some(3));
}
