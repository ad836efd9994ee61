//! Tests of private addresses, and of a proxy.

use super::*;

/// Returns true if the address is the private one of the two addresses that this machine pretends to have.
fn is_second(address: IpAddr) -> bool {
    address == IpAddr::from([127, 0, 0, 2])
}

/// Creates a fetcher for a site whose names resolve to this machine.
fn careful(port: u16, proxy: Option<Url>, looked_up: &Arc<AtomicUsize>) -> Fetcher {
    let looked_up = Arc::clone(looked_up);
    let options = Options { allow_private: false, proxy, ..options() };
    Fetcher::with_parts(options, is_second, move |name, _| {
        let first = looked_up.fetch_add(1, Ordering::SeqCst) == 0;
        let (good, bad) =
            (SocketAddr::from(([127, 0, 0, 1], port)), SocketAddr::from(([127, 0, 0, 2], port)));
        Ok(match name {
            "inside.example" => vec![bad],
            "both.example" => vec![bad, good],
            "rebound.example" if !first => vec![bad],
            _ => vec![good],
        })
    })
    .unwrap()
}

fn is_refused(result: &Result<Fetched, FetchError>) -> bool {
    matches!(result, Err(error @ FetchError::Private(address)) if is_second(*address) && !error.is_transient())
}

#[test]
fn private_addresses_are_refused_by_literal_by_name_and_behind_a_redirect() {
    let demo = demo(true);
    let port = demo.start_url().port().unwrap();
    let fetcher = careful(port, None, &Arc::default());
    let fetch = |address: &str| fetcher.fetch(&Url::parse(address).unwrap(), &CancelToken::new());
    for refused in ["http://127.0.0.2/", "http://2130706434/", "http://0x7f.2/", "http://inside.example/"] {
        assert!(is_refused(&fetch(refused)), "{refused}");
    }
    assert_eq!(demo.connections(), 0);
    let redirect = fetch(&format!("http://outside.example:{port}/to-private.html")).unwrap();
    assert!(is_refused(&fetch(redirect.location.unwrap().as_str())));
    assert_eq!(fetch("http://both.example/").unwrap().status, 200, "it goes to the public one of them");
}

#[test]
fn a_name_that_comes_to_mean_another_address_is_refused_then() {
    let demo = demo(false);
    let looked_up = Arc::default();
    let fetcher = careful(demo.start_url().port().unwrap(), None, &looked_up);
    let fetch = |address: &str| fetcher.fetch(&Url::parse(address).unwrap(), &CancelToken::new());
    for _ in 0..3 {
        fetch("http://rebound.example/").unwrap();
    }
    assert_eq!(looked_up.load(Ordering::SeqCst), 1, "a name is looked up once a minute");
    assert!(is_refused(&fetch("http://rebound.example:81/")), "another port is another question");
}

#[test]
fn nothing_is_private_if_that_is_allowed() {
    let demo = demo(false);
    let refused = fetcher(Options { allow_private: false, ..options() });
    let error = refused.fetch(&demo.start_url(), &CancelToken::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the host is at the private address 127.0.0.1, which is not for the public"
    );
    assert_eq!(get(&demo.start_url()).unwrap().status, 200);
}

#[test]
fn the_public_internet_is_not_private_and_the_rest_is() {
    for public in
        ["8.8.8.8", "193.99.144.85", "100.63.1.1", "172.32.0.1", "2a00:1450:4001::1", "64:ff9b::808:808"]
    {
        assert!(!is_private_address(public.parse().unwrap()), "{public}");
    }
    for private in [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.9.9.9",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.1.1",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::7f00:1",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
    ] {
        assert!(is_private_address(private.parse().unwrap()), "{private}");
    }
}

#[test]
fn a_proxy_makes_the_connections_and_is_not_checked_itself() {
    let (tell, asked) = mpsc::channel();
    let proxy = Raw::start(move |_, mut stream| {
        tell.send(request(&mut stream)?).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        tell.send(request(&mut stream)?).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")
    });
    let looked_up = Arc::default();
    let through = Url::parse(&format!("http://127.0.0.1:{}/", proxy.address.port())).unwrap();
    let fetcher = careful(1, Some(through), &looked_up);
    let fetch = |address: &str| fetcher.fetch(&Url::parse(address).unwrap(), &CancelToken::new());
    assert_eq!(fetch("http://inside.example/page").unwrap().body, b"yes");
    assert!(asked.recv().unwrap().starts_with("CONNECT inside.example:80 HTTP/1.1\r\n"));
    assert!(asked.recv().unwrap().starts_with("GET /page HTTP/1.1\r\n"));
    assert_eq!(looked_up.load(Ordering::SeqCst), 0, "the proxy resolves the name");
    assert!(is_refused(&fetch("http://127.0.0.2/")), "a literal is refused all the same");
    let refusing = Raw::saying("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    let fetcher = careful(1, Some(refusing.url("/")), &looked_up);
    let error = fetcher.fetch(&Url::parse("http://a.example/").unwrap(), &CancelToken::new()).unwrap_err();
    assert!(matches!(error, FetchError::Connect(_)), "{error:?}");
}
