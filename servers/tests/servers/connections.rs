//! Tests which connections stay open after an answer, for how long, and how the server tells the client this.

use crate::support::{KEEPING_STAGES, SHARED_ACCEPT, SINGLE_THREADED, Stage};

#[test]
fn a_connection_is_kept_while_threads_are_free() {
    for binary in KEEPING_STAGES {
        keeps(&Stage::start(binary, &[]));
    }
}

fn keeps(stage: &Stage) {
    let mut client = stage.connect();
    for _ in 0..20 {
        let reply = client.get("/hello");
        assert_eq!((reply.status, reply.header("Connection")), (200, Some("keep-alive")));
        assert_eq!(reply.header("Keep-Alive"), Some("timeout=30"));
    }
    // If the server has understood a request, an error is no reason to close the connection.
    assert_eq!(client.get("/nothing").status, 404);
    assert_eq!(
        client.send("POST /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc").reply().status,
        405
    );
    assert_eq!(client.get("/hello").status, 200);
}

/// If a client has already sent more, the server need not tell it the idle time; and the field cannot express
/// less than a second.
#[test]
fn a_client_is_told_for_how_long_it_may_be_idle() {
    for (timeout, told) in [("1700ms", Some("timeout=1")), ("2m", Some("timeout=120")), ("900ms", None)] {
        for binary in KEEPING_STAGES {
            let stage = Stage::start(binary, &["--quiet", "--idle-timeout", timeout]);
            let mut client = stage.connect();
            client.send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n".repeat(2));
            let first = client.reply();
            assert_eq!((first.header("Connection"), first.header("Keep-Alive")), (None, None), "{binary}");
            let last = client.reply();
            assert_eq!(last.header("Keep-Alive"), told, "{binary}");
            assert_eq!(last.header("Connection"), told.map(|_| "keep-alive"), "{binary}");
        }
    }
}

#[test]
fn who_cannot_know_whether_somebody_waits_keeps_no_idle_connection() {
    for binary in [SINGLE_THREADED, SHARED_ACCEPT] {
        let stage = Stage::start(binary, &[]);
        let mut client = stage.connect();
        assert_eq!(client.get("/hello").header("Connection"), Some("close"));
        client.assert_closed();
    }
}
