//! The properties of the server, each a function. `exercise.toml` lists them and says what each promises.

use std::collections::VecDeque;

use executor::{CancelToken, ThreadPoolExecutor};
use exercises_harness::{expect, fail, step};

use super::exercise::{Connection, Listener, Server, Stopped};
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

/// What has become of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    /// Nothing yet.
    #[default]
    Waits,
    Served,
    /// Its request was begun, and cancelled.
    GivenUp,
    Refused,
    /// Its connection was dropped without an answer.
    HungUpOn,
    /// Had not been accepted when the listener was closed, or came later.
    StayedOutside,
}

struct Client {
    name: String,
    fate: Shared<Fate>,
    /// Whether it gives up when it is cancelled.
    obeys: bool,
    may_finish: Shared<bool>,
    wake_up: Counter,
    begun: Counter,
    ended: Counter,
}

impl Client {
    fn new(name: &str, obeys: bool) -> Arc<Self> {
        Arc::new(Self {
            name: format!("client {name}"),
            fate: Shared::default(),
            obeys,
            may_finish: Shared::default(),
            wake_up: Counter::new("the test to let a request be finished"),
            begun: Counter::new("a request to begin"),
            ended: Counter::new("a request to end"),
        })
    }

    /// One whose request is finished at once.
    fn quick(name: &str) -> Arc<Self> {
        let client = Self::new(name, true);
        client.let_finish();
        client
    }

    fn let_finish(&self) {
        self.may_finish.with(|may| *may = true);
        self.wake_up.add();
    }

    fn now_is(&self, fate: Fate) {
        step(&format!("{}: {fate:?}", self.name));
        self.fate.with(|now| *now = fate);
        self.ended.add();
    }

    fn fate(&self) -> Fate {
        self.fate.with(|fate| *fate)
    }

    fn must_be_served(&self, cause: &str) {
        if self.fate() != Fate::Served {
            fail(&format!("{} was accepted before shutdown(), and now: {:?}", self.name, self.fate()), cause);
        }
    }

    fn wait_until_begun(&self) {
        let cause = "the accept loop does not hand it to the pool";
        expect("waiting for a request to begin", cause, || self.begun.wait_for(1));
    }
}

struct Link(Arc<Client>);

impl Connection for Link {
    fn serve(self, token: &CancelToken) {
        let client = &self.0;
        step(&format!("{}: its request begins", client.name));
        client.begun.add();
        let _registration = client.obeys.then(|| {
            let client = Arc::clone(client);
            token.on_cancel(move || {
                client.wake_up.add();
            })
        });
        client.wake_up.wait_for(1);
        client.now_is(if client.may_finish.with(|may| *may) { Fate::Served } else { Fate::GivenUp });
    }

    fn refuse(self) {
        self.0.now_is(Fate::Refused);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.0.fate() == Fate::Waits {
            self.0.now_is(Fate::HungUpOn);
        }
    }
}

/// A listener without a network: clients stand in a queue until they are accepted.
struct Door {
    outside: Shared<VecDeque<Arc<Client>>>,
    is_closed: Shared<bool>,
    /// Clients that came, and the close.
    events: Counter,
    closed: Counter,
    accepts: Counter,
}

impl Door {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            outside: Shared::default(),
            is_closed: Shared::default(),
            events: Counter::new("a client, or the listener to be closed"),
            closed: Counter::new("the listener to be closed"),
            accepts: Counter::new("the accept loop to call accept()"),
        })
    }

    fn connect(&self, client: &Arc<Client>) {
        step(&format!("{} connects", client.name));
        self.outside.with(|outside| outside.push_back(Arc::clone(client)));
        if self.is_closed.with(|closed| *closed) {
            self.turn_away();
        }
        self.events.add();
    }

    fn turn_away(&self) {
        for client in self.outside.with(std::mem::take) {
            client.now_is(Fate::StayedOutside);
        }
    }
}

impl Listener for Arc<Door> {
    type Connection = Link;

