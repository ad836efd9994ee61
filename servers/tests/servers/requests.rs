//! Tests how every stage answers correct requests.

use crate::support::{STOPPING_STAGES, every_stage};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn endpoints_answer() {
    every_stage(&[], |stage| {
        let hello = stage.get("/hello");
        assert_eq!((hello.status, hello.text()), (200, "Hello, world!"));
        assert_eq!(hello.header("Content-Type"), Some("text/plain; charset=utf-8"));
        assert!(hello.header("Server").is_some());
        let index = stage.get("/");
        assert_eq!(index.status, 200);
        for path in ["/hello", "/cpu", "/block", "/stats", "/echo", "/panic"] {
            assert!(index.text().contains(path), "{path}");
        }
        assert!(index.text().contains("--root"), "there are no files");
        assert_eq!(stage.get("/nothing").status, 404);
        assert_eq!(stage.get("/hello/").status, 404);
    });
}

#[test]
fn the_date_is_now() {
    every_stage(&[], |stage| {
        let date = httpdate::parse_http_date(stage.get("/hello").header("Date").unwrap()).unwrap();
        // A date is in whole seconds, so it may seem a little earlier than the request.
        assert!(date.elapsed().unwrap() < Duration::from_secs(30));
    });
}

#[test]
fn work_takes_the_time_asked_for() {
    every_stage(&[], |stage| {
        for path in ["/cpu", "/block"] {
            let began = Instant::now();
            assert_eq!(stage.get(&format!("{path}?ms=30")).status, 200);
            assert!(began.elapsed() >= Duration::from_millis(30));
            assert_eq!(stage.get(&format!("{path}?ms=0")).status, 200);
        }
    });
}

#[test]
fn work_of_a_strange_length_is_refused() {
    every_stage(&[], |stage| {
        for query in [
            "",
            "?",
            "?ms",
            "?ms=",
            "?ms=x",
            "?ms=+5",
            "?ms=-1",
            "?ms=1.5",
            "?ms=60001",
            "?ms=99999999999999999999",
        ] {
            for path in ["/block", "/cpu"] {
                let reply = stage.get(&format!("{path}{query}"));
                assert_eq!(reply.status, 400, "{query}");
                assert!(reply.text().contains("from 0 to 60000"), "{}", reply.text());
            }
        }
    });
}

/// The request asks for more time than the test waits, so the next client is answered only if the server has
/// ended the computation early.
#[test]
fn a_computation_ends_when_its_client_leaves() {
    let endless = "GET /cpu?ms=60000 HTTP/1.1\r\nHost: h\r\n\r\n";
    every_stage(&["--threads", "1"], |stage| {
        let mut client = stage.connect();
        client.send(endless);
        drop(client);
        let line = stage.log_line();
        assert!(line.contains("\"GET /cpu?ms=60000 HTTP/1.1\" 503 "), "{line}");
        stage.assert_alive();

        let mut client = stage.connect();
        client.send(endless);
        let socket = socket2::Socket::from(client.stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap(); // its end is a reset
        drop(socket);
        stage.assert_alive();
    });
}

#[test]
fn other_methods_are_told_which_there_are() {
    every_stage(&[], |stage| {
        for (method, path, allow) in [
            ("POST", "/hello", "GET, HEAD, OPTIONS"),
            ("DELETE", "/", "GET, HEAD, OPTIONS"),
            ("BREW", "/nothing", "GET, HEAD, OPTIONS"),
            ("get", "/hello", "GET, HEAD, OPTIONS"),
            ("GET", "/echo", "POST, OPTIONS"),
        ] {
            let mut client = stage.connect();
            let reply = client.send(format!("{method} {path} HTTP/1.1\r\nHost: h\r\n\r\n")).reply();
            assert_eq!((reply.status, reply.header("Allow")), (405, Some(allow)), "{method} {path}");
        }
    });
}

/// A user may copy the commands into a shell, so an invented host must not be able to insert another command.
#[test]
fn the_front_page_says_which_stage_it_is_and_what_to_send() {
    every_stage(&["--quiet"], |stage| {
        let name = Path::new(stage.binary).file_name().unwrap().to_str().unwrap();
        let page = |host: &str| {
            let reply = stage.connect().send(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).reply();
            reply.text().to_owned()
        };
        let usual = page("localhost:1234");
        assert!(usual.contains(&format!("<h1>{name}</h1>\n<p>A web server ")), "{usual}");
        assert!(usual.contains("\ncurl -i http://localhost:1234/hello\n"), "{usual}");
        assert!(usual.contains("/block?ms=5000\" &amp; curl http://localhost:1234/hello\n"), "{usual}");
        let can_stop = STOPPING_STAGES.contains(&stage.binary);
        assert_eq!(usual.contains("curl -X POST http://localhost:1234/shutdown"), can_stop, "{usual}");
        for host in ["h;reboot", "$(reboot)", "a&b", "'x'"] {
            assert!(page(host).contains("\ncurl -i http://127.0.0.1:8080/hello\n"), "{host}");
        }
    });
}

#[test]
fn head_is_get_without_the_body() {
    every_stage(&[], |stage| {
        for path in ["/hello", "/", "/nothing", "/block?ms=x"] {
            let get = stage.get(path);
            let mut client = stage.connect();
            let request = format!("HEAD {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            let head = client.send(request).reply_without_body();
            assert_eq!(head.status, get.status, "{path}");
            for name in ["Content-Length", "Content-Type", "Server"] {
                assert_eq!(head.header(name), get.header(name), "{path} {name}");
            }
            client.assert_closed();
        }
    });
}

/// If the client sends the head and then the body, the head usually arrives first. If the client sends the
/// head and the body in one write, they arrive in one piece.
#[test]
fn a_small_answer_arrives_in_one_piece() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("small.txt"), "a small file").unwrap();
    every_stage(&["--quiet", "--root", root.path().to_str().unwrap()], |stage| {
        for (request, end) in [
            ("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n", "Hello, world!"),
            ("GET /small.txt HTTP/1.1\r\nHost: h\r\n\r\n", "a small file"),
            ("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nechoed", "echoed"),
            ("GET /hello HTTP/1.1\r\n\r\n", "the Host field is missing\n"),
        ] {
            for _ in 0..100 {
                let mut client = stage.connect();
                let mut bytes = [0; 4096];
                let count = client.send(request).stream.read(&mut bytes).unwrap();
                let piece = String::from_utf8_lossy(&bytes[..count]);
                assert!(piece.ends_with(end), "{request:?}: {piece:?}");
            }
        }
    });
}
