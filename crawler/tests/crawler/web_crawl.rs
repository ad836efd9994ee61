//! Tests of the crawler from a shell: every page is in the state exactly once, even if the crawl is stopped
//! or killed in between.

use crate::child::{WATCHDOG, crawl, ended, report};
use crawler::web::crawl::frontier::DEADLY;
use crawler::web::crawl::save::path;
use crawler::web::crawl::state::{Progress, Record, State};
use crawler::web::demo::{Demo, DemoOptions};
use executor::CancelToken;
use hypertext_http::{Fetcher, Options};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};
use tempfile::TempDir;
use url::Url;

/// A site, and a folder with the state of its crawl.
struct Crawl {
    site: Demo,
    folder: TempDir,
}

impl Crawl {
    fn of(options: DemoOptions) -> Crawl {
        Crawl { site: Demo::start(options).unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a crawl that has the given number of threads and fetches the same number of pages at once.
    fn start(&self, threads: &str, flags: &[&str]) -> Child {
        let all = ["--allow-private", "--json", "--per-site", threads, "--threads", threads];
        let mut command = crawl(self.folder.path(), self.site.start_url().as_str(), &all);
        command.args(flags).spawn().unwrap()
    }

    fn run(&self, flags: &[&str]) -> (Option<i32>, Value) {
        report(&ended(self.start("8", flags)))
    }

    /// Returns the state's record of each page.
    fn records(&self) -> BTreeMap<String, Record> {
        let mut records = BTreeMap::new();
        let state = State::open(&self.path("state")).unwrap();
        state
            .each(|url, record| {
                records.insert(url.to_owned(), record);
                Ok(())
            })
            .unwrap();
        records
    }

    /// Returns the pages that were fetched, are HTML, and are not copies of other pages.
    fn kept(&self) -> BTreeSet<String> {
        let kept = |(url, record): (String, Record)| {
            (record.progress == Progress::Fetched && record.status == Some(200) && record.copy_of.is_none())
                .then_some(url)
        };
        self.records().into_iter().filter_map(kept).collect()
    }

    /// Checks that the file of each page has the content that the site sends. For this comparison, each
    /// page is requested from the site once more.
    fn assert_that_files_are_whole(&self) {
        let fetcher = Fetcher::new(Options { allow_private: true, ..Options::default() }).unwrap();
        for page in self.kept() {
            let url = Url::parse(&page).unwrap();
            let file = path(&self.path("pages"), &url);
            let body = fetcher.fetch(&url, &CancelToken::new()).unwrap().body;
            assert!(fs::read(&file).is_ok_and(|file| file == body), "{}", file.display());
        }
    }

    /// Returns the number of requests for each address.
    fn asked(&self) -> BTreeMap<String, usize> {
        let mut asked = BTreeMap::new();
        for request in self.site.requests() {
            *asked.entry(self.site.url(&request.path).to_string()).or_default() += 1;
        }
        asked
    }

    /// Waits until the site has noticed that a killed process has closed its connections.
    fn until_nobody_is_connected(&self) {
        assert!(self.site.wait_until(WATCHDOG, |_, open| open == 0));
    }
}

#[test]
fn every_page_of_a_site_is_fetched_once() {
    let crawl = Crawl::of(DemoOptions { pages: 300, ..DemoOptions::default() });
    let (status, report) = crawl.run(&["--graph", "graph", "--save", "pages"]);
    assert_eq!(
        (status, &report["complete"], &report["waiting"]),
        (Some(0), &true.into(), &0.into()),
        "{report}"
    );
    let pages = crawl.site.pages();
    assert_eq!(crawl.kept(), pages);
    let mut asked = crawl.asked();
    assert_eq!(asked.remove(crawl.site.url("/robots.txt").as_str()), Some(1));
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
    let graph = fs::read_to_string(crawl.path("graph")).unwrap();
    let lines: Vec<Value> = graph.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines.iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(),
        pages
    );
    // A further run finds nothing to do.
    let before = crawl.site.requests().len();
    assert_eq!(crawl.run(&[]).0, Some(0));
    assert_eq!(crawl.site.requests().len(), before);
}

#[test]
fn traps_are_no_trouble() {
    let crawl = Crawl::of(DemoOptions { pages: 40, traps: true, ..DemoOptions::default() });
    let (status, report) =
        crawl.run(&["--pages", "600", "--depth", "12", "--timeout", "3s", "--max-bytes", "300000"]);
    assert_eq!((status, &report["complete"]), (Some(3), &true.into()), "{report}");
    let (kept, pages) = (crawl.kept(), crawl.site.pages());
    let missing: Vec<_> = pages.difference(&kept).collect();
    let more: Vec<_> = kept.difference(&pages).filter(|url| !crawl.site.is_loose(url)).collect();
    assert_eq!((missing, more), (vec![], vec![]));
    for url in crawl.asked().keys() {
        assert!(!crawl.site.is_forbidden(url), "{url} is forbidden");
    }
    assert!(
        report["broken"]
            .as_array()
            .unwrap()
            .iter()
            .all(|broken| !broken["linked_from"].as_array().unwrap().is_empty())
    );
}

/// Returns the number of times that a process is killed; `CRAWLER_KILLS=100` runs the whole test.
fn kills() -> usize {
    env::var("CRAWLER_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(8)
}

#[cfg(unix)]
#[test]
fn killed_at_any_moment_nothing_is_lost_and_little_is_done_twice() {
    let options = DemoOptions { pages: 1500, delay: Duration::from_millis(2), ..DemoOptions::default() };
    let mut crawl = Crawl::of(options.clone());
    let mut random = fastrand::Rng::with_seed(24);
    let (mut killed, mut in_flight_at, mut ended_by_itself) = (0, 0, 0);
    // The pages that were in flight when a process was killed.
    let mut in_flight = BTreeSet::new();
    // A page that was being fetched when a process died for the third time is given up, which is correct. So
    // the test lets every third run reach its end, because otherwise a page would be given up.
    let mut deaths = 0;
    while killed < kills() || ended_by_itself == 0 {
        let before = crawl.site.requests().len();
        // With many threads, unwritten pages would accumulate if their number were not limited.
        let mut child = crawl.start(if killed % 2 == 0 { "8" } else { "64" }, &["--save", "pages"]);
        // The time before the kill is measured from the first request. There is no first request if the
        // previous run had finished all work before it was killed.
        while crawl.site.requests().len() == before && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        let moment = if killed < kills() && deaths + 1 < DEADLY {
            Duration::from_millis(random.u64(..400))
        } else {
            WATCHDOG
        };
        let begun = Instant::now();
        loop {
            match child.try_wait().unwrap() {
                Some(status) => break assert_eq!(status.code(), Some(0), "it was not killed"),
                None if begun.elapsed() >= moment => break child.kill().unwrap(),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
        let status = child.wait().unwrap();
        crawl.until_nobody_is_connected();
        let requests = crawl.site.requests();
        let committed = crawl.records();
        let is_done =
            |url: &str| committed.get(url).is_some_and(|record| record.progress != Progress::Waiting);
        if status.success() {
            ended_by_itself += 1;
            assert_eq!(crawl.kept(), crawl.site.pages());
            let robots = crawl.site.url("/robots.txt").to_string();
            let twice: Vec<_> =
                crawl.asked().into_iter().filter(|(url, times)| *times > 1 && *url != robots).collect();
            assert!(twice.iter().all(|(url, _)| in_flight.contains(url)), "{twice:?}");
            crawl.assert_that_files_are_whole();
            crawl = Crawl::of(options.clone());
            in_flight.clear();
            deaths = 0;
        } else {
            killed += 1;
            deaths += 1;
            let now: BTreeSet<_> = requests[before..]
                .iter()
                .map(|request| crawl.site.url(&request.path).to_string())
                .filter(|url| !is_done(url) && !url.ends_with("/robots.txt"))
                .collect();
            assert!(now.len() <= 64, "{} pages were in flight", now.len());
            in_flight_at += usize::from(!now.is_empty());
            in_flight.extend(now);
        }
    }
    eprintln!(
        "{killed} killed, {in_flight_at} of them with pages in flight; {ended_by_itself} came to their end"
    );
}
