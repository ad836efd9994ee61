//! The properties of a bounded acceptor; each property is a function. `exercise.toml` lists the properties
//! and says what each one promises.

use exercises_harness::{at_once, expect, fail, live_threads, step};

use super::exercise::{Listener, WhenFull};
use crate::below::{AtOnce, Gate, on_a_thread};
use crate::probe::{Counter, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

mod below;
mod world;

use below::{Counted, Dropping};
use world::{Client, Door, Fate, Running, accept_loop, returns};

const HANDED_OVER: &str = "the accept loop hands each client to the executor and comes back for the next one. A request runs on the \
                           thread on which the executor calls its job: not on the accept loop's thread, and not on a thread that you have \
                           started";
const SIDE_BY_SIDE: &str = "the executor calls two jobs on two threads, and each request waits for the other: no lock or other code of \
                            yours may keep them from running at the same time";
const ONE_TOO_MANY: &str = "a client has its place from before the hand-over to the executor until it has its answer, and only one client \
                            has a place at a time. Look for a place and take it in one step. A closure keeps only the values that it uses";
const PLACE_FIRST: &str = "with `Wait`, no client may be accepted without a place, even if the loop holds the client until a place is \
                           free. So the place comes first, and then accept(). Take the place at once: a place that was only looked at may \
                           be gone by then. Keep the place: it is not free before its client has the answer. Give the place back once, \
                           even after a panic";
const REFUSED_AT_ONCE: &str = "with `Refuse`, a client that comes when all places are taken is refused at once, by the accept loop itself: \
                               no client waits for a place, and no client is put into a queue of yours";
const WHEN_IT_COMES: &str = "what counts is whether a place is free when the client comes. accept() may return an hour after it was \
                             called: look when it has returned";
const COMES_BACK: &str = "a place was taken and has not come back, or the loop that waits for it was not woken. A place must come back in \
                          whichever way a client's job ends: it returns, it panics, the executor refuses it, or drops it. A Drop runs in \
                          every case";
const ONCE: &str = "a place comes back once: if a guard gives it back, no other line may, and a place that was not taken must not come \
                    back";
const LOST: &str = "every accepted client must be served or refused. If the executor refuses a job, or drops it, the values that the job \
                    has captured are dropped with it: refuse such a client. A Drop runs in every case. A client that was accepted at the \
                    moment of stop() is no exception";
const FAILED: &str = "a client hung up before it was accepted: there is no client to serve. If a place was taken for this client, give it \
                      back, and let the accept loop go on";
const EACH_PLACE: &str = "two loops waited for a place, two places are free, and the executor keeps one loop waiting: the other loop must \
                          go on. Each place that comes back must wake a loop, even if another place was free before, and no loop may wait \
                          for the execute() of another loop";
const FOR_NOBODY: &str = "the listener was closed, and a loop that had a place and no client has ended: that place must be free again, \
                          because another loop may wait for it";
const CALLED_AT_ONCE: &str = "the executor may call a job before its execute() returns, and the job gives back its place, or calls \
                              stop(). So while execute() runs, hold no lock that the job or stop() needs";
const STOP: &str = "after stop(), every run() must return. Only close() ends accept(). Every loop that waits for a place must be woken, \
                    and several loops may wait. A loop that is about to wait must not miss the stop. Set the flag under the lock under \
                    which the loops check it, and wake all loops";
const STOP_WAITS: &str = "stop() must not wait, neither for requests nor for a slow executor. So while accept(), execute(), serve() or \
                          refuse() run, hold no lock that stop() needs";
const AS_BEFORE: &str =
    "the executor had this client before stop(): the client is served as if stop() had not been called";
const SPINS: &str = "an accept loop that waits for a place must not look again and again: wait on a Condvar";

const AT_SIZE: &str = "the loop must go on however many clients were served, were refused or hung up: set no limit to the number of \
                       clients, and run() must not call itself";

/// The number of clients in a test with many clients.
const MANY: usize = 500;

const BOTH: [WhenFull; 2] = [WhenFull::Refuse, WhenFull::Wait];

/// Waits until the executor was given `clients` jobs.
fn until_given(below: &Counted, clients: usize, cause: &str) {
    expect("waiting for the executor to be given a client", cause, || below.given.wait_for(clients));
}

/// Waits until the accept loop has made `calls` calls to `accept`.
fn until_back(running: &Running<Arc<Counted>>, calls: usize, cause: &str) {
    expect("waiting for the accept loop to come back", cause, || running.door.accepts.wait_for(calls));
}

pub fn clients_are_handed_to_the_executor() {
    let (below, both) = (Counted::new(), Arc::new(Counter::new("both requests to run")));
    let running = Running::start(Arc::clone(&below), 2, WhenFull::Wait, 1);
    let clients = [1, 2].map(|number| {
        let both = Arc::clone(&both);
        Client::that(number, Box::new(move || meets(&both)))
    });
    clients.iter().for_each(|client| running.door.connect(client));
    until_given(&below, 2, HANDED_OVER);
    for client in &clients {
        client.must_be(Fate::Accepted, "the executor has called no job yet", HANDED_OVER);
    }
    let other = below.desk.run_one_elsewhere();
    below.desk.run_all(SIDE_BY_SIDE);
    if let Some(other) = other {
        expect("what the executor was given", SIDE_BY_SIDE, || drop(other.join()));
    }
    for client in &clients {
        client.must_be(Fate::Served, "the executor has called all its jobs", HANDED_OVER);
    }
    running.end();
}

fn meets(both: &Counter) {
    both.add();
    both.wait_for(2);
}

pub fn who_finds_no_place_is_refused_at_once() {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 2, WhenFull::Refuse, 1);
    let clients = [1, 2, 3].map(Client::new);
    clients.iter().for_each(|client| running.door.connect(client));
    clients[2].until_answered(REFUSED_AT_ONCE);
    until_back(&running, 4, REFUSED_AT_ONCE);
    clients[2].must_be(Fate::Refused, "2 places are taken, and a third client comes", REFUSED_AT_ONCE);
    if clients[2].refused_on() != Some(running.loops[0].thread().id()) {
        fail("client 3 was refused on another thread than the accept loop's", REFUSED_AT_ONCE);
    }
    below.desk.run_all(HANDED_OVER);
    for client in &clients[..2] {
        client.must_be(Fate::Served, "the executor has called all its jobs", REFUSED_AT_ONCE);
    }
    running.end();
}

