//! Every request that came, and what became of it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request to the demo site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoRequest {
    /// The path with the query, as the client sent it.
    pub path: String,
    /// The number of the connection it came on, from 0 in the order in which they were accepted.
    pub connection: usize,
    /// When its head was complete, counted from the start of the site.
    pub began: Duration,
    /// When its outcome last changed; `None` while it is in flight.
    pub ended: Option<Duration>,
    /// What has become of it so far.
    pub outcome: Outcome,
}

/// What has become of a request.
///
/// A server sees that the system took its bytes, and not whether the client has read them. But the client's
/// system says so in the end: if a process dies, or closes, with bytes it has not read, then the connection
/// is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The request is being answered: the answer is not complete.
    InFlight,
    /// The system has the whole answer. Whether the client has read it is not known yet.
    Sent,
    /// The client has read the whole answer: it sent the next request, or closed its side with nothing left
    /// to read.
    Answered,
    /// The client cannot have the whole answer: it went away before it had read it, or the site broke it off
    /// on purpose.
    CutOff,
}

/// The log of a site.
pub(super) struct Log {
    started: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<DemoRequest>,
    connections: usize,
    open: usize,
}

impl Log {
    pub(super) fn new() -> Log {
        Log { started: Instant::now(), state: Mutex::default(), changed: Condvar::new() }
    }

    /// Notes a request, and gives its number.
    pub(super) fn begin(&self, connection: usize, path: &str) -> usize {
        let (path, began) = (path.to_owned(), self.started.elapsed());
        let mut state = self.state();
        let outcome = Outcome::InFlight;
        state.requests.push(DemoRequest { path, connection, began, ended: None, outcome });
        self.changed.notify_all();
        state.requests.len() - 1
    }

    pub(super) fn end(&self, request: usize, outcome: Outcome) {
        let now = self.started.elapsed();
        let mut state = self.state();
        let request = &mut state.requests[request];
        (request.outcome, request.ended) = (outcome, Some(now));
        self.changed.notify_all();
    }

    /// Notes a connection, and gives its number.
    pub(super) fn open(&self) -> usize {
        let mut state = self.state();
        state.connections += 1;
        state.open += 1;
        self.changed.notify_all();
        state.connections - 1
    }

    pub(super) fn close(&self) {
        self.state().open -= 1;
        self.changed.notify_all();
    }

    pub(super) fn requests(&self) -> Vec<DemoRequest> {
        self.state().requests.clone()
    }

    /// How many connections there were, and how many are open.
    pub(super) fn connections(&self) -> (usize, usize) {
        let state = self.state();
        (state.connections, state.open)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.state().requests.iter().filter(|request| request.outcome == Outcome::InFlight).count()
    }

    /// Waits until the requests and the number of open connections are as wanted, for this long at most.
    pub(super) fn wait(
        &self,
        longest: Duration,
        mut wanted: impl FnMut(&[DemoRequest], usize) -> bool,
    ) -> bool {
        let unwanted = |state: &mut State| !wanted(&state.requests, state.open);
        let outcome = self.changed.wait_timeout_while(self.state(), longest, unwanted);
        !outcome.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
