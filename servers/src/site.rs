//! The content of the stages: a few endpoints for experiments, and files.
//!
//! The endpoints imitate the work of real handlers: some return at once, some compute, and some wait. All
//! stages answer the same requests, so two stages differ only in their execution policy.

use crate::files::Files;
use crate::hosts::Hosts;
use crate::http::{Body, Presence, Refusal, Request, Response, Status};
use crate::stats::{Stats, TEXT_TYPE};
use executor::CancelToken;
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest work that a client may ask for.
const LONGEST_WORK: Duration = Duration::from_mins(1);

const STOPPING: &str = "the server is stopping";

/// The interval at which a computation checks whether its client is still connected. A shorter computation
/// runs without a check.
const LOOK: Duration = Duration::from_millis(50);

/// A site: routes, and files for all other paths.
pub struct Site {
    routes: Vec<Route>,
    files: Option<Files>,
    hosts: Hosts,
    stats: Arc<Stats>,
    about: About,
}

/// What a site says about itself on its front page.
#[derive(Debug)]
struct About {
    name: String,
    what: String,
}

struct Route {
    path: &'static str,
    methods: &'static [&'static str],
    about: &'static str,
    /// True if the handler of the route computes or waits.
    is_slow: bool,
    handler: Handler,
}

type Handler = Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>;

impl Site {
    /// Makes a site that has only the statistics as endpoints, has no files, and answers requests for any
    /// host.
    pub fn empty() -> Site {
        let about = About { name: "Endpoints".to_owned(), what: String::new() };
        Site { routes: Vec::new(), files: None, hosts: Hosts::Any, stats: Arc::default(), about }
    }

    /// Makes a site that has all endpoints, serves `files` at every other path, and answers requests for
    /// any host.
    pub fn new(files: Option<Files>) -> Site {
        Site { files, ..Site::empty() }
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

    /// Adds `/panic`, whose handler panics, to show what a panic does to a thread of the stage.
    #[must_use]
    pub fn with_panic(self) -> Site {
        self.route("/panic", &["GET"], "panics: what becomes of its thread?", |_| {
            panic!("asked to, by a request")
        })
    }

    /// Answers requests for these hosts only, and all other requests with 421.
    #[must_use]
    pub fn answering_for(mut self, hosts: Hosts) -> Site {
        self.hosts = hosts;
        self
    }

    /// Answers `/stats` and `/metrics` with the given statistics; without these statistics, only the process
    /// is measured.
    #[must_use]
    pub fn with_stats(mut self, stats: &Arc<Stats>) -> Site {
        self.stats = Arc::clone(stats);
        self
    }

    /// Sets what the site says about itself on its front page: its `name`, and `what` kind of server it is.
    #[must_use]
    pub fn called(mut self, name: impl Into<String>, what: impl Into<String>) -> Site {
        self.about = About { name: name.into(), what: what.into() };
        self
    }

    /// Answers requests for `path` with `handler`, even if there is also a file at this path.
    ///
    /// `methods` lists the methods that the handler answers; `GET` implies `HEAD`. `about` describes the
    /// handler in the list of endpoints.
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

    /// Declares that the handler of the last route computes or waits, so that this handler [is
    /// slow](Site::is_slow).
    #[must_use]
    pub fn slow(mut self) -> Site {
        if let Some(route) = self.routes.last_mut() {
            route.is_slow = true;
        }
        self
    }

    /// Returns whether the request's handler was declared to compute or wait.
    ///
    /// An event loop hands requests for such handlers to other threads, and answers all other requests
    /// itself.
    pub fn is_slow(&self, request: &Request<'_>) -> bool {
        self.at(request.path).is_some_and(|route| route.is_slow)
    }

    /// Returns a refusal if the server can refuse the request after reading only its head. The site refuses a
    /// request for another host, and a request whose method the site does not answer.
    ///
    /// The server calls this function before it reads the body. So a client that waits for *100 Continue*
    /// need not send the body of a refused request.
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

    /// Does the work for a request whose body has been read, and returns the answer.
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
            ("/stats", _) => Response::json(&self.stats.json()),
            ("/metrics", _) => {
                Response::new(Status::Ok, TEXT_TYPE, Body::Bytes(self.stats.text().into_bytes().into()))
            }
            (_, Some(files)) => match files.respond(request) {
                response if request.path == "/" && response.status == Status::NotFound => self.list(request),
                response => response,
            },
            ("/", None) => self.list(request),
            _ => Response::error(Status::NotFound, "there is no such page; / lists what there is"),
        }
    }

    fn at(&self, path: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.path == path)
    }

    fn methods(&self, path: &str) -> &'static [&'static str] {
        match path {
            // The target `*` stands for the whole server: the answer lists every method that at least one
            // path answers.
            "*" => &["GET", "POST"],
            path => self.at(path).map_or(&["GET"], |route| route.methods),
        }
    }

    /// Makes a front page for a site that has none: the page describes the stage, lists the endpoints, and
    /// shows what to try.
    fn list(&self, request: &Request<'_>) -> Response {
        let (name, what) = (escape(&self.about.name), escape(&self.about.what));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{name}</title>\n<h1>{name}</h1>\n\
             <p>{what}</p>\n<h2>Endpoints</h2>\n<ul>\n\
             <li><a href=\"/stats\">/stats</a>: what it does now, as JSON</li>\n\
             <li><a href=\"/metrics\">/metrics</a>: the same, for Prometheus</li>\n"
        );
        for Route { path, about, .. } in &self.routes {
            let _ = writeln!(page, "<li><a href=\"{path}\">{path}</a>: {about}</li>");
        }
        page.push_str(match self.files {
            None => "</ul>\n<p>Start the server with <code>--root</code> to serve files.</p>\n",
            Some(_) => {
                "</ul>\n<p>Files are served, too; there is no <code>index.html</code> among them.</p>\n"
            }
        });
        page.push_str("<h2>Requests to send</h2>\n<pre>");
        let at = shown(request);
        for (path, what, command) in EXPERIMENTS {
            if self.at(path).is_some() {
                let _ = write!(page, "# {what}\n{}\n", escape(&command.replace("AT", at)));
            }
        }
        page.push_str("</pre>\n</html>\n");
        Response::html(Status::Ok, page)
    }
}

