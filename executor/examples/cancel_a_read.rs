//! A thread waits in a read from a socket; when the task of this thread is cancelled, the read returns.
//!
//! ```sh
//! cargo run --example cancel_a_read
//! ```
//!
//! The book explains this example in the chapter "Time limits".

use executor::{
    CancelToken, CancellableTask, Cancelled, CancellingExecutor, JoinError, ThreadPoolExecutor, prelude::*,
};
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::time::Duration;

// ANCHOR: task
struct Ask(TcpStream);

impl CancellableTask for Ask {
    type Output = io::Result<String>;

    fn run(mut self, token: &CancelToken) -> Result<Self::Output, Cancelled> {
        let mut text = String::new();
        let asked = self.0.write_all(b"?");
        let read = asked.and_then(|()| self.0.read_to_string(&mut text)); // knows nothing of tokens
        println!("the read has returned: {read:?}");
        token.check()?; // did the stream end, or was the task cancelled?
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
    let (mut server, _) = listener.accept()?;

    // ANCHOR: use
    let executor = CancellingExecutor::new(ThreadPoolExecutor::single());
    let answer = executor.submit_task(Ask(stream))?;
    server.read_exact(&mut [0])?; // the server gets the question and says nothing
    match answer.join_timeout(Duration::from_millis(200)) {
        Err(JoinError::TimedOut(late)) => {
            println!("no answer, so the task is cancelled");
            late.cancel();
        }
        other => println!("{other:?}"),
    }
    executor.close(); // waits for the thread, which is free again
    // ANCHOR_END: use
    println!("closed");
    Ok(())
}
