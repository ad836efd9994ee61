//! Tests the stage that starts a thread for each connection, on a system that cannot start more
//! threads.

use crate::support::{Client, Stage, THREAD_PER_TASK, eventually, with_few_threads};

fn start_with_few_threads() -> Stage {
    Stage::start_command(THREAD_PER_TASK, &mut with_few_threads(THREAD_PER_TASK, &[]))
}

#[test]
fn at_the_thread_limit_it_says_503_and_lives() {
    let stage = start_with_few_threads();
    let idle_threads = stage.threads();
    let mut clients: Vec<_> = (0..60).map(|_| stage.connect()).collect();
    let served: Vec<_> = clients.iter_mut().map(|client| client.get("/hello").status).collect();
    let count = |status| served.iter().filter(|&&other| other == status).count();
    assert_eq!(count(200) + count(503), clients.len(), "{served:?}");
    assert!(count(200) > 5 && count(503) > 5, "{served:?}");
    for (client, status) in clients.iter_mut().zip(&served) {
        match status {
            503 => client.assert_closed(),
            _ => assert_eq!(client.get("/hello").status, 200, "who has a thread keeps it"),
        }
    }
    drop(clients);
    eventually("threads stay", || stage.threads() == idle_threads);
    stage.assert_alive();
    let log = stage.stop();
    let refusals = log.iter().filter(|line| line.starts_with("the task was rejected: ")).count();
    assert_eq!(refusals, count(503), "{log:?}");
}

#[test]
fn it_recovers_again_and_again() {
    let stage = start_with_few_threads();
    for _ in 0..5 {
        let crowd: Vec<Client> = (0..60).map(|_| stage.connect()).collect();
        drop(crowd);
        // Some threads may not have ended yet.
        eventually("clients are no longer served", || stage.get("/hello").status == 200);
    }
}
