//! Shows what each thread does: the client that it serves, and the client's request. The page of
//! `--watch` shows this board.
//!
//! Each request writes to the board under a lock that all threads share. So a stage has a board only
//! if `--watch` is given.

use crate::http::Request;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread, ThreadId};
use std::time::Instant;

/// The longest request line that is shown, in characters.
const LONGEST: usize = 120;

/// The board on which each thread writes what it does.
#[derive(Debug, Default)]
pub(crate) struct Board(Mutex<HashMap<ThreadId, Line>>);

#[derive(Debug)]
struct Line {
    thread: Thread,
    client: Option<SocketAddr>,
    /// `None` while the thread waits for a request, or for the client to take the answer.
    request: Option<String>,
    since: Instant,
}

/// What the current thread does; the board shows this entry as long as this value lives. The drop of this
/// value restores the previous entry.
pub(crate) struct Doing<'b> {
    board: &'b Board,
    before: Option<Line>,
}

impl Board {
    /// Remembers that the current thread serves a client.
    pub(crate) fn serves(&self, client: SocketAddr) -> Doing<'_> {
        self.write(Some(client), None)
    }

    /// Remembers that the current thread computes the answer to a request.
    pub(crate) fn answers(&self, request: &Request<'_>) -> Doing<'_> {
        let target: String = request.target.chars().take(LONGEST).collect();
        self.write(request.peer, Some(format!("{} {target}", request.method)))
    }

    fn write(&self, client: Option<SocketAddr>, request: Option<String>) -> Doing<'_> {
        let thread = thread::current();
        let (id, line) = (thread.id(), Line { thread, client, request, since: Instant::now() });
        Doing { board: self, before: self.lock().insert(id, line) }
    }

    /// Returns the lines of the board, ordered by the names of the threads.
    pub(crate) fn json(&self) -> Json {
        let now = Instant::now();
        let lines = self.lock();
        let mut lines: Vec<_> = lines.values().collect();
        // This order puts `pool-1-thread-9` before `pool-1-thread-10`.
        lines.sort_by_key(|line| line.thread.name().map(|name| (name.len(), name)));
        let line = |line: &&Line| {
            json!({
                "thread": line.thread.name().unwrap_or("(no name)"),
                "client": line.client.map(|client| client.to_string()),
                "request": line.request,
                "seconds": now.saturating_duration_since(line.since).as_secs_f64(),
            })
        };
        lines.iter().map(line).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        let mut lines = self.board.lock();
        match self.before.take() {
            Some(before) => lines.insert(before.thread.id(), before),
            None => lines.remove(&thread::current().id()),
        };
    }
}
