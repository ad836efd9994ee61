//! A server that runs jobs for customers: urgent jobs run first, and the jobs of one customer run in their
//! order.
//!
//! ```sh
//! cargo run --example job_server
//! ```
//!
//! To send commands to the server, use `nc 127.0.0.1 7070`. The module `jobs` lists the commands.

mod jobs;

use executor::{
    CancelToken, CancellableStream, ThreadPoolExecutor, prelude::*, shutdown_hooks::ShutdownHooks,
};
use jobs::Jobs;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7070".to_owned());
    let (jobs, connections) = (Arc::new(Jobs::new(4, 100)?), ThreadPoolExecutor::cached());
    let shutdown = ShutdownHooks::builder().install()?;
    shutdown.add_stopper("connections", connections.stopper(), Duration::ZERO)?;
    shutdown.add_stopper("jobs", jobs.stopper(), Duration::from_secs(10))?; // ends first
    let listener = TcpListener::bind(address)?;
    println!("listening on {}", listener.local_addr()?);
    for connection in listener.incoming() {
        let (jobs, connection) = (Arc::clone(&jobs), connection?);
        connections.execute(move || serve(&jobs, connection).unwrap_or_else(|gone| eprintln!("{gone}")))?;
    }
    Ok(())
}

fn serve(jobs: &Jobs, connection: TcpStream) -> io::Result<()> {
    let mut answers = connection.try_clone()?;
    for line in BufReader::new(CancellableStream::new(connection, &CancelToken::current())).lines() {
        let answer = jobs.answer(&line?).unwrap_or_else(|error| format!("error: {error}"));
        writeln!(answers, "{answer}")?;
    }
    Ok(())
}