/// The shell commands with which a reader can try an endpoint. In these commands, AT stands for the
/// host and the port.
const EXPERIMENTS: [(&str, &str, &str); 6] = [
    ("/hello", "Is it there?", "curl -i http://AT/hello"),
    ("/block", "Who waits for whom?", "curl \"http://AT/block?ms=5000\" & curl http://AT/hello"),
    (
        "/block",
        "Three slow clients at once: how long does each take, and who serves them?",
        "for i in 1 2 3; do curl -sw \"%{time_total} s\\n\" \"http://AT/block?ms=2000\" & done; sleep 1; curl http://AT/stats; wait",
    ),
    ("/cpu", "Work for a processor:", "curl \"http://AT/cpu?ms=1000\""),
    (
        "/panic",
        "A handler that panics: is the server still there?",
        "curl -i http://AT/panic; curl http://AT/hello",
    ),
    (
        "/shutdown",
        "Stop it in the middle of an answer:",
        "curl \"http://AT/block?ms=3000\" & sleep 1; curl -X POST http://AT/shutdown; wait",
    ),
];

/// Returns the host of the request if it is safe in a shell command; a client can send any text as host.
fn shown<'r>(request: &Request<'r>) -> &'r str {
    let is_plain = |host: &&str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    };
    request.header("Host").filter(is_plain).unwrap_or("127.0.0.1:8080")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<_> = self.routes.iter().map(|route| route.path).collect();
        f.debug_struct("Site").field("routes", &paths).field("files", &self.files).finish_non_exhaustive()
    }
}

/// Returns the value of the `Allow` field: the methods of the path, and the methods that all paths answer.
fn allow(methods: &[&str]) -> String {
    methods.join(", ").replace("GET", "GET, HEAD") + ", OPTIONS"
}

fn echo(request: &Request<'_>) -> Response {
    let mut body = Vec::new();
    if body.try_reserve_exact(request.body.len()).is_err() {
        return Refusal::NoRoom.response(); // the system has less memory than the server may use
    }
    body.extend_from_slice(request.body);
    let body = Body::Bytes(Cow::Owned(body));
    Response::new(Status::Ok, "application/octet-stream", body)
}

/// Calls `how` with the duration that the request asks for; if the work ends early, the answer is 503.
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

/// The text must consist of digits: `parse` alone would also accept `+5`.
fn whole_number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Keeps a processor core busy for this time; ends earlier if the task is cancelled or the client leaves.
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

/// Blocks a thread, without using a processor core, for this time; ends earlier if the task is cancelled.
/// This work imitates a query to a database; the query continues even after the client has left.
fn block(_: &Request<'_>, duration: Duration) -> Result<(), &'static str> {
    CancelToken::current().sleep(duration).map_err(|_| STOPPING)
}