pub fn a_place_that_is_free_when_the_client_comes_is_taken() {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Refuse, 1);
    let clients = [1, 2].map(Client::new);
    running.door.connect(&clients[0]);
    until_given(&below, 1, HANDED_OVER);
    until_back(&running, 2, HANDED_OVER);
    below.desk.run_all(HANDED_OVER);
    running.door.connect(&clients[1]);
    until_back(&running, 3, WHEN_IT_COMES);
    if clients[1].fate() == Fate::Refused {
        fail("client 1 was served, then client 2 came and was refused", WHEN_IT_COMES);
    }
    below.desk.run_all(HANDED_OVER);
    clients[1].must_be(Fate::Served, "the executor has called all its jobs", HANDED_OVER);
    running.end();
}

pub fn nobody_is_accepted_before_a_place_is_free() {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Wait, 1);
    let clients = [1, 2].map(Client::new);
    clients.iter().for_each(|client| running.door.connect(client));
    until_given(&below, 1, HANDED_OVER);
    until_others_wait("all places are taken, and the accept loop never sleeps", SPINS);
    clients[1].must_be(Fate::Outside, "the only place is taken", PLACE_FIRST);
    below.desk.run_all(HANDED_OVER);
    until_given(&below, 2, COMES_BACK);
    below.desk.run_all(HANDED_OVER);
    for client in &clients {
        client.must_be(Fate::Served, "the executor has called all its jobs", HANDED_OVER);
    }
    running.end();
}

