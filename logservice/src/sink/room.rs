//! A short wait for room in a pipe, a terminal or a socket.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// The maximum time that a sink waits for a busy destination; it is short, because the writer must notice a
/// stop.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// Waits until a write would not block: it would succeed or fail at once.
///
/// # Errors
/// Returns [`WouldBlock`](io::ErrorKind::WouldBlock) at the deadline.
pub(super) fn wait_for_room(descriptor: impl AsFd, until: Instant) -> io::Result<()> {
    let mut watched = [PollFd::new(&descriptor, PollFlags::OUT)];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::WouldBlock.into()); // also if the system reports room although there is none
        }
        let timeout = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(Errno::INTR) => {}
            // A descriptor that cannot be polled is a file or a device; both always have room. If the
            // descriptor is broken, the write fails.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}
