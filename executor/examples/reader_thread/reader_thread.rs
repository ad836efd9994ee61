//! A thread whose `interrupt` reaches it in a read.

use crate::telegram;
use executor::{CancelToken, Cancelled};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

// ANCHOR: reader_thread
/// A thread that passes on the telegrams that come in until it is interrupted or the connection ends.
pub struct ReaderThread {
    token: CancelToken,
    thread: JoinHandle<Result<(), Cancelled>>,
}

impl ReaderThread {
    pub fn start(stream: TcpStream, telegrams: Sender<String>) -> io::Result<Self> {
        let token = CancelToken::new();
        let (own, same_connection) = (token.clone(), stream.try_clone()?);
        let thread = thread::spawn(move || {
            let _guard = own.on_cancel(move || drop(same_connection.shutdown(Shutdown::Both)));
            while let Ok(telegram) = telegram(&stream) {
                let _ = telegrams.send(telegram);
            }
            own.check() // was it the peer who ended the connection, or `interrupt`?
        });
        Ok(Self { token, thread })
    }

    pub fn interrupt(&self) {
        self.token.cancel_because("interrupted");
    }

    /// Waits for the thread. `Ok` if the peer has ended the connection.
    pub fn join(self) -> Result<(), Cancelled> {
        self.thread.join().expect("the reader does not panic")
    }
}
// ANCHOR_END: reader_thread