/// Checks, with three clients and one place, that the second client gets the place of the first, and that the
/// third client finds no place.
fn the_place_comes_back_once(when_full: WhenFull, first: &Arc<Client>, ends: impl FnOnce(&Counted)) {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 1, when_full, 1);
    let others = [2, 3].map(Client::new);
    ends(&below);
    running.door.connect(first);
    until_given(&below, 1, HANDED_OVER);
    if when_full == WhenFull::Wait {
        running.door.connect(&others[0]); // the loop waits or is about to wait for the place
    }
    below.desk.run_all(HANDED_OVER);
    first.until_answered(LOST);
    if when_full == WhenFull::Refuse {
        until_back(&running, 2, HANDED_OVER);
        running.door.connect(&others[0]);
        until_back(&running, 3, HANDED_OVER);
        if others[0].fate() == Fate::Refused {
            fail(
                "client 1 has its answer, and client 2 was refused: the only place is still taken",
                COMES_BACK,
            );
        }
    }
    until_given(&below, 2, COMES_BACK);
    running.door.connect(&others[1]);
    if when_full == WhenFull::Refuse {
        others[1].until_answered(ONCE);
        others[1].must_be(Fate::Refused, "client 2 has the only place", ONCE);
    } else if others_come_to_rest() && others[0].fate() == Fate::Accepted {
        others[1].must_be(Fate::Outside, "client 2 has the only place", ONCE);
    }
    below.desk.run_all(HANDED_OVER);
    others[0].must_be(Fate::Served, "the executor has called all its jobs", HANDED_OVER);
    running.end();
    below.desk.run_all(HANDED_OVER);
}

pub fn a_request_that_panics_gives_its_place_back() {
    let first = Client::that_panics(1);
    the_place_comes_back_once(WhenFull::Wait, &first, |_| {});
}

pub fn whom_the_executor_refuses_is_refused() {
    let (first, gate) = (Client::new(1), Gate::new());
    gate.open();
    the_place_comes_back_once(WhenFull::Refuse, &first, |below| below.desk.decide_at(&gate, false));
    first.must_be(Fate::Refused, "the executor has refused this client", LOST);
}

pub fn who_was_taken_and_never_called_is_refused() {
    let below = Dropping::new();
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Wait, 1);
    let clients = [1, 2].map(Client::new);
    clients.iter().for_each(|client| running.door.connect(client));
    expect("waiting for the executor to be given a client", HANDED_OVER, || below.taken.wait_for(1));
    below.drop_all();
    clients[0].until_answered(LOST);
    clients[0].must_be(Fate::Refused, "the executor has dropped this client's job", LOST);
    expect("waiting for the executor to be given client 2", COMES_BACK, || below.taken.wait_for(2));
    below.drop_all();
    running.end();
}

pub fn an_accept_that_fails_takes_no_place() {
    for when_full in BOTH {
        let below = Counted::new();
        let running = Running::start(Arc::clone(&below), 1, when_full, 1);
        let clients = [1, 2].map(Client::new);
        running.door.fail_to_connect(2);
        running.door.connect(&clients[0]);
        until_given(&below, 1, FAILED);
        if when_full == WhenFull::Refuse {
            running.door.connect(&clients[1]);
            clients[1].until_answered(FAILED);
            clients[1].must_be(
                Fate::Refused,
                "accept() has failed twice, and client 1 has the only place",
                FAILED,
            );
        }
        below.desk.run_all(HANDED_OVER);
        clients[0].must_be(Fate::Served, "the executor has called all its jobs", FAILED);
        running.end();
    }
}

