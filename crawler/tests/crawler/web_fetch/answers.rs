//! What an answer says, and how long it may be.

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
        is_nofollow: false,
        retry_after: None,
        body: b"hello".to_vec(),
        is_truncated: false,
    };
    assert_eq!(answer, expected);
    let asked = asked.recv().unwrap().to_ascii_lowercase();
    assert!(asked.starts_with("get /a%20b?c http/1.1\r\n"), "{asked}");
    assert!(asked.contains("user-agent: spider/7 (test)\r\n") && asked.contains("accept-encoding: gzip\r\n"));
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
    let nowhere = Raw::saying("HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(get(&nowhere.url("/")).unwrap().location, None);
}

#[test]
fn a_pause_is_seconds_or_a_date_and_an_hour_at_most() {
    let hour = Duration::from_hours(1);
    let in_five_minutes = SystemTime::now() + Duration::from_mins(5);
    for (value, least, most) in [
        ("120".to_owned(), Some(Duration::from_mins(2)), Some(Duration::from_mins(2))),
        ("0".to_owned(), Some(Duration::ZERO), Some(Duration::ZERO)),
        ("3601".to_owned(), Some(hour), Some(hour)),
        ("99999999999999999999999".to_owned(), Some(hour), Some(hour)),
        (httpdate(in_five_minutes), Some(Duration::from_mins(3)), Some(Duration::from_mins(5))),
        (httpdate(SystemTime::now() + 9 * hour), Some(hour), Some(hour)),
        ("Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), Some(Duration::ZERO), Some(Duration::ZERO)),
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
    let fields = Raw::saying(format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(1000)));
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
