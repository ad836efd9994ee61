//! Tests of the content of an answer, and of its length limits.

use super::*;

#[test]
fn a_page_is_fetched_with_what_its_head_says() {
    let (tell, asked) = mpsc::channel();
    let server = Raw::start(move |_, mut stream| {
        tell.send(request(&mut stream)?).unwrap();
        stream.write_all(b"HTTP/1.1 404 Not Here\r\nContent-Type: text/html; charset=latin1\r\nLocation: /x\r\nContent-Length: 5\r\n\r\nhello")
    });
    let url = Url::parse(&format!("http://me:secret@{}/a%20b?c#d", server.address)).unwrap();
    let fetcher = fetcher(Options { user_agent: "spider/7 (test)".to_owned(), ..options() });
    let answer = fetcher.fetch(&url, &CancelToken::new()).unwrap();
    let expected = Fetched {
        status: 404,
        content_type: Some("text/html; charset=latin1".to_owned()),
        location: None, // it is no redirect
        link: Vec::new(),
        refresh: None,
        etag: None,
        modified: None,
        is_nofollow: false,
        retry_after: None,
        body: Vec::new(), // it is no page
        is_truncated: false,
        unread: None,
    };
    assert_eq!(answer, expected);
    let asked = asked.recv().unwrap().to_ascii_lowercase();
    assert!(asked.starts_with("get /a%20b?c http/1.1\r\n"), "{asked}");
    assert!(
        asked.contains("user-agent: spider/7 (test)\r\n")
            && asked.contains("accept-encoding: gzip, deflate\r\n")
    );
    assert!(!asked.contains("authorization"), "{asked}");
}

#[test]
fn redirects_are_told_and_not_followed() {
    let demo = demo(true);
    for (path, to) in [
        ("/moved.html", demo.url("/moved-here.html").to_string()),
        ("/loop-a.html", demo.url("/loop-b.html").to_string()),
        ("/to-private.html", "http://127.0.0.2:9/secret.html".to_owned()),
        ("/to-file.html", "file:///etc/passwd".to_owned()),
    ] {
        let answer = get(&demo.url(path)).unwrap();
        assert!([301, 302].contains(&answer.status));
        assert_eq!(answer.location.unwrap().as_str(), to);
    }
    assert_eq!(demo.requests().len(), 4);
    for (location, to) in [
        (&b"Location: http://[\r\n"[..], None),
        (b"Location:\r\n", None),
        (b"", None),
        (b"Location: /r\xfc?\xfc\r\n", Some("/r%FC?%FC")), // Latin-1
        ("Location: /rü\r\n".as_bytes(), Some("/r%C3%BC")),
    ] {
        let head = [b"HTTP/1.1 302 Found\r\n", location, b"Content-Length: 0\r\n\r\n"].concat();
        let server = Raw::saying(head);
        assert_eq!(get(&server.url("/")).unwrap().location, to.map(|path| server.url(path)));
    }
    let host = "HTTP/1.1 302 Found\r\nLocation: http://bücher.example/\r\nContent-Length: 0\r\n\r\n";
    let to = get(&Raw::saying(host).url("/")).unwrap().location;
    assert_eq!(to.unwrap().as_str(), "http://xn--bcher-kva.example/");
}

