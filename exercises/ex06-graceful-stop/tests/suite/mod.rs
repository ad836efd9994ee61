//! The properties of the server; each property is a function. `exercise.toml` lists the properties and says
//! what each of them promises.

use executor::{CancelToken, FifoQueue, ThreadPoolExecutor};
use exercises_harness::{expect, fail, step};

use super::exercise::{Server, Stopped};
use crate::probe::{Counter, until_others_wait};
use crate::sync::{Arc, thread};

mod world;

use world::{
    A_WHILE, Client, Door, Fate, NO_END, Running, join, join_shutdown, no_deadline, spawn, time_is_up,
};

const AT_SIZE: &str = "the accept loop comes back after the hundredth client just as after the first one, whether that client was \
                       handed over or refused; and at the end each client has an answer";

/// The number of clients in the properties about many clients.
const MANY: usize = 300;

pub fn clients_are_served_side_by_side() {
    let running = Running::start(2);
    let clients = [Client::new("1", true), Client::new("2", true)];
    for client in &clients {
        running.door.connect(client);
    }
    let cause = "the accept loop comes back for the second client only when the first one is served: hand each client to the pool";
    for client in &clients {
        expect("waiting for both requests to begin", cause, || client.begun.wait_for(1));
    }
    clients.iter().for_each(|client| client.let_finish());
    running.shutdown(NO_END, &no_deadline());
    for client in &clients {
        client.must_be_served("the client was being served: shutdown() has to wait for it");
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
    (0..A_WHILE).for_each(|_| thread::yield_now());
    if returned.get() > 0 && client.fate() == Fate::Waits {
        fail(
            "shutdown() returned while a request is in progress",
            "the time is not up: shutdown() has to wait for every accepted client",
        );
    }
    client.let_finish();
    join_shutdown(NO_END, shutdown);
    client.must_be_served("the time is not up: no client is cut off before that");
    running.end();
}

pub fn shutdown_sleeps_while_it_waits() {
    let client = Client::new("1", true);
    let running = Running::with_request_in_progress(1, &client);
    let shutdown = running.begin_shutdown(&no_deadline());
    until_others_wait(
        "a thread never sleeps while shutdown() waits for a request",
        "a loop asks again and again whether the end or the deadline has come, and keeps a core busy for nothing: await_termination() \
         sleeps until the pool has ended, and if the deadline is the current token, its cancellation ends that sleep",
    );
    client.let_finish();
    join_shutdown(NO_END, shutdown);
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
    let cause = "the client was waiting in the pool's queue. Accepted is accepted, even if the request has not begun: there is more to \
                 wait for than what runs";
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

pub fn whom_a_full_pool_refuses_is_refused() {
    let pool =
        ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1)).build().expect("a valid pool");
    let running = Running::on(pool);
    let clients = ["1", "2", "3"].map(|name| Client::new(name, true));
    for (n, client) in clients.iter().enumerate() {
        running.door.connect(client);
        let cause = "the pool serves one client, keeps another in its queue and has refused the third. The accept loop must then refuse \
                     the third client and come back for the next: it serves no client itself";
        expect("waiting for the accept loop to come back", cause, || running.door.accepts.wait_for(n + 2));
        clients[0].wait_until_begun();
    }
    let server = Arc::clone(&running.server);
    if clients[2].fate() != Fate::Refused || server.refused() != 1 {
        fail(
            &format!(
                "the pool was full when client 3 came. The client's state now is {:?}; refused() is {}",
                clients[2].fate(),
                server.refused()
            ),
            "the task that the pool refuses comes back in the error: refuse its connection, and count it",
        );
    }
    clients.iter().for_each(|client| client.let_finish());
    if running.shutdown(NO_END, &no_deadline()) != Stopped::InOrder {
        fail(
            "a client was refused before shutdown(), and all others were served in time, but shutdown() returned CutOff",
            "the outcome tells whether the time was up, not whether a client was refused",
        );
    }
    running.end();
}

