//! A peer for `servers`: the crate `may_minihttp`, whose coroutines run on the given number of threads.
//!
//! The server answers `/hello`. For any other path the server opens the file below the given folder and reads
//! it for each request. The server ignores most of a request: even if the request has `Connection: close`,
//! the server keeps the connection open.

use std::io::{self, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use anyhow::Context;
use may_minihttp::{HttpServer, HttpService, Request, Response};

/// The number of ports that the program tries.
const ATTEMPTS: u32 = 5;

#[derive(Clone)]
struct Files {
    root: PathBuf,
}

impl HttpService for Files {
    fn call(&mut self, request: Request<'_, '_, '_>, response: &mut Response<'_>) -> io::Result<()> {
        match request.path() {
            "/hello" => response.body("Hello, world!"),
            path => response.body_vec(std::fs::read(self.root.join(&path[1..]))?),
        }
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let workers: usize = args.next().context("how many workers?")?.parse()?;
    let root = PathBuf::from(args.next().context("which folder?")?);
    may::config().set_workers(workers);
    // The server does not report its port, so the program gives it a port that was free just before. In the
    // meantime, another program may take this port.
    let free = || TcpListener::bind("127.0.0.1:0")?.local_addr();
    let start = |_| {
        let addr = free()?;
        Ok((HttpServer(Files { root: root.clone() }).start(addr)?, addr))
    };
    let mut attempts = (0..ATTEMPTS).map(start);
    let started = attempts.find(|started: &io::Result<_>| started.is_ok());
    let (server, addr) = started.context("no port stays free")??;
    println!("listening on http://{addr}/");
    io::stdout().flush()?;
    server.join().map_err(|_| anyhow::anyhow!("the server panicked"))
}
