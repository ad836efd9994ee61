//! Handles SIGHUP, the signal by which `logrotate` reports that it has moved a log away.
//!
//! A signal handler may do very little, so this handler only writes a byte to a socket. A thread reads from
//! the socket and makes the service reopen the log. If several signals come before the thread reads, they
//! count as one signal. The library `signal-hook` catches SIGHUP here; for [`executor::shutdown_hooks`], the
//! same library catches SIGINT and SIGTERM. These handlers do not disturb each other.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::thread;

use signal_hook::consts::SIGHUP;
use signal_hook::low_level::pipe;

use crate::LogHandle;

impl LogHandle {
    /// Makes SIGHUP [reopen the log](Self::reopen) instead of ending the process. The handler for SIGHUP
    /// cannot be removed.
    ///
    /// ```no_run
    /// use logservice::LogService;
    /// use logservice::sink::FileSink;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let log = LogService::builder().start(FileSink::builder("/var/log/app.log").open()?)?;
    /// log.reopen_on_hangup()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the system's error if the system cannot provide a socket or a thread.
    pub fn reopen_on_hangup(&self) -> io::Result<()> {
        let (mut reader, writer) = UnixStream::pair()?;
        let handle = self.clone();
        thread::Builder::new().name("log hangup".into()).spawn(move || {
            // If the signal cannot be caught, the socket is closed, and the closed socket ends the thread.
            while reader.read(&mut [0; 64]).is_ok_and(|signals| signals > 0) {
                handle.reopen();
            }
        })?;
        // The signal is caught last, because a signal that no thread waits for would be lost.
        pipe::register(SIGHUP, writer).map(drop)
    }
}