pub fn loops_share_the_places() {
    // Each loop serves its clients on its own thread, because the executor calls each job before `execute`
    // returns.
    let running = Running::start(AtOnce::new(false), 1, WhenFull::Wait, 2);
    let clients = [1, 2].map(Client::new);
    clients.iter().for_each(|client| running.door.connect(client));
    for client in &clients {
        client.until_answered(COMES_BACK);
        client.must_be(
            Fate::Served,
            "there are 1 place, 2 loops that wait for it, and 2 clients",
            ONE_TOO_MANY,
        );
    }
    running.end();

    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Refuse, 2);
    let clients = [1, 2, 3, 4, 5].map(Client::new);
    running.door.connect(&clients[0]);
    until_back(&running, 3, HANDED_OVER);
    clients[0].must_be(Fate::Accepted, "there are 2 loops, 1 free place and 1 client", WHEN_IT_COMES);
    let full = &clients[1..=2];
    full.iter().for_each(|client| running.door.connect(client));
    until_back(&running, 5, REFUSED_AT_ONCE);
    for client in full {
        client.must_be(
            Fate::Refused,
            "there are 2 loops and no free place, and 2 clients come at once",
            ONE_TOO_MANY,
        );
    }
    below.desk.run_all(HANDED_OVER);
    let free = &clients[3..];
    free.iter().for_each(|client| running.door.connect(client));
    until_back(&running, 7, REFUSED_AT_ONCE);
    let refused = free.iter().filter(|client| client.fate() == Fate::Refused).count();
    if refused != 1 {
        let cause = if refused == 0 { ONE_TOO_MANY } else { WHEN_IT_COMES };
        fail(
            &format!(
                "there are 2 loops and 1 free place, and 2 clients come at once: {refused} of them were refused"
            ),
            cause,
        );
    }
    running.end();
}

pub fn each_free_place_brings_a_loop() {
    let (below, gate) = (Counted::new(), Gate::new());
    let running = Running::start(Arc::clone(&below), 2, WhenFull::Wait, 2);
    let clients = [1, 2, 3, 4].map(Client::new);
    clients.iter().for_each(|client| running.door.connect(client));
    until_given(&below, 2, HANDED_OVER);
    others_come_to_rest();
    below.desk.decide_at(&gate, true);
    let other = below.desk.run_one_elsewhere();
    below.desk.run_all(HANDED_OVER); // both places are free now, and the gate will stop one of the loops
    until_given(&below, 3, EACH_PLACE);
    gate.open();
    if let Some(other) = other {
        expect("what the executor was given", HANDED_OVER, || drop(other.join()));
    }
    until_given(&below, 4, HANDED_OVER);
    running.end();
    below.desk.run_all(HANDED_OVER);
}

pub fn a_loop_that_ends_keeps_no_place() {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Wait, 2);
    others_come_to_rest();
    step("the listener is closed, and not by stop()");
    running.door.close();
    running.loops_return(FOR_NOBODY);
}

pub fn the_executor_may_call_at_once() {
    let running = Running::start(AtOnce::new(false), 1, WhenFull::Refuse, 1);
    let client = Client::new(1);
    running.door.connect(&client);
    client.until_answered(CALLED_AT_ONCE);
    client.must_be(Fate::Served, "the executor calls the job at once", CALLED_AT_ONCE);
    running.end();
}

pub fn a_request_may_stop_the_acceptor() {
    let running = Running::start(AtOnce::new(false), 1, WhenFull::Wait, 1);
    let acceptor = Arc::clone(&running.acceptor);
    let stops = move || at_once("stop()", STOP_WAITS, || acceptor.stop());
    let client = Client::that(1, Box::new(stops));
    running.door.connect(&client);
    client.until_answered(STOP_WAITS);
    running.loops_return(STOP);
}

pub fn stop_ends_a_loop_that_waits_for_a_client() {
    for when_full in BOTH {
        let running = Running::start(Counted::new(), 1, when_full, 1);
        let acceptor = Arc::clone(&running.acceptor);
        at_once("stop()", STOP_WAITS, || acceptor.stop());
        running.loops_return(STOP);
        at_once("a second stop()", STOP_WAITS, || acceptor.stop());
        returns(accept_loop(&acceptor), STOP); // there is no client to accept
        expect("waiting for the threads of the answer to end", STOP, || {
            while live_threads() > 0 {
                thread::yield_now();
            }
        });
    }
}

pub fn stop_ends_loops_that_wait_for_a_place() {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Wait, 2);
    let clients = [1, 2].map(Client::new);
    clients.iter().for_each(|client| running.door.connect(client));
    until_given(&below, 1, HANDED_OVER);
    at_once("stop()", STOP_WAITS, || running.acceptor.stop());
    if others_come_to_rest() && running.loops.iter().any(|thread| !thread.is_finished()) {
        fail("stop() has returned, all threads wait, and run() has not returned on one of two threads", STOP);
    }
    running.loops_return(STOP);
    below.desk.run_all(HANDED_OVER);
    clients[0].must_be(Fate::Served, "the executor has called all its jobs", AS_BEFORE);
    clients[1].must_be(Fate::StayedOutside, "the only place was taken until after stop()", PLACE_FIRST);
}

