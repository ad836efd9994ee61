//! A peer for `servers`: the crate `hyper`, on threads that each have their own event loop and listener. This
//! is the fastest usual way to run `hyper`.
//!
//! The server answers `/hello`, and answers `/echo` with the request's body. For any other path the
//! server opens the file below the given folder and reads it for each request.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::Context;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket};

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let workers: usize = args.next().context("how many workers?")?.parse()?;
    let root = Arc::new(PathBuf::from(args.next().context("which folder?")?));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let first = runtime.block_on(async { listen(([127, 0, 0, 1], 0).into()) })?;
    let addr = first.local_addr()?;
    for _ in 1..workers {
        let root = Arc::clone(&root);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(async { listen(addr) })?;
        thread::spawn(move || runtime.block_on(serve(listener, root)));
    }
    println!("listening on http://{addr}/");
    std::io::stdout().flush()?;
    runtime.block_on(serve(first, root))
}

fn listen(addr: SocketAddr) -> anyhow::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    #[cfg(unix)]
    socket.set_reuseport(true)?; // elsewhere only one worker is possible
    socket.bind(addr)?;
    Ok(socket.listen(4096)?)
}

async fn serve(listener: TcpListener, root: Arc<PathBuf>) -> anyhow::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let root = Arc::clone(&root);
        let service = service_fn(move |request| answer(request, Arc::clone(&root)));
        let connection =
            http1::Builder::new().pipeline_flush(true).serve_connection(TokioIo::new(stream), service);
        // When a client closes its connection, the server continues.
        tokio::spawn(async move { drop(connection.await) });
    }
}

async fn answer(request: Request<Incoming>, root: Arc<PathBuf>) -> hyper::Result<Response<Full<Bytes>>> {
    let body = match request.uri().path() {
        "/hello" => Bytes::from_static(b"Hello, world!"),
        "/echo" => request.into_body().collect().await?.to_bytes(),
        path => std::fs::read(root.join(&path[1..])).unwrap_or_default().into(),
    };
    Ok(Response::new(Full::new(body)))
}
