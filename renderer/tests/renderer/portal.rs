//! Tests that the travel portal shows one entry for each company, in the order of their ranks, at the
//! deadline.

use crate::gated::{Answer as Bytes, Gated};
use executor::{CancelToken, Promise, TaskHandle, ThreadPoolExecutor};
use renderer::Timeline;
use renderer::fetch::Fetched;
use renderer::portal::{Answer, Company, Entry, Price, companies, quote};
use std::time::{Duration, Instant};
use travel_portal::{ask, nested_loop, ranked};
use url::Url;

#[path = "../../src/bin/travel_portal.rs"]
#[allow(dead_code)]
mod travel_portal;

fn company(name: &str, address: &str) -> Company {
    Company { name: name.to_owned(), address: Ok(Url::parse(address).expect("an address")) }
}

fn names(count: usize) -> Vec<Company> {
    (0..count).map(|number| company(&format!("company {number}"), "http://example.org/")).collect()
}

fn answered(answer: Answer) -> TaskHandle<Answer> {
    let (promise, handle) = Promise::new();
    promise.complete(answer).expect("it is the first");
    handle
}

fn price(cents: u64) -> Answer {
    Answer::Price(Price::of_cents(cents))
}

fn numbers(entries: &[Entry]) -> Vec<usize> {
    entries.iter().map(|entry| entry.company["company ".len()..].parse().expect("a number")).collect()
}

#[test]
fn prices_come_first_and_equals_stay_in_order() {
    let late = || {
        let (promise, handle) = Promise::new();
        promise.cancel();
        handle
    };
    let panicked = || {
        let (promise, handle) = Promise::new();
        promise.panic_with(Box::new("the task fell over")).expect("it is the first");
        handle
    };
    let asked = vec![
        late(),
        answered(Answer::Failed("z".to_owned())),
        answered(price(300)),
        panicked(),
        answered(price(200)),
        answered(Answer::Failed("a".to_owned())),
        answered(price(300)),
        answered(price(0)),
        late(),
    ];
    let entries = ranked(&names(9), asked);
    assert_eq!(numbers(&entries), [7, 4, 2, 6, 1, 3, 5, 0, 8]);
    assert!(matches!(&entries[5].answer, Answer::Failed(why) if why.contains("fell over")), "{entries:?}");
    assert_eq!(entries[8].answer, Answer::TimedOut);
}

#[test]
fn no_companies_are_no_entries() {
    assert_eq!(ranked(&[], vec![]), []);
}

#[test]
fn the_nested_loop_gives_each_company_the_answers_of_all() {
    let entries = nested_loop(&names(3), vec![answered(price(1)), answered(price(2)), answered(price(3))]);
    assert_eq!(entries.len(), 9);
}

#[test]
fn whoever_is_late_is_called_off_and_the_others_have_their_answers() {
    let server = Gated::start();
    server.route("/a", Bytes::bytes("application/json", br#"{"price": 12.34}"#));
    let held = server.hold("/slow", Bytes::bytes("application/json", br#"{"price": 1}"#));
    server.route("/nothing", Bytes::bytes("application/json", b"{}"));
    server.route("/dollars", Bytes::bytes("application/json", br#"{"price": 5, "currency": "USD"}"#));
    server.route("/less", Bytes::bytes("application/json", br#"{"price": -5}"#));
    let paths = ["/slow", "/a", "/nothing", "/dollars", "/less", "/gone"];
    let companies: Vec<_> = paths.iter().map(|path| company(path, &server.url(path))).collect();
    let pool = ThreadPoolExecutor::fixed(companies.len());
    let late = |entries: &[Entry]| entries.iter().filter(|entry| entry.answer == Answer::TimedOut).count();
    let ask_within = |seconds| {
        let end = Instant::now() + Duration::from_secs(seconds);
        let asked = ask(&pool, &companies, end, &Timeline::start()).expect("the pool is open");
        assert!(Instant::now() >= end, "it came back before the deadline, though one was missing");
        ranked(&companies, asked)
    };
    // On a slow machine other companies may also be late; then the test tries again with more time.
    let mut attempts = [1, 4, 16].into_iter().map(ask_within);
    let entries = attempts.find(|entries| late(entries) == 1).expect("one is late, and no other");
    held.closed_by_client();
    let of = |path: &str| &entries.iter().find(|entry| entry.company == path).expect("an entry").answer;
    assert_eq!(entries.len(), paths.len());
    assert_eq!((of("/slow"), of("/a")), (&Answer::TimedOut, &price(1234)));
    for (path, words) in
        [("/nothing", "no price"), ("/dollars", "currency"), ("/less", "no sense"), ("/gone", "404")]
    {
        assert!(matches!(of(path), Answer::Failed(why) if why.contains(words)), "{path}: {:?}", of(path));
    }
}

/// A list that was fetched over HTTP must not name a local file, but a list in a local file may name one. In
/// both cases each company has exactly one entry.
#[test]
fn a_list_from_elsewhere_names_no_file() {
    let local = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&local, br#"{"price": 1}"#).expect("it is ours");
    let file = Url::from_file_path(local.path()).expect("an address");
    let entries = |url: &str| {
        let bytes = format!("Local\t{file}\nData\tdata:,1\n").into_bytes();
        let list = Fetched { bytes, content_type: None, url: Url::parse(url).expect("an address") };
        let companies = companies(&list).expect("a list");
        let quotes = companies.iter().map(|company| quote(company, &CancelToken::new()).expect("no cancel"));
        quotes.collect::<Vec<_>>()
    };
    let data = Answer::Failed("data addresses are not fetched".to_owned());
    assert_eq!(entries(file.as_str()), [price(100), data.clone()]);
    let refused = Answer::Failed("a page from elsewhere may not show files of this machine".to_owned());
    assert_eq!(entries("http://h.example/list"), [refused, data]);
}

#[test]
fn with_the_time_spent_nobody_is_waited_for() {
    let server = Gated::start();
    let _held = server.hold("/slow", Bytes::status(200));
    let companies = [company("slow", &server.url("/slow")), company("slow, too", &server.url("/slow"))];
    let pool = ThreadPoolExecutor::fixed(2);
    let spent = Instant::now().checked_sub(Duration::from_secs(1)).expect("later than the first second");
    let entries =
        ranked(&companies, ask(&pool, &companies, spent, &Timeline::start()).expect("the pool is open"));
    assert_eq!(entries.iter().map(|entry| &entry.answer).collect::<Vec<_>>(), [&Answer::TimedOut; 2]);
}
