//! Where the stages differ.

use crate::support::{
    BOUNDED, Client, LIFECYCLE, MULTI_REACTOR, POOLED, REACTOR, SINGLE_THREADED, STAGES, Stage,
    THREAD_PER_TASK, eventually,
};
use std::thread;
use std::time::Instant;

#[test]
fn one_slow_request_holds_up_the_single_thread() {
    let stage = Stage::start(SINGLE_THREADED, &[]);
    let mut slow = stage.ask("/block?ms=300");
    let mut quick = stage.connect();
    assert_eq!(quick.get("/hello").status, 200);
    assert_eq!(slow.reply().status, 200);
    // Connections are served in the order in which they came, so the log tells who waited for whom.
    let (first, second) = (stage.log_line(), stage.log_line());
    assert!(first.contains("/block") && second.contains("/hello"), "{first}\n{second}");
    assert!(first.ends_with(" main") && second.ends_with(" main"), "{first}\n{second}");
}

#[test]
fn one_slow_request_holds_up_one_thread_of_several() {
    for binary in STAGES.into_iter().filter(|&binary| binary != SINGLE_THREADED) {
        others_are_served_meanwhile(&Stage::start(binary, &["--threads", "2"]));
    }
}

fn others_are_served_meanwhile(stage: &Stage) {
    let _slow = stage.ask("/block?ms=60000");
    // Long before the slow one is done.
    stage.assert_alive();
    let line = stage.log_line();
    assert!(line.contains("\"GET /hello HTTP/1.1\" 200 13 "), "{line}");
}

#[test]
fn as_many_slow_requests_as_you_like_hold_up_no_thread_of_its_own() {
    let stage = Stage::start(THREAD_PER_TASK, &["--quiet"]);
    let _slow: Vec<_> = (0..50).map(|_| stage.ask("/block?ms=60000")).collect();
    stage.assert_alive();
}

#[test]
fn an_idle_connection_makes_way_for_a_waiting_one() {
    let stage = Stage::start(POOLED, &["--threads", "1", "--idle-timeout", "10m"]);
    let mut idle = stage.connect();
    assert_eq!(idle.get("/hello").header("Connection"), Some("keep-alive"));
    stage.assert_alive();
    idle.assert_closed();
}

/// What a client has been told it does not run into. So while idle connections have to go, no answer promises
/// that one stays.
#[test]
fn who_asks_while_idle_connections_have_to_go_is_told_that_its_own_does_not_stay() {
    let stage = Stage::start(POOLED, &["--threads", "1", "--idle-timeout", "10m"]);
    let is_told = || {
        let mut idle = stage.connect();
        eventually("no connection is kept", || {
            idle = stage.connect();
            idle.get("/hello").header("Connection") == Some("keep-alive")
        });
        let began = Instant::now();
        let reply = stage.get("/hello");
        // It must be within a second, and this machine may be busy.
        (reply.header("Connection") == Some("close")).then_some(()).ok_or(began.elapsed())
    };
    let told: Vec<_> = (0..5).map(|_| is_told()).take_while(Result::is_err).collect();
    assert!(told.len() < 5, "never: {told:?}");
}

/// A connection that was just accepted waits in the queue until an idle thread has woken. That is no reason
/// to close the others: their clients would connect again and wait in the queue, and so on, at a quarter of
/// the speed.
#[test]
fn nobody_makes_way_for_a_connection_that_an_idle_thread_is_about_to_take() {
    for binary in [POOLED, LIFECYCLE, BOUNDED] {
        let stage = Stage::start(binary, &["--threads", "32", "--quiet"]);
        let mut clients: Vec<_> = (0..32).map(|_| stage.connect()).collect();
        for client in &mut clients {
            assert_eq!(client.get("/hello").status, 200);
        }
        drop(clients);
        eventually("all threads are idle but the one that says so", || {
            let stats = stage.get("/stats");
            stats.text().contains("\"threads\": 32") && stats.text().contains("\"active\": 1,")
        });
        let addr = stage.addr;
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(move || {
                    let mut client = Client::connect(addr);
                    for _ in 0..100 {
                        assert_ne!(client.get("/hello").header("Connection"), Some("close"));
                    }
                });
            }
        });
    }
}

#[test]
fn a_silent_connection_makes_way_for_a_waiting_one() {
    for binary in STAGES {
        // With a thread for each client, or one for all, no client is in the way.
        if [THREAD_PER_TASK, REACTOR, MULTI_REACTOR].contains(&binary) {
            continue;
        }
        let stage = Stage::start(binary, &["--threads", "1", "--header-timeout", "10m"]);
        let mut silent = stage.connect();
        stage.assert_alive();
        silent.assert_closed();
    }
}
