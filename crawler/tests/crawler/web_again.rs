//! Tests of a crawl that repeats the requests for the pages of an earlier crawl, after some of these pages
//! have changed.

use crate::web_rules::{
    Answer, Request, Site, answer, busy, crawl, fast, folder, kill, links, start, status,
};
use crawler::web::crawl::state::{Changes, Record, State};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// The present content of a page: its links, and a header field that changes when the page changes. A page
/// may also be missing, or the site may give no answer for it.
enum Page {
    Here(String, String),
    Gone,
    Silent,
    Busy,
}

/// A site whose pages can change.
struct Changing {
    site: Site,
    pages: Arc<Mutex<BTreeMap<String, Page>>>,
    /// The number of requests that the test has already examined.
    looked_at: Cell<usize>,
    folder: TempDir,
}

const MONDAY: &str = "Mon, 05 Oct 2026 07:28:00 GMT";

impl Changing {
    /// Creates a site with three pages: a page with an `ETag`, a page with a date, and a page with neither.
    fn new() -> Changing {
        let pages = Arc::new(Mutex::new(BTreeMap::new()));
        let now = Arc::clone(&pages);
        let site = Site::of_heads(move |path, _, head| answered(path, head, &now));
        let site = Changing { site, pages, looked_at: Cell::new(0), folder: folder() };
        site.has("/", &format!("ETag: \"one\"\r\nLast-Modified: {MONDAY}\r\n"), &["/a", "/b"]);
        site.has("/a", &format!("Last-Modified: {MONDAY}\r\n"), &["/"]);
        site.has("/b", &format!("ETag: \"{}\"\r\n", "long".repeat(300)), &["/a"]);
        site
    }

    fn has(&self, path: &str, field: &str, to: &[&str]) {
        self.becomes(path, Page::Here(field.to_owned(), links(to)));
    }

