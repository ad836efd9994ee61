//! SIGHUP, by which `logrotate` says that it has moved a log away.
//!
//! A handler may do next to nothing, so it writes a byte into a socket. A thread reads there and lets the log
//! be opened anew. Signals that come faster than that count as one. The same library catches SIGINT and
//! SIGTERM for [`executor::shutdown_hooks`], and the two do not disturb each other.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::thread;

use signal_hook::consts::SIGHUP;
use signal_hook::low_level::pipe;

use crate::LogHandle;

impl LogHandle {
    /// Makes SIGHUP [open the log anew](Self::reopen) instead of ending the process. That cannot be undone.
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
    /// The system's error if it gives no socket or no thread.
    pub fn reopen_on_hangup(&self) -> io::Result<()> {
        let (mut reader, writer) = UnixStream::pair()?;
        let handle = self.clone();
        thread::Builder::new().name("log hangup".into()).spawn(move || {
            // If the signal cannot be caught, the thread ends with the socket.
            while reader.read(&mut [0; 64]).is_ok_and(|signals| signals > 0) {
                handle.reopen();
            }
        })?;
        // The signal is caught last, because a signal that no thread waits for would be lost.
        pipe::register(SIGHUP, writer).map(drop)
    }
}
