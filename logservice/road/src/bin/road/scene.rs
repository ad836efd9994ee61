//! The parts of a scene: clients with reported calls, a gap that stops threads one by one, and checks that a
//! call returns.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use executor::{CancelToken, Latch};
use logservice_road::{Gaps, Log, Paper, Reason, Refused};

/// The time after which a call counts as hung. A call that does not hang returns at once, because no other
/// work runs.
const WATCHED: Duration = Duration::from_millis(300);

/// A log, its paper (the output), and a report with one line for each event.
pub(crate) struct Scene<L> {
    pub(crate) log: Arc<L>,
    pub(crate) paper: Paper,
    report: Vec<String>,
    accepted: Vec<&'static str>,
}

/// A call of `log` that has not returned yet.
pub(crate) struct Client {
    line: &'static str,
    token: CancelToken,
    returned: Receiver<Result<(), Refused>>,
}

impl<L: Log> Scene<L> {
    pub(crate) fn new(capacity: usize, gaps: &Gaps) -> Self {
        let paper = Paper::new();
        let log = Arc::new(L::start(capacity, &paper, gaps));
        Self { log, paper, report: Vec::new(), accepted: Vec::new() }
    }

    pub(crate) fn say(&mut self, what: impl Into<String>) {
        self.report.push(what.into());
    }

    /// Starts a client, which logs as a separate task.
    pub(crate) fn begin(&self, line: &'static str) -> Client {
        let (tell, returned) = mpsc::channel();
        let (log, token) = (Arc::clone(&self.log), CancelToken::new());
        let own = token.clone();
        thread::spawn(move || {
            let result = own.attach(|| log.log(line.to_owned()));
            _ = tell.send(result); // after the scene, no thread receives the answer
        });
        Client { line, token, returned }
    }

    /// Waits for the call's return, and reports the answer.
    pub(crate) fn end(&mut self, client: &Client) {
        let result = client.returned.recv().expect("a client does not panic");
        let what = match result {
            Ok(()) => {
                self.accepted.push(client.line);
                "accepted"
            }
            Err(Refused { reason: Reason::Stopped, .. }) => "refused, the log is stopped",
            Err(Refused { reason: Reason::Interrupted, .. }) => "interrupted, the line comes back",
        };
        self.say(format!("log({:?}): {what}", client.line));
    }

    /// Runs a client that logs a line, and reports the answer.
    pub(crate) fn log(&mut self, line: &'static str) {
        let client = self.begin(line);
        self.end(&client);
    }

    /// Reports that the client's call does not return: the queue is full, and no thread takes lines from
    /// it.
    pub(crate) fn hangs(&mut self, client: &Client) {
        assert!(client.returned.recv_timeout(WATCHED).is_err(), "{:?} has come back", client.line);
        self.say(format!("log({:?}): has not returned", client.line));
        client.token.cancel(); // so that the scene can end
        _ = client.returned.recv();
    }

    /// Cancels the client's task, and reports the answer.
    pub(crate) fn cancel(&mut self, client: &Client) {
        client.token.cancel();
        self.end(client);
    }

    /// Begins to stop the log, on another thread. The receiver gets a message when `stop` has returned.
    pub(crate) fn begin_to_stop(&self) -> Receiver<()> {
        let (tell, returned) = mpsc::channel();
        let log = Arc::clone(&self.log);
        thread::spawn(move || {
            log.stop();
            _ = tell.send(());
        });
        returned
    }

    pub(crate) fn stop_returns(&mut self, stopping: &Receiver<()>) {
        stopping.recv().expect("stop does not panic");
        self.say("stop(): has returned");
    }

    pub(crate) fn stop_hangs(&mut self, stopping: &Receiver<()>) {
        assert!(stopping.recv_timeout(WATCHED).is_err(), "stop has returned");
        self.say("stop(): has not returned");
    }

    pub(crate) fn stop(&mut self) {
        let stopping = self.begin_to_stop();
        self.stop_returns(&stopping);
    }

    /// Returns the whole report, with the answers to the clients and the lines that were written.
    pub(crate) fn over(mut self) -> Vec<String> {
        let list = |lines: &[String]| if lines.is_empty() { "nothing".to_owned() } else { lines.join(", ") };
        let accepted: Vec<_> = self.accepted.iter().map(|&line| line.to_owned()).collect();
        self.say(format!("accepted: {}; written: {}", list(&accepted), list(&self.paper.lines())));
        self.report
    }
}

/// Stops each thread that reaches a gap, until the scene lets the thread continue.
#[derive(Clone)]
pub(crate) struct Held {
    step: &'static str,
    come: Arc<AtomicUsize>,
    places: Arc<Vec<Place>>,
}

struct Place {
    taken: Latch,
    open: Latch,
}

impl Held {
    /// Stops the next `threads` threads that do `step`, just after the step.
    pub(crate) fn after(step: &'static str, threads: usize) -> (Self, Gaps) {
        let places = (0..threads).map(|_| Place { taken: Latch::new(1), open: Latch::new(1) }).collect();
        let held = Self { step, come: Arc::default(), places: Arc::new(places) };
        let own = held.clone();
        (held, Gaps::new(move |step| own.pass(step)))
    }

    fn pass(&self, step: &str) {
        if step != self.step {
            return;
        }
        if let Some(place) = self.places.get(self.come.fetch_add(1, Ordering::SeqCst)) {
            place.taken.count_down();
            place.open.wait().expect("the scene cancels no client in a gap");
        }
    }

    /// Waits until the thread with this number is in the gap; the numbers start at zero.
    pub(crate) fn wait_for(&self, number: usize) {
        self.places[number].taken.wait().expect("the scene itself is no task");
    }

    pub(crate) fn let_go(&self, number: usize) {
        self.places[number].open.count_down();
    }
}

/// Returns a receiver that gets a message each time a thread has done `step`.
pub(crate) fn seen(step: &'static str, also: &Gaps) -> (Receiver<()>, Gaps) {
    let (tell, told) = mpsc::channel();
    let (tell, also) = (Mutex::new(tell), also.clone());
    let gaps = Gaps::new(move |done| {
        if done == step {
            _ = tell.lock().unwrap_or_else(PoisonError::into_inner).send(());
        }
        also.after(done);
    });
    (told, gaps)
}
