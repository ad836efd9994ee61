//! Tests the lines on standard error, and that no client waits for these lines.

use crate::support::{
    Client, DEADLINE, ENDLESS, LIFECYCLE, POOLED, STAGES, Stage, every_stage, get, lines,
    root_with_a_large_file,
};
use std::io::Read;
use std::iter;

/// The test causes more lines than any pipe can hold.
const MANY: usize = 2_000;

/// The stage has only one thread, so the lines have the order of the requests.
#[test]
fn lines_that_found_no_room_are_counted() {
    let (stage, log) = Stage::start_with_unread_log(POOLED, &["--threads", "1"]);
    let mut asked = 0;
    let mut ask = || {
        assert_eq!(stage.get(&format!("/hello?{asked}")).status, 200);
        asked += 1;
    };
    for _ in 0..MANY {
        ask();
    }
    let log = lines(log);
    let mut written = 0;
    let missing = loop {
        // A note about missing lines is written only before another line, and only if the pipe has
        // room then.
        ask();
        let mut said = log.try_iter().map(|line| {
            written += 1;
            line.split_once(" lines are missing: ").map(|(count, _)| count.parse::<usize>().unwrap())
        });
        if let Some(missing) = said.find_map(|said| said) {
            break missing;
        }
    };
    assert!(missing > MANY / 2, "{missing}");
    let line = log.recv_timeout(DEADLINE).unwrap();
    // One of the written lines is the note about missing lines.
    assert!(
        line.contains(&format!("\"GET /hello?{} ", written - 1 + missing)),
        "{missing} and {written}: {line}"
    );
}

#[test]
fn a_panic_is_told_of_and_waits_for_no_log_either() {
    every_stage(&["--quiet"], |stage| {
        assert_eq!(stage.get("/panic").status, 500);
        let line = stage.log_line();
        assert!(
            line.starts_with("thread '") && line.contains("' panicked at servers/src/site.rs:"),
            "{line}"
        );
        assert_eq!(stage.log_line(), "asked to, by a request");
    });
    for binary in STAGES {
        let (stage, _log) = Stage::start_with_unread_log(binary, &["--quiet", "--threads", "2"]);
        for _ in 0..MANY {
            assert_eq!(stage.get("/panic").status, 500);
        }
    }
}

#[test]
fn a_stop_waits_for_no_log() {
    let half_a_body = "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nab";
    for (request, status) in [("", 0), (half_a_body, 3), (&get(ENDLESS), 3)] {
        let (mut stage, _log) = Stage::start_with_unread_log(LIFECYCLE, &["--grace", "300ms"]);
        for _ in 0..MANY {
            stage.assert_alive();
        }
        let mut client = stage.ask("/hello");
        client.send(request);
        assert_eq!(client.reply().status, 200);
        stage.signal("TERM");
        assert_eq!(stage.exit_status(), Some(status), "{request}");
    }
}

#[test]
fn the_log_says_how_much_was_sent_of_an_answer_that_was_cut_off() {
    let (_large, root) = root_with_a_large_file();
    let flags = ["--root", &root, "--write-timeout", "2s", "--threads", "2"];
    every_stage(&flags, |stage| {
        for reads in [0, 3_000_000] {
            let mut client = stage.ask("/large.bin");
            read_exactly(&mut client, reads);
            // The client takes no more bytes of the answer, so the server stops waiting for the client.
            let line =
                iter::repeat_with(|| stage.log_line()).find(|line| line.contains("/large.bin")).unwrap();
            let (_, after) = line.split_once("\" 200 ").expect(&line);
            let sent: u64 = after.split(' ').next().unwrap().parse().unwrap();
            assert!((reads as u64..1 << 30).contains(&sent) && sent > 0, "{line}");
            assert!(line.ends_with(" cut off"), "{line}");
        }
        stage.assert_alive();
        assert!(!stage.log_line().ends_with(" cut off"));
    });
}

fn read_exactly(client: &mut Client, count: usize) {
    client.stream.read_exact(&mut vec![0; count]).unwrap();
}
