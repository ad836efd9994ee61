//! The site that the crawler is tried on: a simple crawl finds what it says, and its log says what a client
//! has read.

use crawler::web::demo::{Demo, DemoOptions, DemoRequest, Outcome};
use executor::CancelToken;
use hypertext_http::{Fetched, Fetcher, Options};
use std::collections::{BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use url::Url;

/// A time that is longer than anything takes: no test waits for it unless it fails.
const LONG: Duration = Duration::from_mins(1);

fn start(pages: usize, traps: bool, delay: Duration) -> Demo {
    Demo::start(DemoOptions { pages, traps, delay, ..DemoOptions::default() }).unwrap()
}

fn fetcher() -> Fetcher {
    let options = Options { timeout: LONG, max_bytes: 100_000, allow_private: true, ..Options::default() };
    Fetcher::new(options).unwrap()
}

/// A crawl that knows what the site is like: it follows what a crawler may follow, and gives up what has no
/// end.
fn crawl(demo: &Demo) -> BTreeSet<String> {
    let (fetcher, origin) = (fetcher(), demo.url("/").to_string());
    let (mut kept, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut next = VecDeque::from([demo.start_url()]);
    next.extend(addresses_in_sitemap(demo, &fetcher));
    while let Some(mut url) = next.pop_front() {
        url.set_fragment(None);
        let is_allowed = url.as_str().starts_with(&origin) && !url.path().starts_with("/private/");
        if !is_allowed || !seen.insert(url.to_string()) || seen.len() > 10_000 {
            continue;
        }
        let Some(answer) = fetch(&fetcher, &url) else { continue };
        next.extend(answer.location.clone());
        let html = String::from_utf8_lossy(&answer.body).into_owned();
        let is_page = answer.content_type.is_some_and(|known| known.starts_with("text/html"));
        if answer.status != 200 || !is_page {
            continue;
        }
        if !html.contains("rel=\"canonical\"") {
            kept.insert(url.to_string());
        }
        if !html.contains("content=\"nofollow\"") && !demo.is_loose(url.as_str()) {
            next.extend(links(&html, &url));
        }
    }
    kept
}

/// A page, after some tries if that may help.
fn fetch(fetcher: &Fetcher, url: &Url) -> Option<Fetched> {
    for _ in 0..3 {
        match fetcher.fetch(url, &CancelToken::new()) {
            Ok(answer) if answer.status == 503 => (),
            other => return other.ok(),
        }
    }
    None
}

fn addresses_in_sitemap(demo: &Demo, fetcher: &Fetcher) -> Vec<Url> {
    let map = fetcher.fetch(&demo.url("/sitemap.xml"), &CancelToken::new()).unwrap();
    let map = String::from_utf8(map.body).unwrap();
    let after = map.split("<loc>").skip(1).filter_map(|rest| rest.split('<').next());
    after.map(|address| Url::parse(address).unwrap()).collect()
}

fn links(html: &str, url: &Url) -> Vec<Url> {
    let address = |rest: &str| rest.split('"').next().unwrap_or("").to_owned();
    let base =
        html.split("<base href=\"").nth(1).map_or(url.clone(), |rest| url.join(&address(rest)).unwrap());
    let after = html.split("<a href=\"").skip(1); // not those with rel=nofollow before
    after.filter_map(|rest| base.join(&address(rest)).ok()).collect()
}

#[test]
fn a_crawl_finds_every_ordinary_page() {
    for (pages, seed) in [(1, 1), (2, 2), (700, 3)] {
        let demo = Demo::start(DemoOptions { pages, seed, ..DemoOptions::default() }).unwrap();
        assert_eq!(demo.pages().len(), pages);
        assert_eq!(crawl(&demo), demo.pages());
        let times = |page: &String| {
            demo.requests().iter().filter(|request| demo.url(&request.path).as_str() == page).count()
        };
        assert!(demo.pages().iter().take(20).all(|page| times(page) == 1));
    }
}

#[test]
fn a_crawl_past_the_traps_finds_every_page_and_no_other() {
    let demo = start(100, true, Duration::ZERO);
    let mut found = crawl(&demo);
    found.retain(|page| !demo.is_loose(page));
    assert_eq!(found, demo.pages());
    let requests = demo.requests();
    let forbidden: Vec<_> = requests.iter().filter(|request| demo.is_forbidden(&request.path)).collect();
    assert!(forbidden.is_empty(), "{forbidden:?}");
    for (path, times) in
        [("/healing.html", 3), ("/loop-a.html", 1), ("/gone.html", 1), ("/reset.html", 3), ("/bomb.html", 1)]
    {
        let asked = requests.iter().filter(|request| request.path == path).count();
        assert!(asked >= 1 && asked <= times, "{path}: {asked}");
    }
}

#[test]
fn what_is_forbidden_is_there_and_told_apart() {
    let demo = start(3, true, Duration::ZERO);
    for path in ["/private/secret.html", "/nofollow-only.html", "/behind-meta.html"] {
        assert!(demo.is_forbidden(path) && demo.is_forbidden(demo.url(path).as_str()));
        assert!(!demo.pages().contains(demo.url(path).as_str()));
        assert_eq!(fetch(&fetcher(), &demo.url(path)).unwrap().status, 200);
    }
    assert!(demo.pages().iter().all(|page| !demo.is_forbidden(page) && !demo.is_loose(page)));
    for path in ["/calendar/2026/11/", "/session/index.html?sid=1", "/bomb.html"] {
        assert!(demo.is_loose(demo.url(path).as_str()), "{path}");
    }
}

#[test]
fn a_seed_means_the_same_site_each_time() {
    let bodies = |seed| {
        let demo = Demo::start(DemoOptions { pages: 20, seed, ..DemoOptions::default() }).unwrap();
        let fetcher = fetcher();
        let body = |page: &String| fetch(&fetcher, &Url::parse(page).unwrap()).unwrap().body;
        demo.pages().iter().map(body).collect::<BTreeSet<_>>()
    };
    assert_eq!(bodies(7), bodies(7));
    assert_ne!(bodies(7), bodies(8));
}

#[test]
fn the_calendar_and_the_sessions_have_no_end() {
    let demo = start(3, true, Duration::ZERO);
    let fetcher = fetcher();
    for begin in ["/calendar/2026/11/", "/session/index.html?sid=1"] {
        let (mut url, mut seen) = (demo.url(begin), BTreeSet::new());
        for _ in 0..30 {
            assert!(seen.insert(url.clone()), "{url} comes again");
            let page = fetch(&fetcher, &url).unwrap();
            assert_eq!(page.status, 200, "{url}");
            url = links(&String::from_utf8(page.body).unwrap(), &url).pop().unwrap();
        }
    }
    assert_eq!(fetch(&fetcher, &demo.url("/calendar/2026/11/12/")).unwrap().status, 404);
}

#[test]
fn the_healing_page_is_there_at_the_third_request() {
    let demo = start(3, true, Duration::ZERO);
    let fetcher = fetcher();
    let answers: Vec<_> = (0..4)
        .map(|_| {
            let answer = fetcher.fetch(&demo.url("/healing.html"), &CancelToken::new()).unwrap();
            (answer.status, answer.retry_after)
        })
        .collect();
    let not_yet = (503, Some(Duration::from_secs(1)));
    assert_eq!(answers, [not_yet, not_yet, (200, None), (200, None)]);
}

// What the log says

/// A client that reads only if it is told to.
struct Client(TcpStream);

impl Client {
    fn of(demo: &Demo) -> Client {
        let client = TcpStream::connect(demo.start_url().socket_addrs(|| None).unwrap()[0]).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        Client(client)
    }

    fn ask(&mut self, path: &str) {
        write!(self.0, "GET {path} HTTP/1.1\r\nHost: demo\r\n\r\n").unwrap();
    }

    /// Reads up to the end of the answer.
    fn read(&mut self) {
        let (mut answer, mut byte) = (Vec::new(), [0]);
        while !answer.ends_with(b"</html>\n") {
            self.0.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
    }
}

fn outcomes(requests: &[DemoRequest]) -> Vec<Outcome> {
    requests.iter().map(|request| request.outcome).collect()
}

/// Waits until the outcomes are these and exactly `open` connections are open.
fn comes_to(demo: &Demo, open: usize, expected: &[Outcome]) {
    let is_so = demo.wait_until(LONG, |requests, now| now == open && outcomes(requests) == expected);
    assert!(is_so, "{:?}, {} open", demo.requests(), demo.open_connections());
}

#[test]
fn an_answer_that_was_read_is_answered() {
    let demo = start(3, false, Duration::ZERO);
    let mut client = Client::of(&demo);
    client.ask("/");
    comes_to(&demo, 1, &[Outcome::Sent]); // nothing has been read
    client.read();
    client.ask("/none");
    comes_to(&demo, 1, &[Outcome::Answered, Outcome::Sent]); // it asks for more
    let mut other = Client::of(&demo);
    other.ask("/");
    other.read();
    drop(other);
    comes_to(&demo, 1, &[Outcome::Answered, Outcome::Sent, Outcome::Answered]); // it has closed
    let requests = demo.requests();
    assert_eq!(requests.iter().map(|request| request.connection).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(requests[1].path, "/none");
    assert!(requests.iter().all(|request| request.ended >= Some(request.began)));
    assert_eq!(demo.connections(), 2);
}

#[test]
fn an_answer_that_was_not_read_is_cut_off() {
    let demo = start(3, false, Duration::ZERO);
    let mut client = Client::of(&demo);
    client.ask("/");
    comes_to(&demo, 1, &[Outcome::Sent]);
    client.0.read_exact(&mut [0; 100]).unwrap(); // the beginning of it
    drop(client);
    comes_to(&demo, 0, &[Outcome::CutOff]);
}

#[test]
fn a_client_that_dies_before_its_answer_is_cut_off() {
    let demo = start(3, false, Duration::from_millis(100));
    let mut client = Client::of(&demo);
    client.ask("/");
    comes_to(&demo, 1, &[Outcome::InFlight]);
    assert_eq!((demo.in_flight(), demo.requests()[0].ended), (1, None));
    drop(client);
    comes_to(&demo, 0, &[Outcome::CutOff]);
    assert_eq!(demo.in_flight(), 0);
}

#[test]
fn an_answer_that_the_site_breaks_is_cut_off() {
    let demo = start(3, true, Duration::ZERO);
    let fetcher = fetcher();
    for path in ["/reset.html", "/too-short.html", "/broken-chunks.html", "/endless.html", "/bomb.html"] {
        drop(fetcher.fetch(&demo.url(path), &CancelToken::new()));
    }
    comes_to(&demo, 0, &[Outcome::CutOff; 5]);
}

#[test]
fn a_site_that_is_dropped_ends_what_it_is_doing() {
    let demo = start(3, true, LONG);
    let (mut waiting, mut idle) = (Client::of(&demo), Client::of(&demo));
    waiting.ask("/");
    assert!(demo.wait_until(LONG, |requests, open| requests.len() == 1 && open == 2));
    let address = demo.start_url();
    let begun = Instant::now();
    drop(demo);
    assert!(begun.elapsed() < LONG / 2);
    assert_eq!((waiting.0.read(&mut [0]).unwrap(), idle.0.read(&mut [0]).unwrap()), (0, 0));
    assert!(TcpStream::connect(address.socket_addrs(|| None).unwrap()[0]).is_err());
}

#[test]
fn other_methods_are_not_answered_as_pages() {
    let demo = start(3, false, Duration::ZERO);
    for (method, status, has_body) in [("HEAD", "200 OK", false), ("POST", "405 Method Not Allowed", true)] {
        let mut client = Client::of(&demo);
        write!(client.0, "{method} / HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.0.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert_eq!(!answer.ends_with("\r\n\r\n"), has_body, "{answer}");
    }
}
