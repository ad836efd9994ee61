//! Tests of connections that are kept open, and of tokens that end fetches.

use super::*;

#[test]
fn one_connection_serves_page_after_page() {
    let demo = demo(true);
    let fetcher = fetcher(options());
    for path in ["/", "/gzip.html", "/chunked.html", "/gone.html", "/moved.html", "/robots.txt", "/"] {
        let token = CancelToken::new();
        fetcher.fetch(&demo.url(path), &token).unwrap();
        token.cancel(); // the fetch has ended, so this must not end the connection
    }
    assert_eq!((demo.connections(), demo.requests().len()), (1, 7));
}

#[test]
fn threads_have_a_connection_each_at_most() {
    let demo = demo(false);
    let fetcher = fetcher(options());
    let pages: Vec<_> = demo.pages().into_iter().map(|page| Url::parse(&page).unwrap()).collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for page in &pages {
                    assert_eq!(fetcher.fetch(page, &CancelToken::new()).unwrap().status, 200);
                }
            });
        }
    });
    assert!(demo.connections() <= 4, "{} connections", demo.connections());
    assert_eq!(demo.requests().len(), 160);
}

#[test]
fn a_kept_connection_that_the_server_closes_is_replaced() {
    let server = Raw::start(|number, mut stream| {
        request(&mut stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        request(&mut stream)?; // the second request on the first connection gets no answer
        if number == 0 {
            Ok(())
        } else {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
        }
    });
    let fetcher = fetcher(options());
    for _ in 0..2 {
        assert_eq!(fetcher.fetch(&server.url("/"), &CancelToken::new()).unwrap().body, b"ok");
    }
    assert_eq!(server.accepted(), 2);
}

#[test]
fn bytes_behind_an_answer_are_not_the_next_answer() {
    for body in ["ok", ""] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let both = format!("{head}{body}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil");
        let server = Raw::start(move |_, mut stream| {
            request(&mut stream)?;
            stream.write_all(both.as_bytes())?;
            rest(&mut stream)
        });
        let fetcher = fetcher(options());
        for _ in 0..3 {
            assert_eq!(fetcher.fetch(&server.url("/"), &CancelToken::new()).unwrap().body, body.as_bytes());
        }
        assert_eq!(server.accepted(), 3);
    }
}

#[test]
fn bytes_that_come_while_a_connection_is_idle_are_not_the_next_answer() {
    let (tell_idle, idle) = mpsc::channel();
    let (tell_sent, sent) = mpsc::channel();
    let idle = Mutex::new(idle);
    let server = Raw::start(move |number, mut stream| {
        request(&mut stream)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        if number > 0 {
            return rest(&mut stream);
        }
        idle.lock().unwrap().recv().unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")?;
        SockRef::from(&stream).set_linger(Some(LONG))?;
        drop(stream); // returns when the client's system has the bytes
        tell_sent.send(()).unwrap();
        Ok(())
    });
    let fetcher = fetcher(options());
    assert_eq!(fetcher.fetch(&server.url("/"), &CancelToken::new()).unwrap().body, b"ok");
    tell_idle.send(()).unwrap();
    sent.recv_timeout(LONG).unwrap();
    assert_eq!(fetcher.fetch(&server.url("/"), &CancelToken::new()).unwrap().body, b"ok");
    assert_eq!(server.accepted(), 2);
}

/// Fetches on another thread, cancels the fetch when `ready` receives a message, and checks that the fetch
/// reports the cancellation and not a time-out. Returns the time from the cancellation until the fetch
/// returned.
fn cancelled_when(ready: &Receiver<()>, fetcher: &Fetcher, url: &Url) -> Duration {
    let token = CancelToken::new();
    let (error, took) = thread::scope(|scope| {
        let answer = scope.spawn(|| fetcher.fetch(url, &token));
        ready.recv_timeout(LONG).expect("the fetch has got as far as it should");
        let begun = Instant::now();
        token.cancel_because("the crawl is stopping");
        (answer.join().unwrap().unwrap_err(), begun.elapsed())
    });
    let FetchError::Cancelled(cancelled) = &error else { panic!("{url}: {error:?}") };
    assert_eq!(cancelled.reason().unwrap().message(), Some("the crawl is stopping"));
    assert!(!error.is_transient() && took < LONG / 2, "{took:?}");
    took
}

#[test]
fn a_cancelled_token_ends_each_step() {
    let stages: [&'static [u8]; 6] = [
        b"",
        b"HTTP/1.1 200 OK\r\nConte",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nthe first",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nwithout a length",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    ];
    let took = stages.map(|stage| {
        let (tell, ready) = mpsc::channel();
        let server = Raw::start(move |_, mut stream| {
            request(&mut stream)?;
            stream.write_all(stage)?;
            thread::sleep(Duration::from_millis(30)); // the client is most likely blocked by now
            let _ = tell.send(());
            rest(&mut stream)
        });
        cancelled_when(&ready, &fetcher(options()), &server.url("/"))
    });
    // The cancellation wakes the thread. Without the cancellation, the thread would wake only at its next
    // check of the time, once a second.
    let at_once = took.iter().filter(|&&took| took < Duration::from_millis(500)).count();
    assert!(at_once >= 3, "{took:?}");
}

#[test]
fn a_cancelled_token_ends_a_body_that_keeps_coming() {
    let demo = demo(true);
    let (tell, ready) = mpsc::channel();
    let fetcher = fetcher(Options { max_bytes: 1 << 50, ..options() });
    let url = demo.url("/endless.html");
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(demo.wait_until(LONG, |requests, _| !requests.is_empty()));
            tell.send(()).unwrap();
        });
        cancelled_when(&ready, &fetcher, &url);
    });
}

#[test]
fn a_cancelled_token_ends_connecting() {
    let (address, _full) = address_that_does_not_answer();
    let (tell, ready) = mpsc::channel();
    let lookup = told_before(address, tell);
    let fetcher = Fetcher::with_parts(options(), is_private_address, lookup).unwrap();
    cancelled_when(&ready, &fetcher, &Url::parse("http://slow.example/").unwrap());
}

fn told_before(
    address: SocketAddr,
    tell: Sender<()>,
) -> impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static {
    move |_, _| {
        let _ = tell.send(());
        Ok(vec![address])
    }
}

#[test]
fn a_token_with_a_deadline_is_a_cancelled_one() {
    let silent = Raw::start(|_, mut stream| rest(&mut stream));
    let token = CancelToken::new().with_timeout(Duration::from_millis(50));
    let error = fetcher(options()).fetch(&silent.url("/"), &token).unwrap_err();
    assert!(matches!(error, FetchError::Cancelled(_)), "{error:?}");
    let error = fetcher(options()).fetch(&silent.url("/"), &token).unwrap_err();
    assert!(matches!(error, FetchError::Cancelled(_)), "{error:?}");
    assert_eq!(silent.accepted(), 1, "a cancelled token makes no connection");
}
