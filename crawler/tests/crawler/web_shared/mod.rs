//! Tests of one crawl by many processes, on a real engine: whatever fails, each page is recorded only once.
//! The tests need the program `redis-server`, so they run only on request: `bash .ci/redis`.

mod engine; // a Redis server for one test
mod forwarder; // a forwarder between a process and its engine
mod site; // sites that count their requests
mod joining; // processes that may join
#[cfg(feature = "tls")]
mod tls; // engines that are trusted
mod sites; // requests of many processes to a site
mod workers; // failures of a worker
mod outages; // failures of an engine
mod failover; // a replica of the engine takes over
mod partition; // a network that loses all packets
mod politeness; // the number of requests to a site at the same moment
mod chance; // random failures at random moments

use crate::child::{WATCHDOG, crawl, ended, report};
use crawler::web::crawl::state::{Progress, Record, State};
use crawler::web::demo::{Demo, DemoOptions};
use engine::Engine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Child, Command, Output};
use std::time::Duration;
use tempfile::TempDir;

/// A lease that is long enough for a busy machine: the lease of a healthy worker must not expire.
const LEASE: [&str; 2] = ["--lease", "2s"];

/// Counts the records that the engine keeps for the files of all processes.
const KEPT: &str = "local count = 0 for _, key in ipairs(redis.call('KEYS', '{test}:done:*')) do \
                    count = count + redis.call('XLEN', key) end return count";

/// A site, an engine, and a folder for each process.
struct Shared {
    site: Demo,
    engine: Engine,
    folders: Vec<TempDir>,
}

impl Shared {
    fn of(pages: usize, delay: Duration, processes: usize) -> Shared {
        let site = Demo::start(DemoOptions { pages, delay, ..DemoOptions::default() }).unwrap();
        let folders = (0..processes).map(|_| tempfile::tempdir().unwrap()).collect();
        Shared { site, engine: Engine::start(), folders }
    }

    fn start(&self, process: usize, flags: &[&str]) -> Child {
        self.start_at(process, &self.engine.url(), flags)
    }

    /// Starts a process that connects to the engine at another address.
    fn start_at(&self, process: usize, engine: &str, flags: &[&str]) -> Child {
        let folder = self.folders[process].path();
        let mut command = crawl(folder, self.site.start_url().as_str(), &["--allow-private", "--json"]);
        command.args(["--frontier", engine, "--crawl", "test", "--per-site", "8", "--threads", "4"]);
        command.args(flags).spawn().unwrap()
    }

    fn until_asked(&self, times: usize) {
        assert!(self.site.wait_until(WATCHDOG, |requests, _| requests.len() >= times));
    }

    /// Checks that each page of the site is recorded exactly once, and that the engine has each page once.
    fn assert_whole(&self) {
        let records = records(&self.folders);
        let fetched: Vec<_> = records
            .iter()
            .filter(|(_, record)| record.progress == Progress::Fetched)
            .map(|(url, _)| url)
            .collect();
        assert_eq!(fetched, self.site.pages().iter().collect::<Vec<_>>());
        self.assert_recorded_once();
    }

    fn assert_recorded_once(&self) {
        let over = self.engine.say(&["HINCRBY", "{test}:about", "over", "0"]);
        assert_eq!(over, format!(":{}", self.site.pages().len()));
        assert_eq!(self.engine.say(&["EVAL", KEPT, "0"]), ":0", "records that the files have");
        assert_eq!(self.engine.say(&["ZCARD", "{test}:leases"]), ":0");
    }

    fn assert_fetched_once(&self) {
        assert_eq!(self.again(), 0, "pages were fetched again");
    }

    /// Returns the number of unnecessary requests for pages.
    fn again(&self) -> usize {
        let requests = self.site.requests();
        let rules = requests.iter().filter(|request| request.path == "/robots.txt").count();
        requests.len() - rules - self.site.pages().len()
    }
}

/// Returns all records of the given processes. A page that two processes have recorded makes the test fail.
fn records(folders: &[TempDir]) -> BTreeMap<String, Record> {
    let mut records = BTreeMap::new();
    for folder in folders {
        let Ok(state) = State::open(&folder.path().join("state")) else { continue };
        let each = |url: &str, record: Record| {
            assert!(records.insert(url.to_owned(), record).is_none(), "{url} was recorded twice");
            Ok(())
        };
        state.each(each).unwrap();
    }
    records
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Returns the number of outcomes that arrived after the end of their leases, according to the notes of a
/// report.
fn late(report: &Value) -> usize {
    let notes = report["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let late = notes.filter_map(|note| {
        note.strip_suffix(" outcomes came when their leases had run out: they do not count")
    });
    late.map(|count| count.parse::<usize>().unwrap()).sum()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_complete(output: &Output) -> Value {
    let (status, report) = report(output);
    assert_eq!((status, &report["complete"]), (Some(0), &true.into()), "{report} {}", said(output));
    report
}

/// Checks that all children complete the crawl, and returns the number of outcomes that arrived too late.
fn all_are_complete(children: Vec<Child>) -> usize {
    children.into_iter().map(|child| late(&is_complete(&ended(child)))).sum()
}
