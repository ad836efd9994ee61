//! A system call that waits until a socket is ready or a token is cancelled.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::cancel::{CancelToken, Registration};

/// One end of a private socket pair. Cancelling the token closes the other end of the pair. The closed end
/// wakes every thread that waits now or later.
#[derive(Debug)]
pub(super) struct CancelSignal {
    own_end: UnixStream,
    _closes_other_end: Registration,
}

impl CancelSignal {
    /// Makes a signal for `token`. The signal uses two file descriptors before the cancellation, and one file
    /// descriptor after the cancellation.
    pub(super) fn new(token: &CancelToken) -> io::Result<Self> {
        let (own_end, other_end) = UnixStream::pair()?;
        let closes = token.on_cancel(move || drop(other_end));
        Ok(Self { own_end, _closes_other_end: closes })
    }

    /// Sleeps until `socket` is ready, the token is cancelled or `timeout` has passed (`None`: no limit).
    /// Returns whether the socket is ready. The call also returns after a signal of the system, so the caller
    /// must check the token and the time again.
    pub(super) fn wait(
        &self,
        socket: &impl AsFd,
        ready: PollFlags,
        timeout: Option<Duration>,
    ) -> io::Result<bool> {
        let mut either = [PollFd::new(socket, ready), PollFd::new(&self.own_end, PollFlags::IN)];
        // A time that is too long for the system's type counts as no limit.
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        match poll(&mut either, timeout.as_ref()) {
            Ok(_) => Ok(!either[0].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
