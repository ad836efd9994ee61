//! A reader that wakes up again and again and checks whether it was asked to stop. Each time the reader wakes
//! up, it loses the bytes that it has read since the last telegram.

use crate::{connect, telegram, wait_for};
use executor::CancelToken;
use std::error::Error;
use std::io::{self, ErrorKind::TimedOut, ErrorKind::WouldBlock, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

// ANCHOR: polling
/// The number of reads that have returned without a telegram.
static WOKEN: AtomicUsize = AtomicUsize::new(0);

/// Sends the incoming telegrams to `telegrams` until `token` is cancelled. Each read has a time-out.
fn read(stream: &TcpStream, token: &CancelToken, telegrams: &Sender<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    while !token.is_cancelled() {
        match telegram(stream) {
            Ok(telegram) => _ = telegrams.send(telegram),
            // Linux and Windows have different names for the time-out.
            Err(error) if matches!(error.kind(), WouldBlock | TimedOut) => {
                WOKEN.fetch_add(1, Ordering::SeqCst);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
// ANCHOR_END: polling

// ANCHOR: out_of_step
pub fn show() -> Result<(), Box<dyn Error>> {
    let (mut peer, stream) = connect()?;
    let (sender, telegrams) = channel();
    let token = CancelToken::new();
    let of_the_reader = token.clone();
    let reader = thread::spawn(move || read(&stream, &of_the_reader, &sender));
    peer.write_all(b"ti")?; // half of "tide"
    wait_for(&WOKEN, WOKEN.load(Ordering::SeqCst) + 2);
    peer.write_all(b"dewind")?;
    println!("sent: \"tide\", with a pause after \"ti\", and \"wind\"");
    println!("read: {:?}", telegrams.recv()?);
    token.cancel();
    let ended = reader.join().expect("the reader does not panic");
    println!("told to stop, it has ended: {ended:?}");
    Ok(())
}
// ANCHOR_END: out_of_step
