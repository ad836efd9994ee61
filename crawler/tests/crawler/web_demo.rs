//! Tests of the demo site, on which the crawler is tried. Crawls of this site, in `web_crawl`, find the
//! pages that the site lists.

use crawler::web::demo::{Demo, DemoOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A time limit that no operation reaches; only a failing test waits for so long.
const LONG: Duration = Duration::from_mins(1);

#[test]
fn a_site_that_is_dropped_ends_what_it_is_doing() {
    let demo = Demo::start(DemoOptions { pages: 3, delay: LONG, ..DemoOptions::default() }).unwrap();
    let address = demo.start_url().socket_addrs(|| None).unwrap()[0];
    let client = || {
        let client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        client
    };
    let (mut waiting, mut idle) = (client(), client());
    write!(waiting, "GET / HTTP/1.1\r\nHost: demo\r\n\r\n").unwrap();
    assert!(demo.wait_until(LONG, |requests, open| requests.len() == 1 && open == 2));
    let begun = Instant::now();
    drop(demo);
    assert!(begun.elapsed() < LONG / 2);
    assert_eq!((waiting.read(&mut [0]).unwrap(), idle.read(&mut [0]).unwrap()), (0, 0));
    assert!(TcpStream::connect(address).is_err());
}
