//! One crawl by many processes, on a real engine: whatever happens to them and to it, each page is recorded once. They need the program
//! `redis-server`, so they run where they are asked for: `bash .ci/redis`.

use crate::child::{WATCHDOG, crawl, ended, report};
use crawler::web::demo::{Demo, DemoOptions};
use crawler::web::shared::print;
use crawler::web::state::{Progress, Record, State};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Long enough for a machine that is busy: no lease may run out whose worker is well.
const LEASE: [&str; 2] = ["--lease", "2s"];

/// An engine with an append-only file. It ends with this.
struct Engine {
    folder: TempDir,
    port: u16,
    server: Child,
}

impl Engine {
    fn start() -> Engine {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Engine::server(&folder, port);
        Engine { folder, port, server }
    }

    fn server(folder: &TempDir, port: u16) -> Child {
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "yes",
        ]);
        command.args(["--appendfsync", "always", "--dir"]).arg(folder.path()).stdout(Stdio::null());
        let server = command.spawn().expect("redis-server is installed");
        let begun = Instant::now();
        while say(port, &["PING"]).as_deref() != Some("+PONG") {
            assert!(begun.elapsed() < WATCHDOG, "the engine does not answer");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }

    fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    fn restart(&mut self) {
        self.server = Engine::server(&self.folder, self.port);
    }

    /// The first line of the answer to a command.
    fn say(&self, words: &[&str]) -> String {
        say(self.port, words).expect("the engine answers")
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn say(port: u16, words: &[&str]) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let parts = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    stream.write_all(format!("*{}\r\n{}", words.len(), parts.collect::<String>()).as_bytes()).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
}

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
        assert_eq!(self.engine.say(&["XLEN", "{test}:done"]), format!(":{}", self.site.pages().len()));
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

#[test]
#[ignore = "needs redis-server"]
fn four_processes_share_a_site() {
    let shared = Shared::of(300, Duration::from_millis(5), 4);
    let children: Vec<_> = (0..4).map(|process| shared.start(process, &[])).collect();
    all_are_complete(children);
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
    assert!(shared.site.requests().iter().filter(|request| request.path == "/robots.txt").count() == 1);
}

