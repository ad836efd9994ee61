//! The queue that the tests hand to an answer, and calls that check what the log promises.

use std::collections::VecDeque;

use exercises_harness::{at_once, expect, fail, step};

use super::super::exercise::{Lines, Log, Refused};
use crate::probe::{Counter, Shared, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, Condvar, Mutex, thread};

pub const NOT_ENDED: &str = "the writer waits in take(), and nothing will come: the log is stopped, and all accepted lines are written. \
                             The client that ends the last reservation, and the caller of stop(), must find out whether the writer has to \
                             be woken: change the state that the writer checks, and then call wake()";
pub const STOP_WAITS: &str = "stop() says that the log is stopped and wakes the writer. It waits for no client and for no line: no lock \
                              that it needs may be held during put(), take() or write()";
pub const CLIENT_WAITS: &str = "log() waits for room in the queue and for nothing else: no lock that it needs may be held during \
                                put(), take() or write()";
pub const SPINS: &str = "run() calls take() again and again, and keeps a core busy for nothing: take() waits until there is a line or a \
                         thread wakes it, and one wake() ends one take()";

/// A queue for tests: a property can change how many lines fit into the queue, and can interrupt the clients
/// that wait.
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Counts the calls of put().
    pub puts: Counter,
}

struct State {
    lines: VecDeque<String>,
    room: usize,
    interrupted: Vec<&'static str>,
    is_woken: bool,
}

impl Queue {
    pub fn new(room: usize) -> Arc<Self> {
        let state = State { lines: VecDeque::new(), room, interrupted: Vec::new(), is_woken: false };
        let puts = Counter::new("a client to put its line");
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), puts })
    }

    /// Changes the number of lines for which there is room.
    pub fn make_room(&self, room: usize) {
        step(&format!("makes room for {room}"));
        self.state.lock().unwrap().room = room;
        self.changed.notify_all();
    }

    /// Interrupts the put() of the given line; that put() then returns the line.
    pub fn interrupt(&self, line: &'static str) {
        step(&format!("interrupts the client that waits with {line:?}"));
        self.state.lock().unwrap().interrupted.push(line);
        self.changed.notify_all();
    }
}

impl Lines for Queue {
    fn put(&self, line: String) -> Result<(), String> {
        self.puts.add();
        let mut state = self.state.lock().unwrap();
        while state.lines.len() >= state.room {
            if state.interrupted.contains(&line.as_str()) {
                return Err(line);
            }
            state = self.changed.wait(state).unwrap();
        }
        state.lines.push_back(line);
        self.changed.notify_all();
        Ok(())
    }

    fn take(&self) -> Option<String> {
        let mut state = self.state.lock().unwrap();
        while state.lines.is_empty() && !state.is_woken {
            state = self.changed.wait(state).unwrap();
        }
        if state.is_woken {
            state.is_woken = false;
            return None;
        }
        let line = state.lines.pop_front();
        self.changed.notify_all();
        line
    }

    fn wake(&self) {
        self.state.lock().unwrap().is_woken = true;
        self.changed.notify_all();
    }
}

/// A log with its queue, its writer and the written lines.
pub struct World {
    pub queue: Arc<Queue>,
    pub log: Arc<Log>,
    written: Arc<Shared<Vec<String>>>,
    lines_written: Arc<Counter>,
    /// This counter becomes one when the writer returns from run().
    ended: Arc<Counter>,
    writer: Option<thread::JoinHandle<()>>,
}

impl World {
    /// Makes a log without a writer, and the log's queue, which has room for the given number of lines.
    pub fn new(room: usize) -> Self {
        let queue = Queue::new(room);
        let log = Arc::new(Log::new(Arc::clone(&queue) as Arc<dyn Lines>));
        let ended = Arc::new(Counter::new("the writer to end"));
        let lines_written = Arc::new(Counter::new("the writer to write"));
        Self { queue, log, written: Arc::default(), lines_written, ended, writer: None }
    }

    /// Makes a log whose writer runs.
    pub fn running(room: usize) -> Self {
        let mut world = Self::new(room);
        world.start_the_writer(|_| ());
        world
    }

    /// Makes a log whose writer waits for a line.
    pub fn waiting(room: usize) -> Self {
        let world = Self::running(room);
        world.the_writer_waits(
            "the log was not stopped",
            "a log is over when it is stopped *and* owes nothing; until then, call take() again",
        );
        world
    }

    /// Starts the writer, which calls `writing` with each line before it counts the line as written.
    pub fn start_the_writer(&mut self, writing: impl Fn(&str) + Send + 'static) {
        let (log, written) = (Arc::clone(&self.log), Arc::clone(&self.written));
        let (lines_written, ended) = (Arc::clone(&self.lines_written), Arc::clone(&self.ended));
        self.writer = Some(start("writer", move || {
            log.run(|line| {
                step(&format!("writes {line:?}"));
                writing(&line);
                written.with(|written| written.push(line));
                lines_written.add();
            });
            ended.add();
        }));
    }

