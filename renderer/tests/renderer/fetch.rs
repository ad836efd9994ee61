//! Tests fetching: successes, failures, and a token that ends every wait.

use crate::gated::{Answer, Gated};
use executor::{CancelKind, CancelToken};
use renderer::Gap;
use renderer::fetch::{Fetched, fetch};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use url::Url;

const LIMIT: u64 = 100_000;

/// Returns a text of `count` bytes.
fn bytes(count: u64) -> Vec<u8> {
    vec![7; usize::try_from(count).expect("it is no more than memory has")]
}

fn get(address: &str) -> Result<Fetched, Gap> {
    let url = Url::parse(address).expect("an address");
    fetch(&url, LIMIT, &CancelToken::new()).expect("no test cancels it")
}

fn get_cut_off(address: &str) -> Option<CancelKind> {
    let url = Url::parse(address).expect("an address");
    let cancelled =
        fetch(&url, LIMIT, &CancelToken::new().with_timeout(Duration::from_millis(60))).unwrap_err();
    cancelled.reason().map(executor::CancelReason::kind)
}

#[test]
fn bytes_come_with_their_type_and_their_address() {
    let server = Gated::start();
    server.route("/a", Answer::redirect("/b"));
    server.route("/b", Answer::bytes("text/x-words", b"words"));
    let fetched = get(&server.url("/a")).unwrap();
    assert_eq!(fetched.bytes, b"words");
    assert_eq!(fetched.content_type.as_deref(), Some("text/x-words"));
    assert_eq!(fetched.url.as_str(), server.url("/b"));
}

#[test]
fn a_status_that_is_no_success_is_a_gap() {
    let server = Gated::start();
    server.route("/gone", Answer::status(410));
    assert_eq!(get(&server.url("/gone")).unwrap_err(), Gap::Status(410));
    assert_eq!(get(&server.url("/never")).unwrap_err(), Gap::Status(404));
}

/// The program can give up the page after reading only the status. So a server that does not send the
/// body of its error page does not delay the caller.
#[test]
fn a_gap_or_a_redirect_does_not_wait_for_a_body_that_nobody_wants() {
    let server = Gated::start();
    let body = "Content-Length: 1000\r\n\r\nSorry";
    let redirect = format!("HTTP/1.1 302 Found\r\nLocation: /gone\r\n{body}");
    let gone = format!("HTTP/1.1 410 Gone\r\n{body}");
    let _held = [("/moved", redirect), ("/gone", gone)].map(|(path, answer)| {
        let whole = answer.len();
        server.hold(path, Answer::raw(answer + "!").begun(whole))
    });
    let url = Url::parse(&server.url("/moved")).unwrap();
    let token = CancelToken::new().with_timeout(Duration::from_secs(10));
    assert_eq!(fetch(&url, LIMIT, &token).expect("it comes in time").unwrap_err(), Gap::Status(410));
}

#[test]
fn redirects_end() {
    let server = Gated::start();
    server.route("/round", Answer::redirect("/round"));
    assert_eq!(get(&server.url("/round")).unwrap_err(), Gap::Redirects { most: 5 });
    assert_eq!(server.requests("/round"), 6);
}

#[test]
fn a_redirect_is_followed_whatever_charset_its_address_is_in() {
    let server = Gated::start();
    server.route("/%FC", Answer::bytes("a/b", b"Latin-1"));
    server.route("/%C3%BC", Answer::bytes("a/b", b"UTF-8"));
    for (location, body) in [(&b"/\xfc"[..], "Latin-1"), ("/ü".as_bytes(), "UTF-8")] {
        let answer = [b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ", location, b"\r\n\r\n"];
        server.route("/from", Answer::raw(answer.concat()));
        assert_eq!(get(&server.url("/from")).unwrap().bytes, body.as_bytes());
    }
}

#[test]
fn a_body_in_a_coding_that_nobody_asked_for_is_a_gap_that_names_it() {
    let server = Gated::start();
    server.route("/br", Answer::raw("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n!"));
    assert!(matches!(get(&server.url("/br")).unwrap_err(), Gap::Broken(why) if why.contains("\"br\"")));
}

#[test]
fn a_redirect_leads_to_no_file() {
    let server = Gated::start();
    server.route("/inside", Answer::redirect("file:///etc/hostname"));
    assert!(matches!(get(&server.url("/inside")).unwrap_err(), Gap::Unusable(why) if why.contains("file")));
}

#[test]
fn a_body_has_a_limit_however_long_it_says_it_is() {
    let server = Gated::start();
    server.route("/endless", Answer::endless());
    server.route("/just", Answer::bytes("a/b", &bytes(LIMIT)));
    server.route("/over", Answer::bytes("a/b", &bytes(LIMIT + 1)));
    assert_eq!(get(&server.url("/endless")).unwrap_err(), Gap::TooManyBytes { limit: LIMIT });
    assert_eq!(get(&server.url("/over")).unwrap_err(), Gap::TooManyBytes { limit: LIMIT });
    assert_eq!(get(&server.url("/just")).unwrap().bytes.len() as u64, LIMIT);
}

#[test]
fn the_limit_counts_bytes_as_they_are_after_decompression() {
    // Ten million zeros are compressed to ten thousand bytes.
    let zeros = gzip(&vec![0; 10_000_000]);
    assert!((zeros.len() as u64) < LIMIT);
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", zeros.len());
    let server = Gated::start();
    server.route("/zeros", Answer::raw([head.as_bytes(), &zeros].concat()));
    assert_eq!(get(&server.url("/zeros")).unwrap_err(), Gap::TooManyBytes { limit: LIMIT });
}

#[test]
fn half_an_answer_is_broken() {
    let server = Gated::start();
    server.route("/half", Answer::bytes("a/b", b"all of it").cut(65));
    server.route("/reset", Answer::bytes("a/b", &[1; 1000]).cut(200).reset());
    server.route("/nonsense", Answer::raw("EHLO there\r\n\r\n"));
    for path in ["/half", "/reset", "/nonsense"] {
        let gap = get(&server.url(path)).unwrap_err();
        assert!(matches!(gap, Gap::Broken(_)), "{path}: {gap:?}");
    }
}

#[test]
fn nobody_there_is_unreachable() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port(); // the port is free again
    assert!(matches!(get(&format!("http://127.0.0.1:{port}/")).unwrap_err(), Gap::Unreachable(_)));
    assert!(matches!(get("gopher://127.0.0.1/").unwrap_err(), Gap::Unusable(_)));
}