#[test]
#[ignore = "needs redis-server"]
fn a_site_has_its_delay_from_all_of_them_together() {
    let shared = Shared::of(12, Duration::ZERO, 3);
    let flags = ["--delay", "50ms"];
    let children: Vec<_> = (0..3)
        .map(|process| {
            let url = shared.engine.url();
            let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
            command.args([shared.site.start_url().as_str(), "--state", "state", "--allow-private", "--json"]);
            command.args(["--frontier", &url, "--crawl", "test"]).args(flags);
            command.current_dir(shared.folders[process].path()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    all_are_complete(children);
    shared.assert_whole();
    let requests = shared.site.requests();
    for pair in requests.windows(2) {
        let pause = pair[1].began.abs_diff(pair[0].began);
        assert!(
            pause >= Duration::from_millis(49),
            "{pause:?} between {} and {}",
            pair[0].path,
            pair[1].path
        );
    }
}

#[test]
#[ignore = "needs redis-server"]
fn what_sites_do_to_one_process_they_do_to_three() {
    let mut shared = Shared::of(40, Duration::ZERO, 3);
    shared.site = Demo::start(DemoOptions { pages: 40, traps: true, ..DemoOptions::default() }).unwrap();
    let flags = ["--pages", "600", "--depth", "12", "--timeout", "3s", "--max-bytes", "300000"];
    let children: Vec<_> = (0..3).map(|process| shared.start(process, &flags)).collect();
    for child in children {
        let (status, report) = report(&ended(child));
        assert!(matches!(status, Some(0 | 3)), "{report}");
        assert_eq!(report["complete"], true, "{report}");
    }
    let is_kept = |record: &Record| {
        record.progress == Progress::Fetched && record.status == Some(200) && record.copy_of.is_none()
    };
    let records = shared.records();
    let kept: BTreeSet<_> =
        records.iter().filter(|(_, record)| is_kept(record)).map(|(url, _)| url.clone()).collect();
    let pages = shared.site.pages();
    let missing: Vec<_> = pages.difference(&kept).collect();
    let more: Vec<_> = kept.difference(&pages).filter(|url| !shared.site.is_loose(url)).collect();
    assert_eq!((missing, more), (vec![], vec![]));
    assert_eq!(shared.engine.say(&["XLEN", "{test}:done"]), format!(":{}", records.len()));
    for request in shared.site.requests() {
        let url = shared.site.url(&request.path);
        assert!(!shared.site.is_forbidden(url.as_str()), "{url} is forbidden");
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

#[test]
#[ignore = "needs redis-server"]
fn a_site_that_asks_for_a_rest_has_it_from_the_next_run_too() {
    let (engine, folder, (site, count)) = (Engine::start(), tempfile::tempdir().unwrap(), odd_site());
    let (url, start) = (engine.url(), format!("http://127.0.0.1:{site}/busy"));
    let run = || {
        let mut command = crawl(folder.path(), &start, &["--allow-private", "--json", "--patience", "1m"]);
        report(&ended(command.args(["--frontier", &url, "--crawl", "test"]).spawn().unwrap()))
    };
    let (status, report) = run();
    assert_eq!((status, &report["waiting"]), (Some(4), &1.into()), "{report}");
    assert!(report["notes"][0].as_str().unwrap().contains("it asks for a rest of 3600 s"), "{report}");
    let before = count.load(Ordering::Relaxed);
    assert_eq!(run().0, Some(4));
    assert_eq!(count.load(Ordering::Relaxed), before);
}

#[test]
#[ignore = "needs redis-server"]
fn a_page_whose_lease_runs_out_three_times_is_a_dead_letter() {
    let (engine, folder, (site, _)) = (Engine::start(), tempfile::tempdir().unwrap(), odd_site());
    let url = engine.url();
    let start = format!("http://127.0.0.1:{site}/");
    let mut command = crawl(folder.path(), &start, &["--allow-private", "--json", "--per-site", "8"]);
    command.args(["--frontier", &url, "--crawl", "test", "--lease", "1s", "--timeout", "5s"]);
    let (status, report) = report(&ended(command.spawn().unwrap()));
    assert_eq!(
        (status, &report["complete"], &report["failed"]),
        (Some(3), &true.into(), &1.into()),
        "{report}"
    );
    assert!(
        report["broken"][0]["why"].as_str().unwrap().starts_with("its lease ran out 3 times"),
        "{report}"
    );
    let late = "outcomes came when their leases had run out: they do not count";
    assert!(report["notes"][0].as_str().unwrap().ends_with(late), "{report}");
    let status = print(&url, "test").unwrap();
    assert!(
        status.contains(&format!("1 dead letters\n  {start}bad (its lease ran out 3 times)\n")),
        "{status}"
    );
}

#[test]
#[ignore = "needs redis-server"]
fn what_a_killed_process_had_is_fetched_by_another() {
    let shared = Shared::of(200, Duration::from_millis(10), 2);
    let flags = LEASE;
    let mut victim = shared.start(0, &flags);
    shared.until_asked(60);
    let other = shared.start(1, &flags);
    shared.until_asked(100);
    victim.kill().unwrap();
    victim.wait().unwrap();
    is_complete(&ended(other));
    // The engine may have accepted what the victim had not written when it died. It knows that.
    is_complete(&ended(shared.start(0, &flags)));
    shared.assert_whole();
    assert!(shared.again() <= 4, "{} pages more than it had leases", shared.again());
}

#[test]
#[ignore = "needs redis-server"]
fn told_to_stop_a_process_gives_back_and_another_goes_on_at_once() {
    let shared = Shared::of(200, Duration::from_millis(10), 2);
    let first = shared.start(0, &["--lease", "60m"]);
    shared.until_asked(60);
    signal(&first, "-INT");
    assert_eq!(report(&ended(first)).0, Some(130));
    assert_eq!(shared.engine.say(&["ZCARD", "{test}:leases"]), ":0");
    is_complete(&ended(shared.start(1, &["--lease", "60m"])));
    shared.assert_whole();
}

#[test]
#[ignore = "needs redis-server"]
fn a_worker_that_comes_back_after_its_lease_changes_nothing() {
    let shared = Shared::of(200, Duration::from_millis(10), 2);
    let flags = LEASE;
    let late = shared.start(0, &flags);
    shared.until_asked(40);
    signal(&late, "-STOP");
    is_complete(&ended(shared.start(1, &flags)));
    signal(&late, "-CONT");
    is_complete(&ended(late));
    shared.assert_whole();
    assert!(shared.again() <= 4, "{} pages more than it had leases", shared.again());
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_is_killed_and_comes_back_has_lost_nothing() {
    let mut shared = Shared::of(300, Duration::from_millis(5), 2);
    let children: Vec<_> = (0..2).map(|process| shared.start(process, &[])).collect();
    for times in [50, 150] {
        shared.until_asked(times);
        shared.engine.kill();
        thread::sleep(Duration::from_millis(200)); // away for a while: nothing is waited for
        shared.engine.restart();
    }
    let outputs: Vec<_> = children.into_iter().map(ended).collect();
    for output in &outputs {
        is_complete(output);
    }
    assert!(outputs.iter().any(|output| said(output).contains("it is tried again, and nothing is lost")));
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
}

#[test]
#[ignore = "needs redis-server"]
fn a_full_engine_is_waited_for() {
    let shared = Shared::of(200, Duration::from_millis(5), 1);
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "1"]), "+OK");
    thread::sleep(Duration::from_millis(300)); // full for a while
    assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "0"]), "+OK");
    let output = ended(child);
    is_complete(&output);
    assert!(said(&output).contains("is full"), "{}", said(&output));
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_stays_away_ends_the_run_with_a_sentence() {
    let mut shared = Shared::of(300, Duration::from_millis(5), 1);
    let flags = ["--patience", "1s", "--lease", "1s"];
    let child = shared.start(0, &flags);
    shared.until_asked(50);
    shared.engine.kill();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("the same command goes on from here"), "{}", said(&output));
    shared.engine.restart();
    is_complete(&ended(shared.start(0, &flags)));
    shared.assert_whole();
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_without_its_data_is_not_the_end_of_the_crawl() {
    let shared = Shared::of(2000, Duration::from_millis(5), 1);
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    assert_eq!(shared.engine.say(&["FLUSHALL"]), "+OK");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("the crawl is no longer in the engine"), "{}", said(&output));
}

