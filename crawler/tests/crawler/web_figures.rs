//! Measures the cost that a crawl by many processes has for the engine, and the gain in speed from more
//! processes. The command `bash .ci/redis --measure` prints tables. The variable `CRAWL` names another build
//! of the program, for a comparison.

use crate::child::{WATCHDOG, ended, report};
use crawler::web::demo::{Demo, DemoOptions};
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The number of pages of the site, unless `PAGES` sets another number.
const PAGES: usize = 4_000;

/// The number of threads of each process.
const THREADS: usize = 8;

/// An engine. A Redis server that ends when this value is dropped.
struct Engine {
    port: u16,
    server: Child,
    _folder: TempDir,
}

impl Engine {
    /// Starts an engine that writes its log to the disk according to `fsync`, or that has no log if `fsync`
    /// is `None`.
    fn start(fsync: Option<&str>) -> Engine {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", if fsync.is_some() { "yes" } else { "no" }]);
        command.args(["--appendfsync", fsync.unwrap_or("no"), "--dir"]).arg(folder.path());
        let server = command.stdout(Stdio::null()).spawn().expect("redis-server is installed");
        let engine = Engine { port, server, _folder: folder };
        let begun = Instant::now();
        while engine.ask(&["PING"]).is_none() {
            assert!(begun.elapsed() < WATCHDOG, "the engine does not answer");
            thread::sleep(Duration::from_millis(5));
        }
        engine
    }

    /// Returns the answer to a command, if the answer is a line or a text.
    fn ask(&self, words: &[&str]) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let parts = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
        stream.write_all(format!("*{}\r\n{}", words.len(), parts.collect::<String>()).as_bytes()).ok()?;
        let (mut stream, mut line) = (BufReader::new(stream), String::new());
        stream.read_line(&mut line).ok()?;
        let (kind, rest) = line.trim_end().split_at_checked(1)?;
        if kind != "$" {
            return Some(rest.to_owned());
        }
        let mut text = vec![0; rest.parse().ok()?];
        stream.read_exact(&mut text).ok()?;
        String::from_utf8(text).ok()
    }

    /// Returns the value after `name` in a section of the engine's `INFO` report.
    fn number(&self, section: &str, name: &str) -> f64 {
        let text = self.ask(&["INFO", section]).expect("the engine answers");
        let number = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
        number.split(',').next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Returns the number of all commands, including the commands in scripts.
    fn commands(&self) -> f64 {
        let text = self.ask(&["INFO", "commandstats"]).expect("the engine answers");
        let calls = text.lines().filter_map(|line| line.split_once("calls=")?.1.split(',').next());
        calls.map(|calls| calls.parse::<f64>().expect("a number")).sum()
    }

    /// Returns the memory in bytes for each entry of the matching keys.
    fn bytes_each(&self, keys: &str, count: &str) -> f64 {
        let script = format!(
            "local bytes, count = 0, 0 for _, key in ipairs(redis.call('KEYS', '{{figures}}:{keys}')) do \
             bytes = bytes + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) \
             count = count + redis.call('{count}', key) end \
             return tostring(count > 0 and bytes / count or 0)"
        );
        self.ask(&["EVAL", &script, "0"]).and_then(|bytes| bytes.parse().ok()).expect("a number")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Crawls a site with the given number of processes, and returns a row of the table. The memory of the keys
/// is measured in the middle of the crawl.
fn row(processes: usize, pages: usize, fsync: Option<&str>) -> String {
    let engine = Engine::start(fsync);
    let site = Demo::start(DemoOptions { pages, ..DemoOptions::default() }).unwrap();
    let program = env::var("CRAWL").unwrap_or_else(|_| env!("CARGO_BIN_EXE_crawl").to_owned());
    let (begun, folder) = (Instant::now(), tempfile::tempdir().unwrap());
    let children: Vec<_> = (0..processes)
        .map(|process| {
            let mut command = Command::new(&program);
            command.arg(site.start_url().as_str()).args(["--delay", "0", "--allow-private", "--json"]);
            command.args([
                "--threads",
                &THREADS.to_string(),
                "--per-site",
                &(THREADS * processes).to_string(),
            ]);
            command.args([
                "--crawl",
                "figures",
                "--frontier",
                &format!("redis://127.0.0.1:{}/0", engine.port),
            ]);
            command.arg("--state").arg(folder.path().join(process.to_string()));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    assert!(site.wait_until(WATCHDOG, |requests, _| requests.len() >= pages / 2));
    let memory = [("s:*", "SCARD"), ("q:*", "ZCARD"), ("done*", "XLEN")]
        .map(|(keys, count)| engine.bytes_each(keys, count));
    let over = site.wait_until(WATCHDOG, |requests, _| requests.len() > pages);
    assert!(over);
    let seconds = begun.elapsed().as_secs_f64();
    for child in children {
        let (status, report) = report(&ended(child));
        assert_eq!(status, Some(0), "{report}");
    }
    let each = |number: f64| number / pages as f64;
    let steps = engine.number("commandstats", "cmdstat_evalsha:calls=");
    let (of_input, of_output) =
        (engine.number("stats", "total_net_input_bytes:"), engine.number("stats", "total_net_output_bytes:"));
    let processor_time = engine.number("cpu", "used_cpu_user:") + engine.number("cpu", "used_cpu_sys:");
    format!(
        "| {processes} | {} | {:.0} | {:.2} | {:.1} | {:.0} + {:.0} | {:.0} | {:.0}, {:.0}, {:.0} |",
        fsync.unwrap_or("none"),
        pages as f64 / seconds,
        each(steps),
        each(engine.commands()),
        each(of_input),
        each(of_output),
        each(processor_time * 1e6),
        memory[0],
        memory[1],
        memory[2],
    )
}

#[test]
#[ignore = "it measures, and needs redis-server"]
fn figures() {
    let pages = env::var("PAGES").map_or(PAGES, |pages| pages.parse().expect("a number"));
    println!("{pages} pages, {THREADS} threads a process\n");
    println!(
        "| processes | log | pages/s | of a page: round trips | commands | bytes to and from the engine | its processor time, µs | bytes each: address seen, page that waits, record |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (processes, fsync) in [
        (1, None),
        (2, None),
        (4, None),
        (8, None),
        (1, Some("everysec")),
        (2, Some("everysec")),
        (1, Some("always")),
        (2, Some("always")),
    ] {
        println!("{}", row(processes, pages, fsync));
    }
}
