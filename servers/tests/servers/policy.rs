//! Tests behaviour that differs between the stages.

use crate::support::{BOUNDED, Client, LIFECYCLE, POOLED, Stage, eventually};
use std::thread;
use std::time::Instant;

#[test]
fn an_idle_connection_makes_way_for_a_waiting_one() {
    let stage = Stage::start(POOLED, &["--threads", "1", "--idle-timeout", "10m"]);
    let mut idle = stage.connect();
    assert_eq!(idle.get("/hello").header("Connection"), Some("keep-alive"));
    stage.assert_alive();
    idle.assert_closed();
}

/// A client can rely on the promises of the server. So while the server must close idle connections for
/// other clients, no answer promises that its connection stays open.
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
        // The next request must arrive within a second, but this machine may be busy.
        (reply.header("Connection") == Some("close")).then_some(()).ok_or(began.elapsed())
    };
    let told: Vec<_> = (0..5).map(|_| is_told()).take_while(Result::is_err).collect();
    assert!(told.len() < 5, "never: {told:?}");
}

/// A connection that was just accepted is in the queue until an idle thread has woken up. Such a
/// connection is no reason for closing other connections. The clients of closed connections would connect
/// again and wait in the queue, so all clients would get only a quarter of the speed.
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