/// What happens to three processes and their engine, at random moments, comes to the same as if nothing had happened. `SHARED_SEED`
/// repeats a round.
#[test]
#[ignore = "needs redis-server"]
fn whatever_happens_each_page_is_recorded_once() {
    let seed = env::var("SHARED_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    println!("SHARED_SEED={seed}");
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut shared = Shared::of(400, Duration::from_millis(10), 3);
    let flags = LEASE;
    let mut children: Vec<_> = (0..3).map(|process| shared.start(process, &flags)).collect();
    let mut losses = 0;
    for round in 1..=12 {
        shared.until_asked(round * 20);
        thread::sleep(Duration::from_millis(chance.u64(..50)));
        let process = chance.usize(..3);
        // Two leases of a page may be lost: a third one would make it a dead letter.
        let what = if losses < 2 { chance.usize(..5) } else { chance.usize(2..5) };
        losses += usize::from(what < 2);
        let again = match what {
            0 => {
                children[process].kill().unwrap();
                children[process].wait().unwrap();
                true
            }
            1 => {
                signal(&children[process], "-STOP");
                thread::sleep(Duration::from_millis(chance.u64(..3000))); // beyond its lease, or not
                signal(&children[process], "-CONT");
                false
            }
            2 => {
                signal(&children[process], "-INT");
                children[process].wait().unwrap();
                true
            }
            3 => {
                shared.engine.kill();
                thread::sleep(Duration::from_millis(chance.u64(..300)));
                shared.engine.restart();
                false
            }
            _ => {
                assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "1"]), "+OK");
                thread::sleep(Duration::from_millis(chance.u64(..300)));
                assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "0"]), "+OK");
                false
            }
        };
        if again {
            children[process] = shared.start(process, &flags);
        }
    }
    all_are_complete(children);
    all_are_complete((0..3).map(|process| shared.start(process, &flags)).collect());
    shared.assert_whole();
}