    fn becomes(&self, path: &str, page: Page) {
        self.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    /// Runs a crawl, and returns its result and its requests.
    fn crawl(&self, flags: &[&str]) -> (Option<i32>, Value, Vec<String>) {
        let (status, report) =
            crawl(&self.folder, &[&fast(&self.site)[..], &["--graph", "graph"], flags].concat());
        (status, report, self.asked())
    }

    /// Returns the pages that were requested since the last call, in order, each with the conditions in its
    /// request.
    fn asked(&self) -> Vec<String> {
        let requests = self.site.requests();
        let before = self.looked_at.replace(requests.len());
        let new = requests[before..].iter().filter(|request| request.path != "/robots.txt");
        let with_condition = |request: &Request| match condition(&request.head) {
            Some(condition) => [&request.path, condition].join(" "),
            None => request.path.clone(),
        };
        let mut asked: Vec<_> = new.map(with_condition).collect();
        asked.sort();
        asked
    }

    fn graph(&self) -> String {
        fs::read_to_string(self.folder.path().join("graph")).unwrap()
    }

    /// Changes the records of all pages whose addresses end with `end`, as if the pages had been finished
    /// at the time `at`.
    fn make_old(&self, end: &str, at: Option<u64>) {
        let (state, mut over) = (State::open(&self.folder.path().join("state")).unwrap(), Vec::new());
        let make_old = |url: &str, record| {
            if url.ends_with(end) {
                over.push((url.into(), Record { at, ..record }));
            }
            Ok(())
        };
        state.each(make_old).unwrap();
        state.commit(&Changes { over, ..Changes::default() }).unwrap();
    }

    /// Runs a crawl that is killed while it waits for a page.
    fn killed_at(&self, path: &str, flags: &[&str]) {
        let times = self.site.asked().iter().filter(|asked| *asked == path).count();
        let run = start(self.folder.path(), &[&fast(&self.site)[..], flags].concat());
        self.site.wait_for(path, times + 1);
        kill(run);
    }
}

fn answered(path: &str, head: &str, pages: &Mutex<BTreeMap<String, Page>>) -> Option<Answer> {
    if path == "/robots.txt" {
        return Some(status(404));
    }
    match pages.lock().unwrap().get(path) {
        Some(Page::Here(fields, body)) => {
            let told = condition(head).and_then(|condition| condition.split_once(": "));
            let is_same = told.is_some_and(|(_, told)| fields.contains(&format!(": {told}\r\n")));
            let fields = format!("{fields}Content-Type: text/html\r\n");
            Some(if is_same { status(304) } else { answer(200, &fields, body) })
        }
        Some(Page::Silent) => None,
        Some(Page::Busy) => Some(busy(3600)),
        Some(Page::Gone) | None => Some(status(404)),
    }
}

fn condition(head: &str) -> Option<&str> {
    head.lines().find(|line| line.to_ascii_lowercase().starts_with("if-"))
}

fn conditions() -> [String; 3] {
    ["/ if-none-match: \"one\"".to_owned(), format!("/a if-modified-since: {MONDAY}"), "/b".to_owned()]
}

#[test]
fn what_has_not_changed_is_kept() {
    let site = Changing::new();
    let (status, report, asked) = site.crawl(&[]);
    assert_eq!(
        (status, &report["fetched"], &*asked),
        (Some(0), &3.into(), &["/", "/a", "/b"].map(str::to_owned)[..])
    );
    let graph = site.graph();
    for flags in [&[][..], &["--again=1h"]] {
        let (status, report, asked) = site.crawl(flags);
        assert_eq!((status, &report["unchanged"], asked.len()), (Some(0), &0.into(), 0), "{report}");
    }
    let make_old: [fn(&Changing); 3] =
        [|_| (), |site| site.make_old("", Some(1)), |site| site.make_old("", None)];
    for (make_old, age) in make_old.into_iter().zip(["--again", "--again=7d", "--again=1h"]) {
        make_old(&site);
        let (status, report, asked) = site.crawl(&[age]);
        assert_eq!(
            (status, &report["fetched"], &report["unchanged"]),
            (Some(0), &3.into(), &2.into()),
            "{report}"
        );
        assert_eq!((asked, site.graph()), (conditions().to_vec(), graph.clone()));
    }
    assert_eq!(site.crawl(&["--again=1h"]).2.len(), 0);
}

#[test]
fn what_has_changed_leads_on_and_what_is_gone_is_broken() {
    let site = Changing::new();
    site.crawl(&[]);
    site.has("/", "ETag: \"two\"\r\n", &["/a", "/b", "/c"]);
    site.has("/c", "", &[]);
    site.becomes("/b", Page::Gone);
    let (status, report, asked) = site.crawl(&["--again"]);
    assert_eq!(
        (status, &report["fetched"], &report["unchanged"]),
        (Some(3), &4.into(), &1.into()),
        "{report}"
    );
    let broken = &report["broken"];
    assert_eq!((broken.as_array().unwrap().len(), &broken[0]["why"]), (1, &"status 404".into()), "{report}");
    assert_eq!((&broken[0]["linked_from"][0], &*asked[3]), (&format!("{}/", site.site.origin).into(), "/c"));
    site.has("/b", "", &[]);
    let (status, _, asked) = site.crawl(&["--again"]);
    assert_eq!((status, &*asked[0]), (Some(0), "/ if-none-match: \"two\""));
}

/// A server that answers "not modified" does not send the page. So the crawl names its version of a page to
/// the server only if this version is complete.
#[test]
fn a_page_whose_file_is_missing_is_sent_again() {
    let site = Changing::new();
    site.crawl(&[]);
    let flags = ["--again", "--save", "pages"];
    assert_eq!(site.crawl(&flags).2, ["/", "/a", "/b"]);
    assert_eq!(site.crawl(&flags).2, conditions());
    let host = fs::read_dir(site.folder.path().join("pages")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(host.join("a")).unwrap();
    assert_eq!(site.crawl(&flags).2[1], "/a");
    assert_eq!(fs::read_to_string(host.join("a")).unwrap(), links(&["/"]));
    assert_eq!(site.crawl(&["--again", "--fragments"]).2, ["/", "/a", "/b"]);
    assert_eq!(site.crawl(&["--again", "--max-bytes", "9"]).2, conditions());
    site.has("/a", "ETag: \"cut\"\r\n", &["/"]);
    site.crawl(&["--again", "--max-bytes", "9"]);
    assert_eq!(site.crawl(&["--again"]).2[1], "/a", "it was cut");
}

#[test]
fn killed_between_its_pages_it_goes_on_with_the_others() {
    let site = Changing::new();
    site.crawl(&[]);
    let graph = site.graph();
    site.make_old("", Some(1));
    site.becomes("/a", Page::Silent);
    site.killed_at("/a", &["--again=1h"]);
    site.has("/a", &format!("Last-Modified: {MONDAY}\r\n"), &["/"]);
    site.asked();
    let (status, report, asked) = site.crawl(&["--again=1h"]);
    assert_eq!((status, &report["fetched"]), (Some(0), &3.into()), "{report}");
    assert!(asked.ends_with(&conditions()[1..]), "{asked:?}");
    assert_eq!((site.graph(), site.crawl(&["--again=1h"]).2.len()), (graph, 0));
}

#[test]
fn a_page_of_which_processes_die_is_given_up_at_its_new_visit_too() {
    let site = Changing::new();
    site.crawl(&[]);
    site.becomes("/a", Page::Silent);
    for _ in 0..3 {
        site.killed_at("/a", &["--again"]);
    }
    site.asked();
    let (status, report, asked) = site.crawl(&["--again"]);
    assert_eq!((status, asked.len(), &report["fetched"]), (Some(3), 2, &2.into()), "{report}");
    assert!(report["broken"][0]["why"].as_str().unwrap().contains("ended 3 times"), "{report}");
}

/// Checks that the state keeps all records of a site that does not answer. If a single page has no answer,
/// the report names this page as broken. If one page has no answer, no other page is requested, because on a
/// busy machine another page might be late as well.
#[test]
fn a_site_that_is_away_keeps_what_is_known_of_it() {
    let site = Changing::new();
    site.crawl(&[]);
    let graph = site.graph();
    site.becomes("/a", Page::Silent);
    site.make_old("/a", Some(1));
    let (status, report, _) = site.crawl(&["--again=1h", "--timeout", "100ms", "--retries", "0"]);
    assert_eq!((status, &report["fetched"], &report["failed"]), (Some(3), &2.into(), &1.into()), "{report}");
    site.has("/a", &format!("Last-Modified: {MONDAY}\r\n"), &["/"]);
    let (status, report, _) = site.crawl(&["--again"]);
    assert_eq!((status, &report["fetched"], site.graph()), (Some(0), &3.into(), graph.clone()), "{report}");
    for path in ["/", "/a", "/b"] {
        site.becomes(path, Page::Busy);
    }
    let (status, report, _) = site.crawl(&["--again"]);
    assert_eq!((status, &report["fetched"], site.graph()), (Some(4), &3.into(), graph), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("3 of its pages wait for another run"), "{report}");
}