    /// Starts a client that logs the given lines on its own thread. The client returns the results of log().
    pub fn client<const N: usize>(
        &self,
        lines: [&'static str; N],
    ) -> thread::JoinHandle<[Result<(), Refused>; N]> {
        let log = Arc::clone(&self.log);
        start("client", move || lines.map(|line| log.log(line.to_owned())))
    }

    /// Starts a client, and waits until it has called put().
    pub fn client_in_put(&self, line: &'static str) -> thread::JoinHandle<[Result<(), Refused>; 1]> {
        let before = self.queue.puts.get();
        let client = self.client([line]);
        expect("waiting for log() to call put()", "an open log puts the line into its queue", || {
            self.queue.puts.wait_for(before + 1);
        });
        client
    }

    /// Logs a line, and checks that it is accepted.
    pub fn accept(&self, line: &'static str) {
        accepted(line, expect("log()", CLIENT_WAITS, || self.log.log(line.to_owned())));
    }

    /// Waits until the writer has written `lines` lines.
    pub fn until_written(&self, lines: usize) {
        expect("waiting for the writer to write", "run() writes each line that it takes", || {
            self.lines_written.wait_for(lines);
        });
    }

    pub fn stop(&self) {
        at_once("stop()", STOP_WAITS, || self.log.stop());
    }

    /// Waits until all other threads wait, and checks that the writer has not ended.
    pub fn the_writer_waits(&self, why_not_ended: &str, cause: &str) {
        until_others_wait("the writer runs on and on, and there is no line", SPINS);
        if self.ended.get() > 0 {
            fail(&format!("run() has returned: {why_not_ended}"), cause);
        }
    }

    fn ends(&mut self, cause: &str) {
        if others_come_to_rest() && self.ended.get() == 0 {
            fail("the log is stopped, all clients have been answered, and run() has not returned", cause);
        }
        let writer = self.writer.take().expect("a writer was started");
        join("run(), of a log that is stopped,", cause, writer);
    }

    /// Waits for the end of the writer, and checks the number of written lines.
    pub fn ends_with_so_many(&mut self, expected: usize, cause: &str) -> Vec<String> {
        self.ends(cause);
        let written = self.written.with(|written| written.clone());
        if written.len() != expected {
            fail(&format!("accepted: {expected} lines; written when run() returned: {written:?}"), cause);
        }
        written
    }

    /// Waits for the end of the writer, and checks that it has written all lines, with the lines of each
    /// client in their original order.
    pub fn ends_with_many(&mut self, clients: &[Vec<String>], cause: &str) {
        self.ends(NOT_ENDED);
        let written = self.written.with(|written| written.clone());
        let accepted: usize = clients.iter().map(Vec::len).sum();
        if written.len() != accepted {
            fail(
                &format!("lines accepted: {accepted}; written when run() returned: {}", written.len()),
                cause,
            );
        }
        for lines in clients {
            let mut place = written.iter();
            if let Some(line) = lines.iter().find(|line| !place.any(|written| written == *line)) {
                fail(
                    &format!(
                        "{line:?} was accepted, and is not written, or is written before an earlier line"
                    ),
                    cause,
                );
            }
        }
    }

    /// Waits for the end of the writer, and checks that it has written the expected lines.
    pub fn ends_with(&mut self, expected: &[&str], cause: &str) {
        self.ends(NOT_ENDED);
        let written = self.written.with(|written| written.clone());
        if written != expected {
            fail(&format!("accepted: {expected:?}; written when run() returned: {written:?}"), cause);
        }
    }
}

/// Starts a thread with a name; messages can show this name.
pub fn start<R: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

/// Waits for the end of a thread. `what` is the call that the thread is in, and `cause` is the likely cause
/// if that call never ends.
pub fn join<R>(what: &str, cause: &str, handle: thread::JoinHandle<R>) -> R {
    let result = expect(what, cause, || handle.join());
    result.unwrap_or_else(|_| fail("a thread of the test panicked", "no call of a right answer panics"))
}

pub fn accepted(line: &str, result: Result<(), Refused>) {
    if let Err(refused) = result {
        fail(
            &format!(
                "log({line:?}) returned Err({refused:?}), and the line is in the queue, or there was room for it"
            ),
            "a log that is open accepts a line, and put() says whether it could be put",
        );
    }
}

pub fn interrupted(line: &str, client: thread::JoinHandle<[Result<(), Refused>; 1]>) {
    let cause = "put() has given the line back, because its client must stop waiting. A client that puts the line again goes on as if \
                 nothing had happened";
    let [result] = join("log(), of a client that was interrupted,", cause, client);
    if result != Err(Refused::Interrupted(line.to_owned())) {
        fail(
            &format!("put() gave {line:?} back, and log() returned {result:?}"),
            "a line that was not put is not accepted: log() gives it back as Interrupted",
        );
    }
}

pub fn stopped(line: &str, result: Result<(), Refused>) {
    if result != Err(Refused::Stopped(line.to_owned())) {
        fail(
            &format!("the log was stopped, and then log({line:?}) returned {result:?}"),
            "a log that is stopped accepts nothing, and gives the line back as Stopped",
        );
    }
}