/// Passes on what a client and an engine say to each other. Every so many answers one is lost, and the connection with it.
fn forgetful(engine: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let (mut client, mut server) =
                (client.unwrap(), TcpStream::connect(("127.0.0.1", engine)).unwrap());
            let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Both)));
            let mut answer = [0; 1 << 12];
            // The first connection is left alone until the crawl has been joined.
            for _ in 0..if number == 0 { 30 } else { 12 } {
                match server.read(&mut answer) {
                    Ok(length @ 1..) if client.write_all(&answer[..length]).is_ok() => (),
                    _ => break,
                }
            }
            let _ = server.read(&mut answer);
            let _ = client.shutdown(Shutdown::Both);
        }
    });
    port
}

#[test]
#[ignore = "needs redis-server"]
fn an_answer_that_is_lost_is_given_again() {
    let shared = Shared::of(200, Duration::ZERO, 1);
    let port = forgetful(shared.engine.port);
    let mut command = crawl(shared.folders[0].path(), shared.site.start_url().as_str(), &["--allow-private"]);
    command.args(["--json", "--crawl", "test", "--per-site", "8", "--threads", "4", "--frontier"]);
    let output = ended(command.arg(format!("redis://127.0.0.1:{port}/0")).spawn().unwrap());
    is_complete(&output);
    assert!(said(&output).matches("answers again").count() > 5, "{}", said(&output));
    shared.assert_whole();
    assert_eq!(shared.again(), 0);
}

#[test]
#[ignore = "needs redis-server"]
fn who_cannot_join_is_told_why() {
    let shared = Shared::of(5, Duration::ZERO, 3);
    is_complete(&ended(shared.start(0, &[])));
    let with_password = shared.engine.url().replace("//", "//:wrong@");
    for (process, flags, sentence) in [
        (1, &["--depth", "3"][..], "--depth 20 and not 3"),
        (0, &["--crawl", "other"], "has pages of another crawl"),
        (2, &["--frontier", "redis://127.0.0.1:1/0", "--patience", "300ms"], "cannot be reached"),
        (2, &["--frontier", "http://127.0.0.1/"], "--frontier"),
        (2, &["--frontier", &with_password], "is the password in --frontier right?"),
    ] {
        let folder = shared.folders[process].path();
        let mut command = crawl(folder, shared.site.start_url().as_str(), &["--allow-private"]);
        let all =
            ["--frontier", &shared.engine.url(), "--crawl", "test", "--per-site", "8", "--threads", "4"];
        let mut line: Vec<&str> = all.to_vec();
        if let Some(at) = line.iter().position(|word| *word == flags[0]) {
            line[at + 1] = flags[1];
            line.extend(&flags[2..]);
        } else {
            line.extend(flags);
        }
        let output = ended(command.args(line).spawn().unwrap());
        assert_eq!(output.status.code(), Some(1), "{flags:?}");
        assert!(said(&output).contains(sentence), "{flags:?}: {}", said(&output));
    }
    let mut status = Command::new(env!("CARGO_BIN_EXE_crawl"));
    status.args(["status", "--frontier", &shared.engine.url(), "--crawl", "test"]);
    let text = String::from_utf8(status.output().unwrap().stdout).unwrap();
    assert!(text.starts_with("test: 5 pages over, 0 to do, 0 left to another run; 5 seen\n"), "{text}");
}