    fn accept(&self) -> Option<Link> {
        self.accepts.add();
        loop {
            let seen = self.events.get();
            if self.is_closed.with(|closed| *closed) {
                return None;
            }
            if let Some(client) = self.outside.with(VecDeque::pop_front) {
                step(&format!("accepts {}", client.name));
                return Some(Link(client));
            }
            self.events.wait_for(seen + 1);
        }
    }

    fn close(&self) {
        step("closes the listener");
        self.is_closed.with(|closed| *closed = true);
        self.turn_away();
        self.events.add();
        self.closed.add();
    }
}

/// A server whose accept loop runs on a thread of its own.
struct Running {
    server: Arc<Server<Arc<Door>>>,
    door: Arc<Door>,
    loop_thread: thread::JoinHandle<()>,
}

const NO_END: &str = "shutdown() waits for something that does not come";

impl Running {
    fn start(threads: usize) -> Self {
        let door = Door::new();
        let server = Arc::new(Server::new(Arc::clone(&door), ThreadPoolExecutor::fixed(threads)));
        let loop_thread = {
            let server = Arc::clone(&server);
            spawn("accept loop", move || server.run())
        };
        Self { server, door, loop_thread }
    }

    /// One client that is being served.
    fn with_request_in_progress(threads: usize, client: &Arc<Client>) -> Self {
        let running = Self::start(threads);
        running.door.connect(client);
        client.wait_until_begun();
        running
    }

    /// Waits until the pool has been given so many clients.
    fn wait_for_hand_over(&self, clients: usize) {
        let cause = "the accept loop has to hand a client to the pool and come back for the next one, however long the \
                     first one takes";
        expect("waiting for the accept loop to come back", cause, || self.door.accepts.wait_for(clients + 1));
    }

    fn shutdown(&self, cause: &str, deadline: &CancelToken) -> Stopped {
        expect("shutdown()", cause, || self.server.shutdown(deadline))
    }

    /// The same on another thread.
    fn begin_shutdown(&self, deadline: &CancelToken) -> thread::JoinHandle<Stopped> {
        let (server, deadline) = (Arc::clone(&self.server), deadline.clone());
        spawn("shutdown", move || {
            let stopped = server.shutdown(&deadline);
            step("shutdown() has returned");
            stopped
        })
    }

    fn wait_for_close(&self) {
        let cause = "the listener is open while shutdown() waits, and clients keep coming: close it first";
        expect("waiting for the listener to be closed", cause, || self.door.closed.wait_for(1));
    }

    /// After a shutdown, when no request is held up any more.
    fn end(self) {
        let cause = "the accept loop is still waiting for clients: a flag is seen only by a thread that looks at it. Only \
                     close() brings a thread back from accept()";
        expect("run()", cause, || join(self.loop_thread));
    }
}

fn spawn<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::Builder::new().name(name.into()).spawn(body).expect("a thread")
}

fn join<T>(thread: thread::JoinHandle<T>) -> T {
    thread
        .join()
        .unwrap_or_else(|_| fail("a thread of the test panicked", "run() and shutdown() never panic"))
}

fn join_shutdown(cause: &str, thread: thread::JoinHandle<Stopped>) -> Stopped {
    expect("shutdown()", cause, || join(thread))
}

/// A deadline that nobody lets pass.
fn no_deadline() -> CancelToken {
    CancelToken::new()
}

/// A deadline that is over.
fn time_is_up() -> CancelToken {
    let deadline = CancelToken::new();
    step("the time is up");
    deadline.cancel();
    deadline
}

pub fn clients_are_served_side_by_side() {
    let running = Running::start(2);
    let clients = [Client::new("1", true), Client::new("2", true)];
    for client in &clients {
        running.door.connect(client);
    }
    let cause = "the accept loop comes back for the second client only when the first one is served: hand it to the pool";
    for client in &clients {
        expect("waiting for both requests to begin", cause, || client.begun.wait_for(1));
    }
    clients.iter().for_each(|client| client.let_finish());
    running.shutdown(NO_END, &no_deadline());
    for client in &clients {
        client.must_be_served("it was being served: shutdown() has to wait for it");
    }
    if running.server.refused() > 0 {
        fail(
            &format!("both clients were served, and {} were refused", running.server.refused()),
            "a connection counts as refused only if it was refused",
        );
    }
    running.end();
}

