//! A thread that reads from a connection, and three ways to have it stop while the peer says nothing.
//!
//! ```sh
//! cargo run -p executor --example reader_thread -- deaf
//! cargo run -p executor --example reader_thread -- polling
//! cargo run -p executor --example reader_thread -- guarded
//! ```
//!
//! The book's chapter: Blocking that nobody can interrupt.

#![allow(unreachable_pub)] // the modules read like those of a library

mod deaf;
mod polling;
mod reader_thread;

use executor::CancelToken;
use reader_thread::ReaderThread;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A telegram is four bytes.
fn telegram(mut stream: &TcpStream) -> io::Result<String> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A peer, and the connection to it.
fn connect() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    Ok((listener.accept()?.0, stream))
}

/// Waits until a reader has counted to `count`.
fn wait_for(counter: &AtomicUsize, count: usize) {
    while counter.load(Ordering::SeqCst) < count {
        thread::yield_now();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("deaf") => deaf(),
        Some("polling") => polling(),
        Some("guarded") => guarded(),
        _ => Err("say which: deaf, polling or guarded".into()),
    }
}

fn deaf() -> Result<(), Box<dyn Error>> {
    let ((mut peer, stream), token) = (connect()?, CancelToken::new());
    let (own, begun) = (token.clone(), Arc::new(AtomicUsize::new(0)));
    let (counter, (sender, telegrams)) = (Arc::clone(&begun), channel());
    let _reader = thread::spawn(move || deaf::read(&stream, &own, &counter, &sender));
    peer.write_all(b"tide")?;
    println!("read: {:?}", telegrams.recv()?);
    wait_for(&begun, 2); // until it is about to read the next one
    token.cancel();
    println!("the reader is told to stop");
    let Err(RecvTimeoutError::Timeout) = telegrams.recv_timeout(Duration::from_secs(2)) else {
        return Err("it has ended".into());
    };
    println!("2 seconds later it has not ended: it is in read(), and the peer says nothing");
    std::process::exit(1); // a join would wait for as long as the peer is silent
}

// ANCHOR: out_of_step
fn polling() -> Result<(), Box<dyn Error>> {
    let ((mut peer, stream), token) = (connect()?, CancelToken::new());
    let (own, woken) = (token.clone(), Arc::new(AtomicUsize::new(0)));
    let (counter, (sender, telegrams)) = (Arc::clone(&woken), channel());
    let reader = thread::spawn(move || polling::read(&stream, &own, &counter, &sender));
    peer.write_all(b"ti")?; // half of "tide"
    wait_for(&woken, woken.load(Ordering::SeqCst) + 2);
    peer.write_all(b"dewind")?;
    println!("sent: \"tide\", with a pause after \"ti\", and \"wind\"");
    println!("read: {:?}", telegrams.recv()?);
    token.cancel();
    let ended = reader.join().expect("the reader does not panic");
    println!("told to stop, it has ended: {ended:?}");
    Ok(())
}
// ANCHOR_END: out_of_step

fn guarded() -> Result<(), Box<dyn Error>> {
    let ((mut peer, stream), (sender, telegrams)) = (connect()?, channel());
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