#[test]
fn a_pause_is_seconds_or_a_date_and_a_day_at_most() {
    let day = Duration::from_hours(24);
    let in_five_minutes = SystemTime::now() + Duration::from_mins(5);
    for (value, least, most) in [
        ("120".to_owned(), Some(Duration::from_mins(2)), Some(Duration::from_mins(2))),
        ("3600".to_owned(), Some(day / 24), Some(day / 24)),
        ("0".to_owned(), None, None),
        ("86401".to_owned(), Some(day), Some(day)),
        ("99999999999999999999999".to_owned(), Some(day), Some(day)),
        (httpdate(in_five_minutes), Some(Duration::from_mins(3)), Some(Duration::from_mins(5))),
        (httpdate(SystemTime::now() + 9 * day), Some(day), Some(day)),
        ("Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), None, None),
        ("soon".to_owned(), None, None),
        ("-5".to_owned(), None, None),
        (String::new(), None, None),
    ] {
        let head = format!("HTTP/1.1 503 No\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n");
        let pause = get(&Raw::saying(head).url("/")).unwrap().retry_after;
        assert!(least <= pause && pause <= most, "{value}: {pause:?}");
    }
}

fn httpdate(time: SystemTime) -> String {
    httpdate::fmt_http_date(time)
}

#[test]
fn a_body_is_cut_off_at_its_limit() {
    let server = Raw::saying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
    for (most, body, is_truncated) in
        [(11, "0123456789", false), (10, "0123456789", false), (9, "012345678", true), (0, "", true)]
    {
        let answer = get_at_most(most, &server.url("/")).unwrap();
        assert_eq!((answer.body.as_slice(), answer.is_truncated), (body.as_bytes(), is_truncated), "{most}");
    }
}

#[test]
fn compressed_bytes_count_as_what_they_become() {
    let demo = demo(true);
    let page = get(&demo.url("/gzip.html")).unwrap();
    assert!(page.body.starts_with(b"<!doctype html>") && !page.is_truncated);
    let bomb = get_at_most(100_000, &demo.url("/bomb.html")).unwrap();
    assert_eq!((bomb.body.len(), bomb.is_truncated), (100_000, true));
}

/// The library `ureq` alone can read only the last of the valid heads in this test.
#[test]
fn heads_are_read_as_browsers_read_them() {
    let many = (0..1000).map(|number| format!("X-{number}: y\r\n")).collect::<Vec<_>>().concat();
    let kind = "Content-Type: text/html; charset=utf-8\r\n";
    for head in [
        format!("HTTP/1.1 200 OK\r\n{many}{kind}"),
        format!("HTTP/1.1 200 OK\r\n{}{kind}", "Link: </a>\r\n".repeat(1000)),
        "HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=utf-8\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nX: y\r\n\t z\r\nContent-Type:\r\n\t text/html;\r\n \r\n  charset=utf-8\r\n"
            .to_owned(),
        "HTTP/1.1 200 OK\r\n content-type: no\r\nCONTENT-TYPE \t:text/html; charset=utf-8\r\n".to_owned(),
        format!("HTTP/1.1 103 Early Hints\r\n{many}\r\nHTTP/1.1 200 OK\r\n{kind}").replace('\r', ""),
        format!("HTTP/1.0 200 OK\r\n{kind}"),
    ] {
        let server = Raw::start(move |_, mut stream| {
            request(&mut stream)?;
            for byte in format!("{head}Content-Length: 4\r\n\r\npage").as_bytes().chunks(7) {
                stream.write_all(byte)?;
            }
            request(&mut stream).map(drop)
        });
        let answer = get(&server.url("/")).unwrap();
        let kind = answer.content_type.unwrap();
        assert_eq!((&*kind.replace("  ", " "), &*answer.body), ("text/html; charset=utf-8", &b"page"[..]));
    }
    for fields in ["X y\r\n", "Content-Length: 4\r\n 4\r\n", "Content-Length : 4\r\nContent-Length: 5\r\n"] {
        broken(get(&Raw::saying(format!("HTTP/1.1 200 OK\r\n{fields}\r\npage")).url("/")));
    }
}

/// Checks that the head of a redirect or an error is used even if the body is faulty, because the crawler
/// does not need the body.
#[test]
fn a_head_counts_whatever_the_body_is() {
    for (head, body) in [
        ("302 Found\r\nLocation: /x\r\nContent-Encoding: gzip\r\nContent-Length: 0", ""),
        ("302 Found\r\nLocation: /x\r\nContent-Encoding: gzip\r\nContent-Length: 5", "plain"),
        ("302 Found\r\nLocation: /x\r\nContent-Length: 500", "half"),
        ("404 Not Found\r\nContent-Encoding: br\r\nContent-Length: 1", "x"),
        ("503 Later\r\nTransfer-Encoding: chunked", "no chunk\r\n"),
    ] {
        let server = Raw::saying(format!("HTTP/1.1 {head}\r\n\r\n{body}"));
        let answer = get(&server.url("/")).unwrap();
        let told = (answer.location.is_some(), answer.body.is_empty(), answer.unread);
        assert_eq!(
            (answer.status.to_string(), told),
            (head[..3].to_owned(), (&head[..3] == "302", true, None))
        );
    }
}

/// Each case has the field that names the codings, the body in these codings, and whether the body can be
/// read.
#[test]
fn codings_are_undone_in_their_order() {
    let page = b"a page, a page, a page".to_vec();
    let (zipped, zlib, bare) = (gzip(&page), zlib(&page), bare(&page));
    let halves = [gzip(&page[..9]), gzip(&page[9..])].concat();
    let fields = |value: &str| format!("Content-Encoding: {value}\r\n");
    for (field, body, is_read) in [
        (String::new(), page.clone(), true),
        (fields("gzip"), zipped.clone(), true),
        (fields("GZip"), zipped.clone(), true),
        (fields(" x-gzip ,"), zipped.clone(), true),
        (fields("gzip"), halves, true),
        (fields("gzip"), [&zipped[..], b"\0\0\0more"].concat(), true),
        (fields("gzip"), [&zipped[..], b"\x1fmore"].concat(), true),
        (fields("deflate"), zlib.clone(), true),
        (fields("deflate"), [&zlib[..], b"more"].concat(), true),
        (fields("Deflate"), bare, true),
        (fields("gzip, deflate"), self::zlib(&zipped), true),
        (fields("gzip") + &fields("deflate"), self::zlib(&zipped), true),
        (fields("deflate, gzip"), gzip(&zlib), true),
        (fields("gzip, gzip, gzip, gzip"), gzip(&gzip(&gzip(&zipped))), true),
        (fields(""), page.clone(), true),
        (fields("identity"), page.clone(), true),
        (fields("none"), page.clone(), true),
        (fields("utf-8"), page.clone(), true),
        (fields("aws-chunked, gzip"), zipped.clone(), true),
        (fields("br"), page.clone(), false),
        (fields("gzip, ZSTD"), zipped.clone(), false),
        (fields("gzip, gzip, gzip, gzip, gzip"), zipped.clone(), false),
        (fields("gzip"), page.clone(), false),
        (fields("deflate"), [&zlib[..2], b"\xff\xff\xff\xff"].concat(), false),
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: {}\r\n\r\n", body.len());
        let answer = get(&Raw::saying([head.as_bytes(), &body].concat()).url("/")).unwrap();
        let expected = if is_read { page.clone() } else { Vec::new() };
        assert_eq!(
            (answer.body, answer.unread.is_none(), answer.status),
            (expected, is_read, 200),
            "{field}"
        );
    }
    for coding in ["gzip", "deflate", "br"] {
        let empty = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 0\r\n\r\n");
        let answer = get(&Raw::saying(empty).url("/")).unwrap();
        assert_eq!((answer.body.len(), answer.unread.is_some()), (0, coding == "br"), "{coding}");
    }
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    ZlibEncoder::new(bytes, Compression::default()).read_to_end(&mut packed).unwrap();
    packed
}

fn bare(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    DeflateEncoder::new(bytes, Compression::default()).read_to_end(&mut packed).unwrap();
    packed
}

/// Checks that decoding stops if the data between two codings is too long, even though the input and output
/// of each coding are small.
#[test]
fn what_is_between_two_codings_has_an_end() {
    let body = gzip(&gzip(b"").repeat(20_000));
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n";
    let answer = get_at_most(10_000, &Raw::saying([head.as_bytes(), &body].concat()).url("/")).unwrap();
    assert_eq!((answer.body.len(), answer.is_truncated), (0, true));
}

#[test]
fn compressed_bytes_that_become_nothing_have_an_end() {
    let server = Raw::start(|_, mut stream| {
        request(&mut stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")?;
        let nothing = gzip(b"").repeat(1000);
        loop {
            stream.write_all(&nothing)?;
        }
    });
    let answer = get_at_most(10_000, &server.url("/")).unwrap();
    assert_eq!((answer.body.len(), answer.is_truncated), (0, true));
}

#[test]
fn bodies_and_heads_without_an_end_have_one() {
    let demo = demo(true);
    let endless = get(&demo.url("/endless.html")).unwrap();
    assert_eq!((endless.body.len(), endless.is_truncated), (1 << 20, true));
    let why = broken(get(&demo.url("/endless-head.html")));
    assert!(why.contains("head is larger than 32768 bytes"), "{why}");
    let fields = Raw::saying(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(10_000)));
    broken(get(&fields.url("/")));
    let go_on = Raw::start(|_, mut stream| {
        request(&mut stream)?;
        loop {
            stream.write_all(b"HTTP/1.1 102 Wait\r\n\r\n")?;
        }
    });
    broken(get_at_most(1000, &go_on.url("/")));
}

#[test]
fn each_step_has_only_the_time_of_the_page() {
    let (connecting, _full) = address_that_does_not_answer();
    let silent = Raw::start(|_, mut stream| rest(&mut stream));
    let slow = |first: &'static str| {
        Raw::start(move |_, mut stream| {
            request(&mut stream)?;
            stream.write_all(first.as_bytes())?;
            loop {
                thread::sleep(Duration::from_millis(5));
                stream.write_all(b"1")?;
            }
        })
    };
    let (head, body) = (slow("HTTP/1.1 200 OK\r\nX: "), slow("HTTP/1.1 200 OK\r\n\r\n"));
    let fetcher = fetcher(Options { timeout: Duration::from_millis(150), ..options() });
    let connecting = Url::parse(&format!("http://{connecting}/")).unwrap();
    for url in [connecting, silent.url("/"), head.url("/"), body.url("/")] {
        let begun = Instant::now();
        let error = fetcher.fetch(&url, &CancelToken::new()).unwrap_err();
        assert!(matches!(error, FetchError::TimedOut) && error.is_transient(), "{url}: {error:?}");
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(150) && took < LONG / 2, "{url}: {took:?}");
    }
}
