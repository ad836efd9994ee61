//! Tests of heads: which heads are accepted, how other heads are refused, and what parsing costs.

use super::*;

/// A head and the bytes from which it was read.
struct Whole<'b>(Head, &'b [u8]);

impl Whole<'_> {
    fn request(&self) -> Request<'_> {
        self.0.request(self.1, &[])
    }
}

fn parse_bytes(bytes: &[u8]) -> Result<Option<Whole<'_>>, Refusal> {
    let mut head = Head::default();
    let is_whole = head.read(bytes, &Limits::default(), false)?;
    Ok(is_whole.then(|| {
        let bytes = &bytes[..head.length()];
        Whole(head, bytes)
    }))
}

fn parse(head: &str) -> Result<Option<Whole<'_>>, Refusal> {
    parse_bytes(head.as_bytes())
}

/// Returns a request with these fields after its request line.
fn get(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\n{fields}\r\n")
}

fn status_of(head: &str) -> u16 {
    parse(head).map(|head| head.is_some()).expect_err(head).status().code()
}

#[test]
fn a_request_has_its_parts() {
    let head =
        "POST /a%20b?ms=7&x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nAccept: *\r\naccept: b\r\n\r\n";
    let bytes = format!("{head}abcGET");
    let parsed = parse(&bytes).unwrap().unwrap();
    let request = parsed.request();
    assert_eq!(parsed.0.length(), head.len());
    assert_eq!((request.method, request.path, request.version), ("POST", "/a%20b", Version::Http11));
    assert_eq!((request.query_value("ms"), request.query_value("m")), (Some("7"), None));
    assert_eq!(parsed.0.framing(), Framing::Length(3));
    assert_eq!(request.headers("ACCEPT").collect::<Vec<_>>(), ["*", "b"]);
}

#[test]
fn a_prefix_of_a_request_is_neither_a_request_nor_refused() {
    let head = "GET /path HTTP/1.1\r\nHost: example.org:80\r\nContent-Length: 0\r\n\r\n";
    for end in 0..head.len() {
        assert!(parse(&head[..end]).unwrap().is_none(), "{end}");
    }
    assert!(parse(head).unwrap().is_some());
}

#[test]
fn keep_alive_depends_on_version_and_connection() {
    let wants = |version: &str, fields: &str| {
        let head = format!("GET / HTTP/{version}\r\nHost: h\r\n{fields}\r\n");
        parse(&head).unwrap().unwrap().request().wants_keep_alive()
    };
    assert!(wants("1.1", ""));
    assert!(!wants("1.1", "Connection: Close\r\n"));
    assert!(!wants("1.1", "Connection: x\r\nConnection: y, close\r\n"));
    assert!(!wants("1.0", ""));
    assert!(wants("1.0", "Connection: Keep-Alive\r\n"));
    assert!(!wants("1.0", "Connection: keep-alive, close\r\n"));
}

#[test]
fn chunks_are_named_in_any_case() {
    for coding in ["chunked", "Chunked", " chunked "] {
        let head = get(&format!("Host: h\r\nTransfer-Encoding: {coding}\r\n"));
        assert_eq!(parse(&head).unwrap().unwrap().0.framing(), Framing::Chunked, "{coding}");
    }
}