#[cfg(not(feature = "tls"))]
#[test]
fn https_needs_its_feature() {
    assert!(
        matches!(get("https://127.0.0.1/").unwrap_err(), Gap::Unusable(why) if why.contains("feature tls"))
    );
}

/// Cancelling ends a wait for an answer, for the rest of the answer's head, and for the rest of the answer's
/// body, and closes the connection.
#[test]
fn a_cancel_ends_each_wait_and_closes_the_connection() {
    for begun in [0, 10, 80] {
        let server = Gated::start();
        let held = server.hold("/slow", Answer::bytes("a/b", &[1; 1000]).begun(begun));
        let token = CancelToken::new();
        let (url, cancelled) = (Url::parse(&server.url("/slow")).unwrap(), token.clone());
        let fetching =
            thread::spawn(move || fetch(&url, LIMIT, &cancelled).map(|fetched| fetched.map(|_| ())));
        held.has_begun();
        token.cancel_because("enough");
        held.closed_by_client();
        let cancelled = fetching.join().unwrap().unwrap_err();
        assert_eq!(
            cancelled.reason().and_then(|reason| reason.message()),
            Some("enough"),
            "{begun} bytes had come"
        );
    }
}

/// Cancelling shuts the connection down. If a body has no stated length, a body that was cut off could then
/// look complete.
#[test]
fn a_body_that_a_cancel_cut_off_is_no_whole_one() {
    let server = Gated::start();
    let held =
        server.hold("/open", Answer::raw("HTTP/1.1 200 OK\r\n\r\nthe first half, the second half").begun(33));
    let token = CancelToken::new();
    let (url, cancelled) = (Url::parse(&server.url("/open")).unwrap(), token.clone());
    let fetching = thread::spawn(move || fetch(&url, LIMIT, &cancelled));
    held.has_begun();
    token.cancel();
    let fetched = fetching.join().unwrap();
    assert!(fetched.is_err(), "{fetched:?}");
}

#[test]
fn a_deadline_is_told_from_a_request() {
    let server = Gated::start();
    let _held = server.hold("/slow", Answer::image());
    assert_eq!(get_cut_off(&server.url("/slow")), Some(CancelKind::Deadline));
}

/// A server that does not even accept connections, because its backlog stays full.
#[cfg(target_os = "linux")]
#[test]
fn a_cancel_ends_connecting_at_once() {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap().as_socket().unwrap();
    let _fill: Vec<_> =
        (0..3).map(|_| TcpStream::connect_timeout(&address, Duration::from_millis(20))).collect();
    let token = CancelToken::new();
    let (url, cancelled) = (Url::parse(&format!("http://{address}/")).unwrap(), token.clone());
    let fetching = thread::spawn(move || fetch(&url, LIMIT, &cancelled).map(|_| ()));
    thread::sleep(Duration::from_millis(300)); // probably it is connecting by now; otherwise the cancel ends it, too
    let begun = Instant::now();
    token.cancel();
    assert!(fetching.join().unwrap().is_err(), "it has connected");
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?} to end", begun.elapsed());
}

#[test]
fn files_are_read_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| Url::from_file_path(folder.path().join(name)).unwrap().to_string();
    fs::write(folder.path().join("page"), "words").unwrap();
    fs::write(folder.path().join("large"), bytes(LIMIT + 1)).unwrap();
    assert_eq!(get(&file("page")).unwrap().bytes, b"words");
    assert_eq!(get(&file("large")).unwrap_err(), Gap::TooManyBytes { limit: LIMIT });
    assert!(matches!(get(&file("none")).unwrap_err(), Gap::Unreachable(why) if why.contains("no such file")));
    let folder_itself = Url::from_file_path(folder.path()).unwrap().to_string();
    assert!(matches!(get(&folder_itself).unwrap_err(), Gap::Unreachable(why) if why.contains("regular")));
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(matches!(get(&file("pipe")).unwrap_err(), Gap::Unreachable(why) if why.contains("regular")));
    }
    #[cfg(unix)]
    assert!(matches!(get("file:///dev/zero").unwrap_err(), Gap::Unreachable(why) if why.contains("regular")));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
