//! What the stages serve: a few endpoints to experiment with, and files.
//!
//! The endpoints stand for the work that real handlers do: none, computing, waiting. Each stage answers the same
//! requests, so that what differs between two stages is the execution policy alone.

use crate::files::Files;
use crate::hosts::Hosts;
use crate::http::{Body, Presence, Refusal, Request, Response, Status};
use executor::{CancelToken, PoolStats};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::time::{Duration, Instant};

/// The longest piece of work that a client may ask for.
const LONGEST_WORK: Duration = Duration::from_mins(1);

const STOPPING: &str = "the server is stopping";

/// How often a computation looks whether its client is still there. Shorter work is done without a look.
const LOOK: Duration = Duration::from_millis(50);

/// Routes, and below them files.
pub struct Site {
    routes: Vec<Route>,
    files: Option<Files>,
    hosts: Hosts,
    stats: Box<dyn Fn() -> Value + Send + Sync>,
}

struct Route {
    path: &'static str,
    methods: &'static [&'static str],
    about: &'static str,
    /// Its handler computes or waits.
    is_slow: bool,
    handler: Handler,
}

type Handler = Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>;

impl Site {
    /// The endpoints, and what is in `files` at every other path, for requests to any host.
    pub fn new(files: Option<Files>) -> Site {
        let no_pool = || json!({ "pool": null, "note": "this stage has no thread pool, so there is no queue of its own to look at" });
        Site { routes: Vec::new(), files, hosts: Hosts::Any, stats: Box::new(no_pool) }
            .route("/hello", &["GET"], "answers at once", |_| Response::text(Status::Ok, "Hello, world!"))
            .route("/cpu", &["GET"], "/cpu?ms=100 computes for 100 milliseconds", |request| {
                work(request, spin)
            })
            .slow()
            .route("/block", &["GET"], "/block?ms=100 waits for 100 milliseconds", |request| {
                work(request, block)
            })
            .slow()
            .route("/echo", &["POST"], "answers with the body that was sent", echo)
    }

    /// Panics at `/panic`: for a stage, of which one wants to know what becomes of the thread.
    #[must_use]
    pub fn with_panic(self) -> Site {
        self.route("/panic", &["GET"], "panics: what becomes of its thread?", |_| {
            panic!("asked to, by a request")
        })
    }

    /// Answers only requests to these hosts, and others with 421.
    #[must_use]
    pub fn answering_for(mut self, hosts: Hosts) -> Site {
        self.hosts = hosts;
        self
    }

    /// Answers `/stats` with what `stats` says; the default says that there is no pool.
    #[must_use]
    pub fn with_stats(mut self, stats: impl Fn() -> Value + Send + Sync + 'static) -> Site {
        self.stats = Box::new(stats);
        self
    }

    /// Answers `path` with `handler`, before any file of that name.
    ///
    /// `methods` are those that are answered; `GET` implies `HEAD`. `about` is a line for the list of endpoints.
    #[must_use]
    pub fn route(
        mut self,
        path: &'static str,
        methods: &'static [&'static str],
        about: &'static str,
        handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Site {
        self.routes.push(Route { path, methods, about, is_slow: false, handler: Box::new(handler) });
        self
    }

    /// The last route's handler computes or waits: it [is slow](Site::is_slow).
    #[must_use]
    pub fn slow(mut self) -> Site {
        if let Some(route) = self.routes.last_mut() {
            route.is_slow = true;
        }
        self
    }

    /// Whether a request is for a handler that computes or waits, as far as the site was told.
    ///
    /// An event loop that answers by itself has others do that.
    pub fn is_slow(&self, request: &Request<'_>) -> bool {
        self.at(request.path).is_some_and(|route| route.is_slow)
    }

    /// The refusal of a request whose head alone decides that: it is for another host, or by a method that is not answered.
    ///
    /// Asked before the body is read, so that a client that waits for *100 Continue* need not send it.
    pub fn refusal(&self, request: &Request<'_>) -> Option<Response> {
        if !self.hosts.include(request) {
            let what =
                "this server does not answer for that host; its option --host names those that it does";
            return Some(Response::error(Status::MisdirectedRequest, what));
        }
        let methods = self.methods(request.path);
        let wanted = if request.method == "HEAD" { "GET" } else { request.method };
        if wanted == "OPTIONS" || methods.contains(&wanted) {
            return None;
        }
        let allow = allow(methods);
        let what = format!("{} answers {allow}", request.path);
        Some(Response::error(Status::MethodNotAllowed, &what).header("Allow", allow))
    }

