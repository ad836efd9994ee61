//! The bad days of an engine: it is killed, full, away, or empty, or an answer of it is lost.

use super::{Shared, is_complete, said};
use crate::child::{crawl, ended};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_is_killed_and_comes_back_has_lost_nothing() {
    let mut shared = Shared::of(300, Duration::from_millis(5), 2);
    let children: Vec<_> = (0..2).map(|process| shared.start(process, &[])).collect();
    for times in [50, 150] {
        shared.until_asked(times);
        shared.engine.kill();
        thread::sleep(Duration::from_millis(200)); // away for a while: nothing is waited for
        shared.engine.restart();
    }
    let outputs: Vec<_> = children.into_iter().map(ended).collect();
    for output in &outputs {
        is_complete(output);
    }
    assert!(outputs.iter().any(|output| said(output).contains("it is tried again, and nothing is lost")));
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
}

#[test]
#[ignore = "needs redis-server"]
fn a_full_engine_is_waited_for() {
    let shared = Shared::of(200, Duration::from_millis(5), 1);
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "1"]), "+OK");
    thread::sleep(Duration::from_millis(300)); // full for a while
    assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "0"]), "+OK");
    let output = ended(child);
    is_complete(&output);
    assert!(said(&output).contains("is full"), "{}", said(&output));
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_stays_away_ends_the_run_with_a_sentence() {
    let mut shared = Shared::of(300, Duration::from_millis(5), 1);
    let flags = ["--patience", "1s", "--lease", "1s"];
    let child = shared.start(0, &flags);
    shared.until_asked(50);
    shared.engine.kill();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("the same command goes on from here"), "{}", said(&output));
    shared.engine.restart();
    is_complete(&ended(shared.start(0, &flags)));
    shared.assert_whole();
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_without_its_data_is_not_the_end_of_the_crawl() {
    let shared = Shared::of(2000, Duration::from_millis(5), 1);
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    assert_eq!(shared.engine.say(&["FLUSHALL"]), "+OK");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("the crawl is no longer in the engine"), "{}", said(&output));
}

/// Passes on what a client and an engine say to each other. Every so many answers one is lost, and the connection with it.
fn forgetful(engine: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let (mut client, mut server) =
                (client.unwrap(), TcpStream::connect(("127.0.0.1", engine)).unwrap());
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Both)));
            let mut answer = [0; 1 << 12];
            // The first connection is left alone until the crawl has been joined.
            for _ in 0..if number == 0 { 30 } else { 12 } {
                match server.read(&mut answer) {
                    Ok(length @ 1..) if client.write_all(&answer[..length]).is_ok() => (),
                    _ => break,
                }
            }
            let _ = server.read(&mut answer);
            let _ = client.shutdown(Shutdown::Both);
        }
    });
    port
}

#[test]
#[ignore = "needs redis-server"]
fn an_answer_that_is_lost_is_given_again() {
    let shared = Shared::of(200, Duration::ZERO, 1);
    let port = forgetful(shared.engine.port);
    let mut command = crawl(shared.folders[0].path(), shared.site.start_url().as_str(), &["--allow-private"]);
    command.args(["--json", "--crawl", "test", "--per-site", "8", "--threads", "4", "--frontier"]);
    let output = ended(command.arg(format!("redis://127.0.0.1:{port}/0")).spawn().unwrap());
    is_complete(&output);
    assert!(said(&output).matches("answers again").count() > 5, "{}", said(&output));
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
}