pub fn stop_waits_for_nobody() {
    let (below, decides) = (Counted::new(), Gate::new());
    below.desk.decide_at(&decides, true);
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Refuse, 1);
    let client = Client::new(1);
    running.door.connect(&client);
    decides.until_reached(HANDED_OVER);
    at_once("stop()", STOP_WAITS, || running.acceptor.stop());
    decides.open();
    running.loops_return(STOP);
    below.desk.run_all(HANDED_OVER);
    client.must_be(Fate::Served, "the executor has called all its jobs", AS_BEFORE);

    let (below, slow) = (Counted::new(), Gate::new());
    let running = Running::start(Arc::clone(&below), 1, WhenFull::Refuse, 1);
    let clients = [Client::new(1), Client::that(2, slow.passes())];
    clients.iter().for_each(|client| running.door.connect(client));
    slow.until_reached(REFUSED_AT_ONCE);
    at_once("stop()", STOP_WAITS, || running.acceptor.stop());
    slow.open();
    running.loops_return(STOP);
    below.desk.run_all(HANDED_OVER);
    clients[0].must_be(Fate::Served, "the executor has called all its jobs", AS_BEFORE);
}

pub fn nobody_who_was_accepted_is_lost() {
    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), 2, WhenFull::Wait, 1);
    let clients = [1, 2].map(Client::new);
    let arriving = {
        let (door, clients) = (Arc::clone(&running.door), clients.clone());
        on_a_thread("clients", Box::new(move || clients.iter().for_each(|client| door.connect(client))))
    };
    at_once("stop()", STOP_WAITS, || running.acceptor.stop());
    running.loops_return(STOP);
    drop(arriving.join());
    below.desk.run_all(HANDED_OVER);
    for client in &clients {
        if matches!(client.fate(), Fate::Outside | Fate::Accepted) {
            fail(
                &format!(
                    "the loops have ended and all jobs were called, and {} is still {:?}",
                    client.name,
                    client.fate()
                ),
                LOST,
            );
        }
    }
}

pub fn many_clients_come_and_go() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: this property looks for no race
    }
    let running = Running::start(AtOnce::new(false), 1, WhenFull::Wait, 1);
    running.door.fail_to_connect(MANY);
    let last = the_last_of_many(&running.door);
    last.until_answered(AT_SIZE);
    last.must_be(
        Fate::Served,
        "hundreds of clients hung up before they were accepted, and hundreds were served",
        AT_SIZE,
    );
    let depth = running.door.depth();
    if depth > 64 * MANY {
        let seen =
            format!("accept() was called {} times, and the stack has grown to {depth} bytes", 2 * MANY);
        fail(&seen, AT_SIZE);
    }
    running.end();

    let below = Counted::new();
    let running = Running::start(Arc::clone(&below), MANY, WhenFull::Refuse, 1);
    the_last_of_many(&running.door);
    until_given(&below, MANY, AT_SIZE);
    let one_more = the_last_of_many(&running.door);
    one_more.until_answered(REFUSED_AT_ONCE);
    one_more.must_be(Fate::Refused, "hundreds of places are taken, and hundreds more clients come", AT_SIZE);
    below.desk.run_all(HANDED_OVER);
    let late = Client::new(0);
    running.door.connect(&late);
    until_given(&below, MANY + 1, COMES_BACK);
    running.end();
    below.desk.run_all(HANDED_OVER);
    late.must_be(Fate::Served, "all clients before it have had their answers", COMES_BACK);
}

/// Lets many clients connect, and returns the last client.
fn the_last_of_many(door: &Door) -> Arc<Client> {
    let clients: Vec<_> = (1..=MANY).map(Client::new).collect();
    clients.iter().for_each(|client| door.connect(client));
    Arc::clone(&clients[MANY - 1])
}