    /// The answer to a request whose body has been read. Runs the work that the request asks for.
    pub fn respond(&self, request: &Request<'_>) -> Response {
        if let Some(refusal) = self.refusal(request) {
            return refusal;
        }
        if request.method == "OPTIONS" {
            return Response::no_content().header("Allow", allow(self.methods(request.path)));
        }
        if let Some(route) = self.at(request.path) {
            return (route.handler)(request);
        }
        match (request.path, &self.files) {
            ("/stats", _) => Response::json(&(self.stats)()),
            (_, Some(files)) => match files.respond(request) {
                response if request.path == "/" && response.status == Status::NotFound => self.list(),
                response => response,
            },
            ("/", None) => self.list(),
            _ => Response::error(Status::NotFound, "there is no such page; / lists what there is"),
        }
    }

    fn at(&self, path: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.path == path)
    }

    fn methods(&self, path: &str) -> &'static [&'static str] {
        match path {
            // The server as a whole: what some path or other answers.
            "*" => &["GET", "POST"],
            path => self.at(path).map_or(&["GET"], |route| route.methods),
        }
    }

    /// A page that lists the endpoints, for a site that has no page of its own.
    fn list(&self) -> Response {
        let mut page = String::from(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Endpoints</title>\n\
             <h1>Endpoints</h1>\n<ul>\n<li><a href=\"/stats\">/stats</a>: the thread pool's statistics</li>\n",
        );
        for Route { path, about, .. } in &self.routes {
            let _ = writeln!(page, "<li><a href=\"{path}\">{path}</a>: {about}</li>");
        }
        page.push_str(match self.files {
            None => "</ul>\n<p>Start the server with <code>--root</code> to serve files.</p>\n</html>\n",
            Some(_) => "</ul>\n<p>Files are served, too; there is no <code>index.html</code> among them.</p>\n</html>\n",
        });
        Response::html(Status::Ok, page)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<_> = self.routes.iter().map(|route| route.path).collect();
        f.debug_struct("Site").field("routes", &paths).field("files", &self.files).finish_non_exhaustive()
    }
}

/// A pool's statistics as `/stats` answers them.
pub fn pool_stats(stats: &PoolStats) -> Value {
    json!({ "pool": {
        "state": stats.state.to_string(),
        "core_threads": stats.core_threads,
        "threads": stats.threads,
        "peak_threads": stats.peak_threads,
        "active": stats.active,
        "queued": stats.queued,
        "completed": stats.completed,
        "panicked": stats.panicked,
    } })
}

/// The value of the `Allow` field: these methods, and those that any path has.
fn allow(methods: &[&str]) -> String {
    methods.join(", ").replace("GET", "GET, HEAD") + ", OPTIONS"
}

fn echo(request: &Request<'_>) -> Response {
    let mut body = Vec::new();
    if body.try_reserve_exact(request.body.len()).is_err() {
        return Refusal::NoRoom.response(); // the system gives less than the server may take
    }
    body.extend_from_slice(request.body);
    let body = Body::Bytes(Cow::Owned(body));
    Response::new(Status::Ok, "application/octet-stream", body)
}

/// Does `how` for as many milliseconds as the request says, unless something makes an end of it.
fn work(request: &Request<'_>, how: fn(&Request<'_>, Duration) -> Result<(), &'static str>) -> Response {
    let wanted = request.query_value("ms").and_then(whole_number).map(Duration::from_millis);
    match wanted {
        Some(duration) if duration <= LONGEST_WORK => match how(request, duration) {
            Ok(()) => Response::text(Status::Ok, format!("{} ms\n", duration.as_millis())),
            Err(why) => Response::error(Status::ServiceUnavailable, why),
        },
        _ => {
            let (path, most) = (request.path, LONGEST_WORK.as_millis());
            let what = format!("{path} takes ms, a whole number from 0 to {most}, as in {path}?ms=100");
            Response::error(Status::BadRequest, &what)
        }
    }
}

/// Digits alone: `parse` would also take `+5`.
fn whole_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Keeps a core busy, unless told to stop before the time is over, or left by its client.
fn spin(request: &Request<'_>, duration: Duration) -> Result<(), &'static str> {
    let token = CancelToken::current();
    let began = Instant::now();
    let mut next_look = LOOK;
    loop {
        let elapsed = began.elapsed();
        if elapsed >= duration {
            return Ok(());
        }
        if token.is_cancelled() {
            return Err(STOPPING);
        }
        if elapsed >= next_look {
            if request.client.is_some_and(Presence::has_left) {
                return Err("given up: the client ended its side of the connection");
            }
            next_look = elapsed + LOOK;
        }
        std::hint::spin_loop();
    }
}

/// Keeps a thread, but no core, unless told to stop before the time is over. It stands for a question to a database, say,
/// which goes on when its asker has left.
fn block(_: &Request<'_>, duration: Duration) -> Result<(), &'static str> {
    CancelToken::current().sleep(duration).map_err(|_| STOPPING)
}
