//! The log of all requests to the demo site.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A request to the demo site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoRequest {
    /// The path with the query, as the client sent it.
    pub path: String,
    /// The time from the start of the site until the head of the request was complete.
    pub began: Duration,
}

/// The log of a demo site.
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

    pub(super) fn note(&self, path: &str) {
        let request = DemoRequest { path: path.to_owned(), began: self.started.elapsed() };
        self.state().requests.push(request);
        self.changed.notify_all();
    }

    pub(super) fn open(&self) {
        let mut state = self.state();
        state.connections += 1;
        state.open += 1;
        self.changed.notify_all();
    }

    pub(super) fn close(&self) {
        self.state().open -= 1;
        self.changed.notify_all();
    }

    pub(super) fn requests(&self) -> Vec<DemoRequest> {
        self.state().requests.clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.state().connections
    }

    /// Waits until the requests and the number of open connections satisfy a condition, or until the given
    /// time has passed.
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
