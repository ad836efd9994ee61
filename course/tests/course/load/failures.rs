//! Tests servers that answer wrongly, late or not at all, and loads that end early.

use super::{load, number, run};
use crate::fixture::stderr;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Starts a small server with a thread for each connection; the server ends with the test's
/// process.
fn scripted(script: impl Fn(TcpStream) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let script = script.clone();
            thread::spawn(move || script(stream));
        }
    });
    url
}

fn read_request(stream: &mut TcpStream) -> bool {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return false;
        }
        request.push(byte[0]);
    }
    true
}

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const TEN: [&str; 6] = ["-n", "10", "-c", "2", "--duration", "60s"];

fn answered_with(bytes: &'static [u8]) -> String {
    scripted(move |mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(bytes);
    })
}

#[test]
fn each_failure_is_counted_by_its_kind() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let reset = scripted(|mut stream| {
        // Closing a connection that has unread bytes would send a reset.
        let _ = stream.read(&mut [0; 4]);
    });
    for (kind, url) in [
        ("connect_refused", format!("http://{closed}/")),
        ("closed", answered_with(b"")),
        ("closed", answered_with(&ANSWER[..ANSWER.len() - 1])),
        ("malformed", answered_with(b"220 smtp.example ready\r\n\r\n")),
        ("reset", reset),
    ] {
        let run = run(&url, &TEN);
        assert_eq!(run["failures"], json!({ kind: 10 }), "{run}");
        assert_eq!((number(&run, "/failed"), number(&run, "/answered")), (10, 0), "{run}");
    }
}

#[test]
fn an_answer_that_does_not_come_in_time_is_given_up() {
    let silent = scripted(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let no_end = scripted(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            // An endless answer exceeds every time limit.
            thread::sleep(Duration::from_millis(20));
        }
    });
    for url in [silent, no_end] {
        let run = run(&url, &["-n", "4", "-c", "4", "--timeout", "1s"]);
        assert_eq!(run["failures"], json!({ "timed_out": 4 }), "{run}");
    }
}

#[test]
fn a_load_that_nobody_answers_is_a_failure() {
    let output = load(&answered_with(b""), &TEN);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("answered no request"), "{}", stderr(&output));
}

#[test]
fn answers_that_refuse_are_no_successes_and_have_no_latency() {
    let run = run(
        &answered_with(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        &TEN,
    );
    assert_eq!(run["statuses"], json!({ "503": 10 }));
    assert_eq!((number(&run, "/answered"), number(&run, "/succeeded")), (10, 0));
    assert_eq!((&run["latency_us"], &run["per_second"]), (&json!(null), &json!(0.0)));
}

#[test]
fn a_connection_closed_between_two_requests_costs_none_of_them() {
    // The server sends two answers per connection; then it closes the connection without warning,
    // before the third request.
    let url = scripted(|mut stream| {
        for _ in 0..2 {
            if read_request(&mut stream) {
                let _ = stream.write_all(ANSWER);
            }
        }
    });
    for pipeline in ["1", "5"] {
        let run = run(&url, &[&TEN[..], &["--pipeline", pipeline]].concat());
        assert_eq!((number(&run, "/answered"), number(&run, "/failed")), (10, 0), "{run}");
        assert!(number(&run, "/sent_again") > 0, "{run}");
    }
}

#[cfg(unix)]
mod interrupted {
    use super::scripted;
    use crate::fixture::{Project, stdout};
    use crate::load::{DEADLINE, finished, started};
    use std::io::Read;
    use std::process::Command;
    use std::sync::mpsc;

    /// Interrupts a load while it waits; only the interrupt can end its waits in time.
    #[test]
    fn ctrl_c_ends_a_load_at_once_and_prints_what_there_is() {
        let (connected, wait) = mpsc::channel();
        let silent = scripted(move |mut stream| {
            connected.send(()).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let arguments = [
            "load",
            &silent,
            "-c",
            "2",
            "--rude",
            "silent=1",
            "--duration",
            "1440m",
            "--timeout",
            "1440m",
            "--json",
        ];
        let project = Project::new();
        let child = started(&mut project.course(&arguments));
        for _ in 0..3 {
            wait.recv_timeout(DEADLINE).unwrap();
        }
        let command = format!("kill -INT {}", child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
        let output = finished(child);
        let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        let run = &report["runs"][0];
        assert_eq!((output.status.code(), &run["interrupted"]), (Some(0), &true.into()), "{run}");
        assert_eq!(run["failures"], serde_json::json!({ "stopped": 2 }));
        assert_eq!(run["rude"][0]["held_to_the_end"], 1);
    }
}
