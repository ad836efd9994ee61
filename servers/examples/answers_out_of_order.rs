//! One client sends four requests in a row. An event loop passes these requests to a pool, and then to
//! stripes of that pool.
//!
//! ```sh
//! cargo run --example answers_out_of_order
//! ```
//!
//! The chapter "The event loop" of the book explains this program.

use executor::{CancelToken, ExecutorExt, StripedExecutor, ThreadPoolExecutor};
use servers::reactor::Job;
use servers::{AccessLog, Limits, Listener, Reactor, Server, Site};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::thread;

// ANCHOR: requests
const WANTED: [&str; 4] = ["/block?ms=400", "/block?ms=200", "/block?ms=0", "/block?ms=300"];
// ANCHOR_END: requests

fn main() -> anyhow::Result<()> {
    println!("in the order of the requests    {WANTED:?}");
    let pool = Arc::new(ThreadPoolExecutor::fixed(4));
    // ANCHOR: two_ways
    let on_the_pool = Arc::clone(&pool);
    let answers = answers_of(move |job: Job| {
        let _ = on_the_pool.execute(move || job.run());
    })?;
    println!("handed over to the pool         {answers:?}");

    let stripes = StripedExecutor::over(pool);
    let answers = answers_of(move |job: Job| {
        let _ = stripes.execute_in(job.connection(), move || job.run());
    })?;
    println!("handed over to the stripes      {answers:?}");
    // ANCHOR_END: two_ways
    Ok(())
}

/// Sends all requests at once to an event loop; returns the bodies of the answers in the order of their
/// arrival.
fn answers_of(give: impl Fn(Job) + Send + 'static) -> anyhow::Result<Vec<String>> {
    let stop = CancelToken::new();
    let server = Server::new(Site::new(None), Limits::default(), AccessLog::Quiet).until(&stop);
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let addr = listener.local_addr();
    let reactor = Reactor::new(listener, &Arc::new(server))?.handing_over(|_| true, give);
    let running = thread::spawn(move || reactor.run());

    let mut client = TcpStream::connect(addr)?;
    let requests = WANTED.map(|path| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    client.write_all(requests.concat().as_bytes())?;
    let mut lines = BufReader::new(client).lines();
    let mut answers = Vec::new();
    while answers.len() < WANTED.len() {
        let _head =
            lines.by_ref().take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).count();
        answers.push(lines.next().expect("there is a body")?);
    }
    stop.cancel();
    running.join().expect("the loop does not panic");
    Ok(answers)
}