/// Tests heads that the acceptance suite lacks; that suite contains the heads that the stages refuse.
#[test]
fn lines_and_versions_have_one_reading() {
    for (head, status) in [
        ("GET / HTTP/1.1\r\nHost: h\n\r\n", 400),
        ("GET / HTTP/11\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505),
        ("GET http:// HTTP/1.1\r\nHost: h\r\n\r\n", 400),
    ] {
        assert_eq!(status_of(head), status, "{head:?}");
    }
}

#[test]
fn a_head_has_a_size() {
    let long = "a".repeat(9000);
    assert_eq!(status_of(&format!("GET /{long} HTTP/1.1\r\nHost: h\r\n\r\n")), 414);
    assert_eq!(status_of(&format!("GET /{long}")), 414, "before its end has come");
    assert_eq!(status_of(&get(&format!("Host: h\r\nA: {long}\r\nB: {long}\r\n"))), 431);
    assert_eq!(status_of(&format!("GET / HTTP/1.1\r\nA: {long}{long}")), 431, "before its end has come");
    assert_eq!(status_of(&get(&format!("Host: h\r\n{}", "A: b\r\n".repeat(100)))), 431);
    assert!(parse(&get(&format!("Host: h\r\n{}", "A: b\r\n".repeat(99)))).unwrap().is_some());
    assert!(parse(&get(&format!("Host: h\r\nA: {long}\r\n"))).unwrap().is_some());
}

#[test]
fn a_target_may_name_its_host() {
    for (target, path, query) in [
        ("http://h/", "/", None),
        ("HTTP://H/a?b", "/a", Some("b")),
        ("http://h", "/", None),
        ("http://h:80?b", "/", Some("b")),
        ("http://h/a?http://g/", "/a", Some("http://g/")),
    ] {
        let head = format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n");
        let parsed = parse(&head).unwrap().unwrap();
        let request = parsed.request();
        assert_eq!((request.path, request.query), (path, query), "{target}");
    }
    assert_eq!(parse("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n").unwrap().unwrap().request().path, "*");
}

#[test]
fn a_host_in_the_target_counts_and_the_field_does_not() {
    for (target, field, expected) in [
        ("/", "field:80", "field"),
        ("http://target/", "field", "target"),
        ("http://target:81/", "", "target"),
    ] {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {field}\r\n\r\n");
        let parsed = parse(&head).unwrap().unwrap();
        let request = parsed.request();
        assert!(request.authority().unwrap().is_named(expected), "{head}");
    }
    assert!(parse("GET / HTTP/1.0\r\n\r\n").unwrap().unwrap().request().authority().is_none());
}

#[test]
fn each_byte_has_its_places() {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_text = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    for byte in 0..=255 {
        let accepts = |before: &str, after: &str| {
            let head = [before.as_bytes(), &[byte], after.as_bytes()].concat();
            matches!(parse_bytes(&head), Ok(Some(Whole(parsed, _))) if parsed.length() == head.len())
        };
        let rest = " / HTTP/1.1\r\nHost: h\r\n\r\n";
        assert_eq!(accepts("G", &format!("T{rest}")), is_token(byte), "method: {byte:#x}");
        // `#` begins a fragment, which clients do not send. In queries, browsers also send other ASCII
        // characters that the grammar of URIs does not allow.
        let in_target = byte.is_ascii_graphic() && byte != b'#';
        assert_eq!(accepts("GET /?a", "b HTTP/1.1\r\nHost: h\r\n\r\n"), in_target, "target: {byte:#x}");
        let get = "GET / HTTP/1.1\r\nHost: h\r\n";
        // The first colon ends the name; further colons belong to the value.
        let in_name = is_token(byte) || byte == b':';
        assert_eq!(accepts(&format!("{get}A"), "B: c\r\n\r\n"), in_name, "name: {byte:#x}");
        assert_eq!(accepts(&format!("{get}A: b"), "c\r\n\r\n"), is_text(byte), "value: {byte:#x}");
    }
}

#[test]
fn one_expectation_is_met() {
    let expects = |head: &str| parse(head).unwrap().unwrap().0.expects_continue();
    assert!(expects(&get("Host: h\r\nExpect: 100-Continue\r\n")));
    assert!(!expects(&get("Host: h\r\n")));
    assert!(!expects("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"));
}

/// Reads a head that arrives byte by byte. Returns how many bytes had arrived when the head was refused or
/// complete, and how many bytes were parsed.
fn read_byte_by_byte(bytes: &[u8]) -> (Result<(), Refusal>, usize, usize) {
    let mut head = Head::default();
    for end in 1..=bytes.len() {
        match head.read(&bytes[..end], &Limits::default(), false) {
            Ok(false) => {}
            Ok(true) => return (Ok(()), end, head.sight.parsed),
            Err(refusal) => return (Err(refusal), end, head.sight.parsed),
        }
    }
    panic!("neither a head nor refused: {}", bytes.escape_ascii())
}

#[test]
fn a_head_that_comes_byte_by_byte_is_not_parsed_for_each() {
    let heads = [
        get(&format!("Host: h\r\nA: {}\r\n", "a".repeat(15_000))),
        get(&format!("Host: h\r\n{}", "A: b\r\n".repeat(99))),
        format!("{}{}", "\r\n".repeat(7_000), get("Host: h\r\n")),
    ];
    for head in heads {
        let (verdict, length, parsed) = read_byte_by_byte(head.as_bytes());
        assert_eq!((verdict, length), (Ok(()), head.len()));
        assert!(parsed <= (WORTH + 2) * head.len(), "{parsed} for {}", head.len());
    }
}

#[test]
fn bytes_that_have_been_parsed_are_not_parsed_again_without_new_ones() {
    let mut head = Head::default();
    for _ in 0..2 {
        assert_eq!(head.read(b"GET / HTTP/1.1\r\n", &Limits::default(), false), Ok(false));
        assert_eq!(head.sight.parsed, 16);
    }
}

#[test]
fn nonsense_is_refused_before_its_end_has_come() {
    let nonsense =
        [b"\x16\x03\x01\x02\0".as_slice(), b"GET / HTTP/1.1\n", b"GET / HTTP/1.1\r\nHost: h\r\nA b: c"];
    for bytes in nonsense {
        assert!(parse_bytes(bytes).is_err(), "{}", bytes.escape_ascii());
    }
    // If the head arrives byte by byte, the refusal comes some bytes later.
    for bytes in nonsense {
        let (verdict, seen, _) = read_byte_by_byte(&[bytes, &[b'a'; 100]].concat());
        assert!(verdict == parse_bytes(bytes).map(|_| ()) && seen <= bytes.len() + 16, "{seen}");
    }
}
