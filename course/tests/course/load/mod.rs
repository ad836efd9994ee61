//! Tests `cargo course load` with servers of the tests, which count each request or misbehave on
//! demand.

mod failures;
mod measures;
mod rude;
#[cfg(unix)]
mod said;
#[cfg(unix)]
mod stages;

use crate::fixture::{Project, stderr, stdout};
use executor::{CancelToken, ExecutorExt, ThreadPoolExecutor};
use serde_json::Value;
use servers::http::{Response, Status};
use servers::{AccessLog, Limits, Listener, Server, Site};
use std::io::Read;
use std::net::SocketAddr;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time limit for a load in these tests. A correct load takes less than half of this time.
const DEADLINE: Duration = Duration::from_secs(30);

/// A pooled server that has more threads than the largest number of clients in these tests.
struct Serving {
    addr: SocketAddr,
    /// The number of requests for `/counted` that have arrived.
    count: Arc<AtomicU64>,
    stop: CancelToken,
    accepting: Option<JoinHandle<()>>,
}

impl Serving {
    fn start() -> Serving {
        Serving::with(Limits::default(), |_| {})
    }

    /// Calls `work` in each request for `/counted`; the argument of `work` is the number of earlier requests
    /// for that path.
    fn with(limits: Limits, work: impl Fn(u64) + Send + Sync + 'static) -> Serving {
        let listener = Listener::bind(([127, 0, 0, 1], 0).into()).unwrap();
        let (addr, stop, count) = (listener.local_addr(), CancelToken::new(), Arc::new(AtomicU64::new(0)));
        let counted = Arc::clone(&count);
        let answer = move |_: &servers::http::Request<'_>| {
            work(counted.fetch_add(1, Ordering::SeqCst));
            Response::text(Status::Ok, "counted")
        };
        let site = Site::new(None).route("/counted", &["GET"], "is counted", answer);
        // A few of these answers together are larger than the buffers between two sockets.
        let large = |_: &servers::http::Request<'_>| Response::text(Status::Ok, "large ".repeat(200_000));
        let site = site.route("/large", &["GET"], "has a body of more than a megabyte", large);
        let server = Arc::new(Server::new(site, limits, AccessLog::Quiet));
        let token = stop.clone();
        let accepting = thread::spawn(move || {
            let pool = ThreadPoolExecutor::fixed(64);
            for connection in listener.incoming_until(&token) {
                let server = Arc::clone(&server);
                pool.execute(move || server.serve(connection)).unwrap();
            }
        });
        Serving { addr, count, stop, accepting: Some(accepting) }
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    fn url(&self) -> String {
        format!("http://{}/counted", self.addr)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
        let ended = self.accepting.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}

fn short_limits() -> Limits {
    let short = Duration::from_millis(300);
    Limits {
        header_timeout: short,
        body_timeout: short,
        idle_timeout: short,
        write_timeout: short,
        ..Limits::default()
    }
}

fn load(url: &str, flags: &[&str]) -> Output {
    let arguments = [&["load", url], flags].concat();
    let project = Project::new();
    finished(started(&mut project.course(&arguments)))
}

fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of the process, and kills the process if it takes too long.
fn finished(mut child: Child) -> Output {
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let until = Instant::now() + DEADLINE;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > until {
            child.kill().and_then(|()| child.wait()).unwrap();
            panic!("it goes on for more than {DEADLINE:?}");
        }
        thread::sleep(Duration::from_millis(5)); // std has no timed wait for a process
    };
    Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut read = Vec::new();
        pipe.unwrap().read_to_end(&mut read).unwrap();
        read
    })
}

/// Returns the results of a load with only one run.
fn run(url: &str, flags: &[&str]) -> Value {
    let output = load(url, &[flags, &["--json"]].concat());
    let mut report: Value =
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    report["runs"][0].take()
}

fn number(run: &Value, pointer: &str) -> u64 {
    run.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number {pointer} in {run}"))
}
