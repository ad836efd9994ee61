//! A task that uses a socket: first as a closure, then as a type that can end its own read.
//!
//! ```sh
//! cargo run --example socket_using_task -- closure
//! ```
//! The other argument is `task`. The book's chapter "Blocking that nobody can interrupt" explains the example.

use executor::{CancelToken, CancellableTask, Cancelled, CancellingExecutor, ThreadPoolExecutor, prelude::*};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::{error::Error, time::Duration};

// ANCHOR: task
/// A closure that uses a socket, as the body of a task. Cancelling the task shuts the socket down.
struct SocketUsingTask<F>(TcpStream, F);

impl<R: Send + 'static, F: FnOnce(&TcpStream) -> R + Send + 'static> CancellableTask for SocketUsingTask<F> {
    type Output = R;

    fn run(self, token: &CancelToken) -> Result<R, Cancelled> {
        let result = (self.1)(&self.0);
        token.check().map(|()| result) // after the shutdown, the socket's answer is not a result
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        let socket = self.0.try_clone();
        move || drop(socket.and_then(|socket| socket.shutdown(Shutdown::Both)))
    }
}
// ANCHOR_END: task

fn ask(mut stream: &TcpStream) -> io::Result<String> {
    stream.write_all(b"?")?;
    io::read_to_string(stream)
}

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let mut peer = listener.accept()?.0;
    // ANCHOR: use
    let executor = CancellingExecutor::new(ThreadPoolExecutor::single());
    let answer = match std::env::args().nth(1).as_deref() {
        Some("closure") => executor.submit(move || ask(&stream))?,
        Some("task") => executor.submit_task(SocketUsingTask(stream, ask))?,
        _ => {
            eprintln!("say which: closure or task");
            std::process::exit(2);
        }
    };
    peer.read_exact(&mut [0])?; // the peer has the question, and says nothing
    println!("cancelled: {}", answer.cancel());
    println!("joined: {}", answer.join().map(drop).unwrap_err());
    executor.shutdown();
    println!("the pool's thread has ended: {}", executor.await_termination(Duration::from_secs(2)));
    // ANCHOR_END: use
    drop(peer); // a reader, if any, gets the end of the stream
    Ok(())
}
