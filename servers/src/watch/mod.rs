//! Shows a stage from outside (`--watch`), with a separate listener and a separate thread.
//!
//! Some servers report on themselves through the threads that serve their clients. When all these
//! threads are busy, the report is needed most, but no thread is free to send it. So for `--watch`, a
//! second server runs beside the first. The two servers share only the process and the numbers, and the
//! second server runs until the process ends.
//!
//! One thread is enough because it runs an event loop: a client that sends nothing, or reads slowly, holds
//! up no thread. The limits of this server are small, and its handlers only read numbers.

use crate::access_log::AccessLog;
use crate::crowd::Crowd;
use crate::hosts::HostArgs;
use crate::http::{Body, Response, Status};
use crate::limits::Limits;
use crate::listener::Listener;
use crate::reactor::Reactor;
use crate::server::Server;
use crate::site::Site;
use crate::stats::{Board, Stats};
use anyhow::{Context, anyhow};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The content policy of the page: it loads nothing from other servers and runs only its own script, even
/// if a stranger has put a script into a request.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// How many clients may watch at a time. Watchers use up descriptors that the stage needs more urgently.
const MOST: usize = 256;

/// The files of the page.
const FILES: [(&str, &str, &str); 3] = [
    ("/", "text/html; charset=utf-8", include_str!("page.html")),
    ("/watch.js", "text/javascript; charset=utf-8", include_str!("watch.js")),
    ("/watch.css", "text/css; charset=utf-8", include_str!("watch.css")),
];

/// Answers requests at `addr` until the process ends. Returns the bound address, because the port
/// may be 0.
pub(crate) fn begin(
    addr: SocketAddr,
    hosts: &HostArgs,
    stats: &Arc<Stats>,
    board: &Arc<Board>,
) -> anyhow::Result<SocketAddr> {
    let listener = Listener::bind(addr).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "{addr} is taken by another program; choose another address with --watch, or port 0 for any free port"
        ),
        _ => anyhow!("cannot listen on {addr}; choose another address with --watch ({error})"),
    })?;
    let addr = listener.local_addr();
    let listener = listener.admitting(&Crowd::of_at_most(MOST));
    let site = site(stats, board).answering_for(hosts.on(addr.ip()));
    let server = Arc::new(Server::new(site, limits(), AccessLog::Quiet));
    let reactor = Reactor::new(listener, &server).context("cannot watch")?;
    let looking = move || _ = reactor.run();
    thread::Builder::new().name("watch".to_owned()).spawn(looking).context("cannot watch")?;
    Ok(addr)
}

fn site(stats: &Arc<Stats>, board: &Arc<Board>) -> Site {
    let (numbers, board) = (Arc::clone(stats), Arc::clone(board));
    let mut site =
        Site::empty().with_stats(stats).route("/stats", &["GET"], "what the stage does now", move |_| {
            let mut json = numbers.json();
            json["serving"] = board.json();
            Response::json(&json)
        });
    for (path, content_type, text) in FILES {
        site = site.route(path, &["GET"], "the page", move |_| {
            Response::new(Status::Ok, content_type, Body::Bytes(text.as_bytes().into()))
                .header("Content-Security-Policy", POLICY)
                .header("X-Content-Type-Options", "nosniff")
        });
    }
    site
}

/// Returns the limits for a client that sends one small request in a second and gets a small answer.
fn limits() -> Limits {
    let briefly = Duration::from_secs(2);
    Limits {
        max_head: 4096,
        max_request_line: 1024,
        max_body: 0,
        header_timeout: briefly,
        body_timeout: briefly,
        idle_timeout: Duration::from_secs(10),
        write_timeout: briefly,
        linger_timeout: briefly,
        ..Limits::default()
    }
}
