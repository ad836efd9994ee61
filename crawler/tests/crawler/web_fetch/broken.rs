//! Tests of answers that break, and of addresses that give no answer.

use super::*;

#[test]
fn a_body_that_ends_early_is_named_with_its_length() {
    let demo = demo(true);
    let why = broken(get(&demo.url("/too-short.html")));
    assert!(why.contains("after 19 of 500 bytes, which Content-Length promised"), "{why}");
    let half = gzip(b"a page, a page, a page");
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", half.len());
    let server = Raw::saying([head.as_bytes(), &half[..half.len() / 2]].concat());
    broken(get(&server.url("/")));
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", half.len() + 20);
    let server = Raw::saying([head.as_bytes(), &half, b"\x1f\x8b\x08"].concat()); // a second member begins
    broken(get(&server.url("/")));
    let unframed = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let server = Raw::saying([unframed.as_bytes(), &half[..half.len() / 2]].concat());
    let why = broken(get(&server.url("/")));
    assert!(why.contains("not whole"), "{why}");
}

#[test]
fn a_length_that_is_none_is_broken() {
    for head in [
        "Content-Length: many",
        "Content-Length: -1",
        "Content-Length: 18446744073709551615",
        "Content-Length: 99999999999999999999999",
        "Content-Length: 5\r\nContent-Length: 6",
    ] {
        broken(get(&Raw::saying(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nhello")).url("/")));
    }
}

#[test]
fn chunks_are_put_together_and_checked() {
    let demo = demo(true);
    assert!(get(&demo.url("/chunked.html")).unwrap().body.ends_with(b"In chunks\n\n"));
    broken(get(&demo.url("/broken-chunks.html")));
    let cut = Raw::saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nhe");
    let why = broken(get(&cut.url("/")));
    assert!(why.contains("in the middle of the body"), "{why}");
}

#[test]
fn what_is_no_answer_is_broken() {
    let demo = demo(true);
    broken(get(&demo.url("/reset.html")));
    for bytes in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "<html>HTTP/0.9</html>",
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
    ] {
        broken(get(&Raw::saying(bytes).url("/")));
    }
}

#[test]
fn a_reset_is_not_the_end_of_a_body() {
    let reset = Raw::start(|_, mut stream| {
        request(&mut stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nthe first half")?;
        SockRef::from(&stream).set_linger(Some(Duration::ZERO))
    });
    broken(get(&reset.url("/")));
}

#[test]
fn no_connection_and_no_name_are_told_apart() {
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let error = get(&Url::parse(&format!("http://{closed}/")).unwrap()).unwrap_err();
    assert!(matches!(&error, FetchError::Connect(why) if why.contains("refuses")), "{error:?}");
    assert!(error.is_transient());
    let unknown = |_: &str, _: u16| Err(io::Error::other("no such name"));
    let fetcher = Fetcher::with_parts(options(), is_private_address, unknown).unwrap();
    let error =
        fetcher.fetch(&Url::parse("http://unknown.example/").unwrap(), &CancelToken::new()).unwrap_err();
    assert_eq!(error.to_string(), "the name of the host cannot be resolved: no such name");
    assert!(error.is_transient());
}

#[test]
fn addresses_that_cannot_be_fetched_are_told() {
    for (address, word) in
        [("ftp://example.com/", "ftp"), ("file:///etc/passwd", "file"), ("mailto:me", "mailto")]
    {
        let error = get(&Url::parse(address).unwrap()).unwrap_err();
        assert!(matches!(&error, FetchError::Unusable(why) if why.contains(word)), "{error:?}");
        assert!(!error.is_transient());
    }
    #[cfg(not(feature = "tls"))]
    {
        let error = get(&Url::parse("https://example.com/").unwrap()).unwrap_err();
        assert!(matches!(&error, FetchError::Unusable(why) if why.contains("feature tls")), "{error:?}");
    }
    let bad_agent = Options { user_agent: "two\nlines".to_owned(), ..options() };
    assert!(matches!(Fetcher::new(bad_agent), Err(FetchError::Unusable(_))));
    let bad_proxy = Options { proxy: Some(Url::parse("socks5://127.0.0.1:9/").unwrap()), ..options() };
    assert!(matches!(Fetcher::new(bad_proxy), Err(FetchError::Unusable(_))));
}
