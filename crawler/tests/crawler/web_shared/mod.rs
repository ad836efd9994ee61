//! One crawl by many processes, on a real engine: whatever happens to them and to it, each page is recorded once. They need the program
//! `redis-server`, so they run where they are asked for: `bash .ci/redis`.

mod engine; // a Redis of a test's own
mod joining; // who may join
mod sites; // what sites have from many processes
mod workers; // the bad days of a worker
mod outages; // the bad days of an engine
mod chance; // anything, at random moments

use crate::child::{WATCHDOG, crawl, ended, report};
use crawler::web::demo::{Demo, DemoOptions};
use crawler::web::state::{Progress, Record, State};
use engine::Engine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Long enough for a machine that is busy: no lease may run out whose worker is well.
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
        let folder = self.folders[process].path();
        let url = self.engine.url();
        let mut command = crawl(folder, self.site.start_url().as_str(), &["--allow-private", "--json"]);
        command.args(["--frontier", &url, "--crawl", "test", "--per-site", "8", "--threads", "4"]);
        command.args(flags).spawn().unwrap()
    }

    fn until_asked(&self, times: usize) {
        assert!(self.site.wait_until(WATCHDOG, |requests, _| requests.len() >= times));
    }

    /// What the processes have recorded, together. A page of two of them fails the test.
    fn records(&self) -> BTreeMap<String, Record> {
        let mut records = BTreeMap::new();
        for folder in &self.folders {
            let Ok(state) = State::open(&folder.path().join("state")) else { continue };
            let each = |url: &str, record: Record| {
                assert!(records.insert(url.to_owned(), record).is_none(), "{url} was recorded twice");
                Ok(())
            };
            state.each(each).unwrap();
        }
        records
    }

    /// All pages of the site are recorded, each once, and the engine has them once.
    fn assert_whole(&self) {
        let records = self.records();
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

    /// How often pages were asked for once more than needed.
    fn again(&self) -> usize {
        let requests = self.site.requests();
        let rules = requests.iter().filter(|request| request.path == "/robots.txt").count();
        requests.len() - rules - self.site.pages().len()
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn is_complete(output: &Output) -> Value {
    let (status, report) = report(output);
    assert_eq!((status, &report["complete"]), (Some(0), &true.into()), "{report} {}", said(output));
    report
}

fn all_are_complete(children: Vec<Child>) {
    for child in children {
        is_complete(&ended(child));
    }
}

/// A site whose page `/bad` never has an answer, and whose page `/busy` asks for a rest of an hour. Each request is counted.
fn odd_site() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let requests = Arc::clone(&count);
    thread::spawn(move || {
        for client in listener.incoming() {
            requests.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                let (mut client, mut line) = (client.unwrap(), String::new());
                BufReader::new(&client).read_line(&mut line).unwrap();
                let (status, body) = match line.split(' ').nth(1) {
                    Some("/") => ("200 OK", "<a href=/bad>bad</a>"),
                    Some("/bad") => return drop(client.read_to_end(&mut Vec::new())),
                    Some("/busy") => ("503 Busy\r\nRetry-After: 3600", ""),
                    _ => ("404 Not Found", ""),
                };
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}");
                client.write_all(format!("{head}\r\nConnection: close\r\n\r\n{body}").as_bytes()).unwrap();
            });
        }
    });
    (port, count)
}