pub fn a_request_that_panics_is_over() {
    let client = Client::panicking("1");
    let running = Running::with_request_in_progress(1, &client);
    let cause = "a request has panicked, and shutdown() waits for it. A panic skips the lines after serve(): work that must be done in \
                 any case belongs in a Drop";
    let stopped = running.shutdown(cause, &no_deadline());
    if stopped != Stopped::InOrder || running.server.refused() != 0 {
        let refused = running.server.refused();
        fail(
            &format!(
                "a request has panicked and no client was refused; shutdown() returned {stopped:?}, and refused() is {refused}"
            ),
            "a request that was begun is not refused, even if it panics: only refuse() counts",
        );
    }
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

/// Checks, after the shutdown, that each client has had an answer and that `refused()` is correct.
fn check_answers(server: &Server<Arc<Door>>, clients: &[Arc<Client>]) {
    for client in clients {
        match client.fate() {
            Fate::Waits => fail(
                &format!("{} was accepted, and has no answer", client.name),
                "the client is still in a queue that no thread looks at any more",
            ),
            Fate::HungUpOn => fail(
                &format!("{} was accepted and hung up on, without an answer", client.name),
                "its connection was dropped: the pool refused the task (as it does after shutdown()), or handed it back unrun, and the \
                 connection was dropped with the task. Refuse such a connection in both cases: a Drop runs in each of them",
            ),
            _ => {}
        }
    }
    let refused = clients.iter().filter(|client| client.fate() == Fate::Refused).count();
    if server.refused() != refused {
        fail(
            &format!("clients that were refused: {refused}; refused() is {}", server.refused()),
            "every refusal counts once, on whichever thread it happens",
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
    let cause = "the time is up, and shutdown() waits for a request that does not end. The deadline may come during the wait. A request \
                 that ignores its token may never end, so shutdown() must not wait for it afterwards either";
    running.shutdown(cause, &deadline);
    join(clock);
    client.let_finish();
    running.end();
}

pub fn requests_in_progress_are_cancelled_at_the_deadline() {
    let client = Client::new("1", true);
    let running = Running::with_request_in_progress(1, &client);
    running.shutdown(NO_END, &time_is_up());
    let cause = "shutdown() has returned, and a request goes on for ever: the token that was passed to serve() is not cancelled. \
                 shutdown_now() cancels the tokens of the pool's tasks; inside a task, CancelToken::current() is a task's own token";
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
        fail(
            &format!("client 2 was not begun, and its state is now {:?}", clients[1].fate()),
            "there is no time to serve it",
        );
    }
    clients[0].let_finish();
    running.end();
}

pub fn the_outcome_tells_how_it_ended() {
    let quick = Client::quick("1");
    let running = Running::with_request_in_progress(1, &quick);
    if running.shutdown(NO_END, &no_deadline()) != Stopped::InOrder {
        fail("all clients were served, and shutdown() returned CutOff", "the time was not up");
    }
    running.end();
    let client = Client::new("2", true);
    let running = Running::with_request_in_progress(1, &client);
    if running.shutdown(NO_END, &time_is_up()) != Stopped::CutOff {
        fail(
            "a request was cut off, and shutdown() returned InOrder",
            "the end of the pool says nothing: a pool also ends after shutdown_now(). Say what you did",
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
            "the server stopped in order, and the second shutdown() returned CutOff",
            "no client has been cut off since",
        );
    }
    running.end();
    let client = Client::new("2", false);
    let running = Running::with_request_in_progress(1, &client);
    running.shutdown(NO_END, &time_is_up());
    let cause =
        "the first shutdown() cut off a request, and the second one waits for what the first one gave up";
    if running.shutdown(cause, &no_deadline()) != Stopped::CutOff {
        fail(
            "the first shutdown() cut off a request, and the second one returned InOrder",
            "the end was not orderly: remember the outcome of the first call",
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
    let cause = "two threads call shutdown() at the same time. The second one's time is up, but it waits for the first one. Hold no lock \
                 while waiting";
    let second = running.shutdown(cause, &time_is_up());
    if second != Stopped::CutOff {
        fail(
            &format!(
                "the time was up for the second of two calls while a request was in progress, and this call returned {second:?}"
            ),
            "a shutdown() that another thread has begun is not the end: each caller of shutdown() must wait for the end, and learn the \
             outcome. If one caller decides the outcome, it must write the outcome down before it cuts off any client",
        );
    }
    let first = join_shutdown("the second call cancelled the request, and the first call still waits", first);
    if first != second {
        fail(
            &format!(
                "the time was up for one of two calls, which returned {second:?}; the other call, which also waited, returned {first:?}"
            ),
            "the other caller can see the pool end as soon as you cut it off: write down that you cut the pool off before you do it",
        );
    }
    running.end();
}

pub fn many_clients_have_an_answer() {
    if !exercises_harness::first_run!() {
        return; // one schedule is enough: this property looks for no race
    }
    let pool =
        ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1)).build().expect("a valid pool");
    let first = Client::new("in progress", true);
    let running = Running::on(pool);
    running.door.connect(&first);
    first.wait_until_begun();
    let clients: Vec<_> = (1..=MANY).map(|number| Client::quick(&number.to_string())).collect();
    clients.iter().for_each(|client| running.door.connect(client));
    expect("waiting for the accept loop to come back", AT_SIZE, || running.door.accepts.wait_for(MANY + 2));
    first.let_finish();
    running.shutdown(NO_END, &no_deadline());
    check_answers(&running.server, &clients);
    running.end();

    let first = Client::new("in progress", false);
    let running = Running::with_request_in_progress(1, &first);
    let clients: Vec<_> = (1..=MANY).map(|number| Client::quick(&number.to_string())).collect();
    clients.iter().for_each(|client| running.door.connect(client));
    expect("waiting for the accept loop to come back", AT_SIZE, || running.door.accepts.wait_for(MANY + 2));
    running.shutdown(NO_END, &time_is_up());
    check_answers(&running.server, &clients);
    let refused = running.server.refused();
    if refused != MANY {
        fail(&format!("the time is up; {MANY} clients were not begun, and {refused} were refused"), AT_SIZE);
    }
    first.let_finish();
    running.end();
}
