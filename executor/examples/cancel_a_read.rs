//! A thread that is blocked in a read from a socket comes back when its task is cancelled.
//!
//! ```sh
//! cargo run -p executor --example cancel_a_read
//! ```
//!
//! The book's chapter: Time limits.

use executor::{
    CancelToken, CancellableTask, Cancelled, CancellingExecutor, JoinTimeoutError, ThreadPoolExecutor,
    prelude::*,
};
use std::error::Error;
use std::io::{self, Read};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::time::Duration;

// ANCHOR: task
struct ReadAll(TcpStream);

impl CancellableTask for ReadAll {
    type Output = io::Result<String>;

    fn run(mut self, token: &CancelToken) -> Result<Self::Output, Cancelled> {
        let mut text = String::new();
        let read = self.0.read_to_string(&mut text); // knows nothing of tokens
        println!("the read has returned: {read:?}");
        token.check()?; // the end of the stream, or of our patience?
        Ok(read.map(|_| text))
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        let stream = self.0.try_clone();
        move || drop(stream.and_then(|stream| stream.shutdown(Shutdown::Both)))
    }
}
// ANCHOR_END: task

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let _silent = listener.accept()?; // a server that accepts and then says nothing

    // ANCHOR: use
    let executor = CancellingExecutor::new(ThreadPoolExecutor::single());
    let answer = executor.submit_task(ReadAll(stream))?;
    match answer.join_timeout(Duration::from_millis(200)) {
        Err(JoinTimeoutError::TimedOut(late)) => println!("no answer; cancelled: {}", late.cancel()),
        other => println!("{other:?}"),
    }
    executor.close(); // waits for the thread, which is free again
    // ANCHOR_END: use
    println!("closed");
    Ok(())
}
