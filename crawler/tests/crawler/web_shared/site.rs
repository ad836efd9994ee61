//! Sites that count the requests that they receive.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// A site whose page `/N` links to `/2N` and `/2N+1`. The site begins at `/1`, and has no rules.
pub(super) struct Site {
    pub(super) start: String,
    pages: usize,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct Counts {
    /// The number of requests for each page.
    pages: BTreeMap<usize, usize>,
    /// The number of requests for pages, by the address of the client.
    from: BTreeMap<IpAddr, usize>,
    at_once: usize,
    most_at_once: usize,
    /// The time that an answer takes.
    pause: Duration,
}

impl Counts {
    pub(super) fn from(&self, address: &str) -> usize {
        self.from.get(&address.parse().unwrap()).copied().unwrap_or_default()
    }

    pub(super) fn requests(&self) -> usize {
        self.from.values().sum()
    }
}

impl Site {
    /// Starts a site at this address. Each answer of the site takes `pause`.
    pub(super) fn start(address: &str, pages: usize, pause: Duration) -> Site {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let start = format!("http://{}/1", listener.local_addr().unwrap());
        let seen = Arc::new(Seen::default());
        let site = Site { start, pages, seen: Arc::clone(&seen) };
        site.answers_in(pause);
        thread::spawn(move || {
            for client in listener.incoming() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || seen.answer(client?, pages));
            }
        });
        site
    }

    pub(super) fn answers_in(&self, pause: Duration) {
        self.seen.counts.lock().unwrap().pause = pause;
    }

    /// Waits until the counts satisfy `wanted`. Returns true if the counts satisfied `wanted` before the time
    /// limit.
    pub(super) fn wait_until(&self, longest: Duration, wanted: impl Fn(&Counts) -> bool) -> bool {
        let counts = self.seen.counts.lock().unwrap();
        !self
            .seen
            .changed
            .wait_timeout_while(counts, longest, |counts| !wanted(counts))
            .unwrap()
            .1
            .timed_out()
    }

    /// Returns the number of unnecessary requests for pages. Panics if a page was not requested.
    pub(super) fn again(&self) -> usize {
        let counts = self.seen.counts.lock().unwrap();
        assert!(counts.pages.keys().copied().eq(1..=self.pages), "{:?}", counts.pages);
        counts.requests() - self.pages
    }

    pub(super) fn requests_from(&self, address: &str) -> usize {
        self.seen.counts.lock().unwrap().from(address)
    }

    /// Returns the largest number of requests that were being answered at the same moment.
    pub(super) fn most_at_once(&self) -> usize {
        self.seen.counts.lock().unwrap().most_at_once
    }

    /// Returns the addresses of the pages.
    pub(super) fn urls(&self) -> Vec<String> {
        let base = self.start.strip_suffix('1').unwrap();
        let mut urls: Vec<_> = (1..=self.pages).map(|page| format!("{base}{page}")).collect();
        urls.sort();
        urls
    }
}

impl Seen {
    fn answer(&self, mut client: TcpStream, pages: usize) -> io::Result<()> {
        let path = path(&client)?;
        let page = path.trim_start_matches('/').parse().ok().filter(|page| (1..=pages).contains(page));
        let pause = {
            let mut counts = self.counts.lock().unwrap();
            counts.at_once += 1;
            counts.most_at_once = counts.most_at_once.max(counts.at_once);
            if let Some(page) = page {
                *counts.pages.entry(page).or_default() += 1;
                *counts.from.entry(client.peer_addr()?.ip()).or_default() += 1;
            }
            self.changed.notify_all();
            counts.pause
        };
        thread::sleep(pause);
        // The count is decreased before the answer is sent, because the client may send its next request as
        // soon as it has the answer.
        self.counts.lock().unwrap().at_once -= 1;
        let links = |page: usize| format!("<a href=/{}>a</a><a href=/{}>b</a>", 2 * page, 2 * page + 1);
        match page {
            Some(page) if 2 * page < pages => reply(&mut client, "200 OK", &links(page)),
            Some(page) if 2 * page == pages => {
                reply(&mut client, "200 OK", &format!("<a href=/{pages}>a</a>"))
            }
            Some(page) => reply(&mut client, "200 OK", &format!("page {page}")),
            None => reply(&mut client, "404 Not Found", ""),
        }
    }
}

/// Starts a site whose page `/bad` never has an answer, and whose page `/busy` asks for a pause of an hour.
/// Each request is counted.
pub(super) fn odd_site() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let requests = Arc::clone(&count);
    thread::spawn(move || {
        for client in listener.incoming() {
            requests.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                let mut client = client?;
                match &*path(&client)? {
                    "/" => reply(&mut client, "200 OK", "<a href=/bad>bad</a>"),
                    "/bad" => client.read_to_end(&mut Vec::new()).map(drop),
                    "/busy" => reply(&mut client, "503 Busy\r\nRetry-After: 3600", ""),
                    _ => reply(&mut client, "404 Not Found", ""),
                }
            });
        }
    });
    (port, count)
}

/// Returns the path of a request, and ignores the rest of the request.
fn path(client: &TcpStream) -> io::Result<String> {
    let (mut head, mut line) = (BufReader::new(client), String::new());
    head.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while head.read_line(&mut line)? > 2 {}
    Ok(path)
}

fn reply(client: &mut TcpStream, status: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}");
    client.write_all(format!("{head}\r\nConnection: close\r\n\r\n{body}").as_bytes())
}
