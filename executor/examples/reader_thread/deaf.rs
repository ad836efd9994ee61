//! A reader that checks whether it was asked to stop, and then reads until data comes. During the read, the
//! reader cannot check whether it was asked to stop.

use crate::{connect, telegram, wait_for};
use executor::CancelToken;
use std::error::Error;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;
use std::{process, thread};

// ANCHOR: deaf
/// The number of reads that the reader has begun. The example waits until this number shows that the second
/// read has begun, so the example hangs in each run.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Sends the incoming telegrams to `telegrams` until `token` is cancelled.
fn read(stream: &TcpStream, token: &CancelToken, telegrams: &Sender<String>) -> io::Result<()> {
    while !token.is_cancelled() {
        BEGUN.fetch_add(1, Ordering::SeqCst);
        let _ = telegrams.send(telegram(stream)?); // waits for four bytes
    }
    Ok(())
}
// ANCHOR_END: deaf

pub fn show() -> Result<(), Box<dyn Error>> {
    let (mut peer, stream) = connect()?;
    let (sender, telegrams) = channel();
    let token = CancelToken::new();
    let of_the_reader = token.clone();
    thread::spawn(move || read(&stream, &of_the_reader, &sender));
    peer.write_all(b"tide")?;
    println!("read: {:?}", telegrams.recv()?);
    wait_for(&BEGUN, 2); // it has looked at its token, and is about to read the next one
    token.cancel();
    println!("the reader is told to stop");
    let Err(RecvTimeoutError::Timeout) = telegrams.recv_timeout(Duration::from_secs(2)) else {
        return Err("it has ended".into());
    };
    println!("2 seconds later it has not ended: it is in read(), and the peer says nothing");
    process::exit(1); // a join would wait for as long as the peer is silent
}