pub fn shutdown_ends_the_accept_loop() {
    let running = Running::start(1);
    running.wait_for_hand_over(0);
    running.shutdown(NO_END, &no_deadline());
    running.end();
}

pub fn shutdown_waits_for_requests_in_progress() {
    let client = Client::new("1", true);
    let running = Running::with_request_in_progress(1, &client);
    let returned = Arc::new(Counter::new("shutdown() to return"));
    let shutdown = {
        let (server, returned) = (Arc::clone(&running.server), Arc::clone(&returned));
        spawn("shutdown", move || {
            let stopped = server.shutdown(&no_deadline());
            step("shutdown() has returned");
            returned.add();
            stopped
        })
    };
    for _ in 0..10 {
        thread::yield_now();
    }
    if returned.get() > 0 && client.fate() == Fate::Waits {
        fail(
            "shutdown() returned, and a request is in progress",
            "there is time: shutdown() has to wait for those who are in",
        );
    }
    client.let_finish();
    join_shutdown(NO_END, shutdown);
    client.must_be_served("the time is not up: nobody is cut off before that");
    running.end();
}

pub fn who_was_accepted_and_not_begun_is_served() {
    let clients = [Client::new("1", true), Client::new("2", true)];
    let running = Running::with_request_in_progress(1, &clients[0]);
    running.door.connect(&clients[1]);
    running.wait_for_hand_over(2);
    let shutdown = running.begin_shutdown(&no_deadline());
    for _ in 0..3 {
        thread::yield_now();
    }
    clients.iter().for_each(|client| client.let_finish());
    join_shutdown(NO_END, shutdown);
    let cause = "it was waiting in the pool's queue. Accepted is accepted, begun or not: there is more to wait for than \
                 what runs";
    clients[1].must_be_served(cause);
    running.end();
}

pub fn nobody_connects_while_shutdown_waits() {
    let client = Client::new("1", true);
    let running = Running::with_request_in_progress(1, &client);
    let shutdown = running.begin_shutdown(&no_deadline());
    running.wait_for_close();
    client.let_finish();
    join_shutdown(NO_END, shutdown);
    running.end();
}

pub fn nobody_who_was_accepted_is_hung_up_on() {
    let running = Running::start(1);
    let clients = ["1", "2"].map(Client::quick);
    let arriving = {
        let (door, clients) = (Arc::clone(&running.door), clients.clone());
        spawn("clients", move || clients.iter().for_each(|client| door.connect(client)))
    };
    let server = Arc::clone(&running.server);
    running.shutdown(NO_END, &no_deadline());
    join(arriving);
    running.end();
    check_answers(&server, &clients);
}

/// When all is over: everybody has had an answer, and `refused()` is right.
fn check_answers(server: &Server<Arc<Door>>, clients: &[Arc<Client>]) {
    for client in clients {
        match client.fate() {
            Fate::Waits => fail(
                &format!("{} was accepted, and has no answer", client.name),
                "it is still in a queue that nobody looks at any more",
            ),
            Fate::HungUpOn => fail(
                &format!("{} was accepted and hung up on, without an answer", client.name),
                "its connection was dropped: the pool refused the task (after shutdown() it does), or handed it back \
                 unrun, and what the task had captured went with it. Refuse such a connection, wherever that happens: a \
                 Drop is told in every case",
            ),
            _ => {}
        }
    }
    let refused = clients.iter().filter(|client| client.fate() == Fate::Refused).count();
    if server.refused() != refused {
        fail(
            &format!("clients that were refused: {refused}; refused() is {}", server.refused()),
            "every refusal counts, once, whoever refuses",
        );
    }
}

