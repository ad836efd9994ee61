//! A short wait for room in a pipe, a terminal or a socket.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long a sink waits for what may never be ready: the writer's thread has an end to hear of.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// Waits until something can be written, or until it is certain that nothing can.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock) when the time is up.
pub(super) fn wait_for_room(descriptor: impl AsFd, until: Instant) -> io::Result<()> {
    let mut watched = [PollFd::new(&descriptor, PollFlags::OUT)];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::WouldBlock.into()); // also if there is said to be room again and again, and is none
        }
        let timeout = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(Errno::INTR) => {}
            // What cannot be asked is a file or a device, and has room. What has failed says so when it is written to.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}
