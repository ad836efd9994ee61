//! A thread with a method `interrupt`, which ends the read in which the thread is blocked.

use crate::{connect, telegram};
use executor::{CancelToken, Cancelled};
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

// ANCHOR: reader_thread
/// A thread that passes on the incoming telegrams until it is interrupted or the connection ends.
pub struct ReaderThread {
    token: CancelToken,
    thread: JoinHandle<Result<(), Cancelled>>,
}

impl ReaderThread {
    pub fn start(stream: TcpStream, telegrams: Sender<String>) -> io::Result<Self> {
        let token = CancelToken::new();
        let own = token.clone();
        let same_connection = stream.try_clone()?;
        let thread = thread::spawn(move || {
            let _guard = own.on_cancel(move || drop(same_connection.shutdown(Shutdown::Both)));
            while let Ok(telegram) = telegram(&stream) {
                let _ = telegrams.send(telegram);
            }
            own.check() // has the peer ended the connection, or `interrupt`?
        });
        Ok(Self { token, thread })
    }

    pub fn interrupt(&self) {
        self.token.cancel_because("interrupted");
    }

    /// Waits for the thread. Returns `Ok` if the peer ended the connection.
    pub fn join(self) -> Result<(), Cancelled> {
        self.thread.join().expect("the reader does not panic")
    }
}
// ANCHOR_END: reader_thread

pub fn show() -> Result<(), Box<dyn Error>> {
    let (mut peer, stream) = connect()?;
    let (sender, telegrams) = channel();
    let reader = ReaderThread::start(stream, sender)?;
    peer.write_all(b"tide")?;
    println!("read: {:?}", telegrams.recv()?);
    // ANCHOR: interrupt
    reader.interrupt();
    println!("the reader has ended: {:?}", reader.join());
    // ANCHOR_END: interrupt
    println!("the peer reads {} bytes: the connection is over", peer.read(&mut [0; 4])?);
    Ok(())
}