pub fn the_wait_ends_with_the_deadline() {
    let client = Client::new("1", false);
    let running = Running::with_request_in_progress(1, &client);
    let deadline = CancelToken::new();
    let clock = {
        let deadline = deadline.clone();
        spawn("clock", move || {
            step("the time is up");
            deadline.cancel();
        })
    };
    let cause = "the time is up, and shutdown() waits for a request that does not end. The deadline may come during the \
                 wait, and a request that does not look at its token cannot be waited for afterwards either";
    running.shutdown(cause, &deadline);
    join(clock);
    client.let_finish();
    running.end();
}

pub fn requests_in_progress_are_cancelled_at_the_deadline() {
    let client = Client::new("1", true);
    let running = Running::with_request_in_progress(1, &client);
    running.shutdown(NO_END, &time_is_up());
    let cause = "shutdown() has returned, and a request goes on for ever: the token that serve() was given is not \
                 cancelled. shutdown_now() cancels those of the pool's tasks, CancelToken::current() is a task's own";
    expect("waiting for the request in progress to give up", cause, || client.ended.wait_for(1));
    running.end();
}

pub fn who_was_not_begun_is_refused_at_the_deadline() {
    let clients = [Client::new("1", false), Client::new("2", true)];
    let running = Running::with_request_in_progress(1, &clients[0]);
    running.door.connect(&clients[1]);
    running.wait_for_hand_over(2);
    running.shutdown(NO_END, &time_is_up());
    check_answers(&running.server, &clients[1..]);
    if clients[1].fate() != Fate::Refused {
        fail(&format!("client 2, not begun, now: {:?}", clients[1].fate()), "there is no time to serve it");
    }
    clients[0].let_finish();
    running.end();
}

pub fn the_outcome_tells_how_it_ended() {
    let quick = Client::quick("1");
    let running = Running::with_request_in_progress(1, &quick);
    if running.shutdown(NO_END, &no_deadline()) != Stopped::InOrder {
        fail("everybody was served, and shutdown() says CutOff", "the time was not up");
    }
    running.end();
    let client = Client::new("2", true);
    let running = Running::with_request_in_progress(1, &client);
    if running.shutdown(NO_END, &time_is_up()) != Stopped::CutOff {
        fail(
            "a request was cut off, and shutdown() says InOrder",
            "that the pool has ended says nothing: it ends after a shutdown_now(), too, and sooner. Say what you did",
        );
    }
    running.end();
}

pub fn a_second_shutdown_is_harmless() {
    let quick = Client::quick("1");
    let running = Running::with_request_in_progress(1, &quick);
    running.shutdown(NO_END, &no_deadline());
    let cause = "the server has stopped already, and the second shutdown() waits for it to stop again";
    if running.shutdown(cause, &no_deadline()) != Stopped::InOrder {
        fail(
            "the server stopped in order, and the second shutdown() says CutOff",
            "nothing was cut off since",
        );
    }
    running.end();
    let client = Client::new("2", false);
    let running = Running::with_request_in_progress(1, &client);
    running.shutdown(NO_END, &time_is_up());
    let cause =
        "the server was cut off already, and the second shutdown() waits for what the first one gave up";
    if running.shutdown(cause, &no_deadline()) != Stopped::CutOff {
        fail(
            "the first shutdown() cut off, and the second one says InOrder",
            "it was not: remember what was done",
        );
    }
    client.let_finish();
    running.end();
}

pub fn shutdowns_at_the_same_time_agree() {
    let client = Client::new("1", true);
    let running = Running::with_request_in_progress(1, &client);
    let first = running.begin_shutdown(&no_deadline());
    running.wait_for_close();
    let cause = "two threads stop the server at the same time, and the second one's time is up, but it waits for the \
                 first one. Hold no lock while waiting";
    let second = running.shutdown(cause, &time_is_up());
    check_cut_off("the second", second);
    let first =
        join_shutdown("the request was cancelled by the second one, and the first one waits on", first);
    check_cut_off("the first", first);
    running.end();
}

fn check_cut_off(which: &str, stopped: Stopped) {
    if stopped != Stopped::CutOff {
        fail(
            &format!("the time was up for one of two, and {which} shutdown() says {stopped:?}"),
            "that somebody else is stopping the server is not the end: whoever calls shutdown() waits for it, and \
             learns how it came",
        );
    }
}
