//! Wakes up now and then, looks whether it was asked to stop, and forgets what it had read so far.

use crate::telegram;
use executor::CancelToken;
use std::io::{self, ErrorKind::TimedOut, ErrorKind::WouldBlock};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

// ANCHOR: polling
/// The same with a time-out at each read. `woken` counts the reads that came back with no telegram.
pub fn read(
    stream: &TcpStream,
    token: &CancelToken,
    woken: &AtomicUsize,
    telegrams: &Sender<String>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    while !token.is_cancelled() {
        match telegram(stream) {
            Ok(telegram) => _ = telegrams.send(telegram),
            // Linux and Windows have different names for it.
            Err(error) if matches!(error.kind(), WouldBlock | TimedOut) => {
                woken.fetch_add(1, Ordering::SeqCst);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
// ANCHOR_END: polling
