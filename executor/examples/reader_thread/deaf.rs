//! Looks whether it was asked to stop, and then waits where it cannot look.

use crate::telegram;
use executor::CancelToken;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;

// ANCHOR: deaf
/// Passes on the telegrams that come in until `token` is cancelled. `begun` counts the reads: the example looks at it, so
/// that every run hangs.
pub fn read(
    stream: &TcpStream,
    token: &CancelToken,
    begun: &AtomicUsize,
    telegrams: &Sender<String>,
) -> io::Result<()> {
    while !token.is_cancelled() {
        begun.fetch_add(1, Ordering::SeqCst);
        let _ = telegrams.send(telegram(stream)?); // waits for four bytes
    }
    Ok(())
}
// ANCHOR_END: deaf
