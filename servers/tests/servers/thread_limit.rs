//! The stage that starts a thread for each connection, where the system gives no more threads.

use crate::support::{Client, Stage, THREAD_PER_TASK, eventually};
use std::process::Command;

/// Address space for some twenty threads with 64 MiB of stack each, and for everything else.
const SPACE_KIB: usize = 20 * 64 * 1024 + 40 * 1024;

/// Limits address space, since a limit on threads does not bind the superuser, as whom tests may run. The stacks
/// are large so that it is a stack that does not fit, and not one of the small things that come with a thread.
fn start_with_few_threads() -> Stage {
    let script = format!("ulimit -v {SPACE_KIB}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, THREAD_PER_TASK]);
    // One arena: by default glibc reserves address space for each thread that allocates.
    Stage::start_command(
        THREAD_PER_TASK,
        command.env("RUST_MIN_STACK", "67108864").env("MALLOC_ARENA_MAX", "1").env("RUST_BACKTRACE", "0"), // there is no memory to take one
    )
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
        // Some threads may still be about to end.
        eventually("nobody is served any more", || stage.get("/hello").status == 200);
    }
}
