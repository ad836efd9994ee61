//! Sends lines to the system's own log, which is syslog or journald.
//!
//! The daemon listens on a socket, and each line is sent as one datagram, without the line feed. The
//! [format](crate::Format) writes the head of a datagram, which is at least `<PRI>`; the sink adds nothing.
//!
//! A daemon that is restarted creates a new socket, so the sink connects again when the old socket refuses
//! a datagram. While there is no daemon, lines wait in the service. If a daemon ends before it has read some
//! lines, these lines are lost with its socket, because syslog has no acknowledgements.
//!
//! A line that is too long for a datagram is shortened until it fits, and the sink reports this
//! [once](Sink::warning).

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::io::Errno;

use super::Sink;
use super::room::{PATIENCE, wait_for_room};

/// The paths at which daemons listen: the first is for Linux and most systems, the second for macOS.
const USUAL: [&str; 2] = ["/dev/log", "/var/run/syslog"];

/// A line is never cut below this length, because RFC 5424 requires that daemons accept this
/// length.
const SHORTEST: usize = 480;

/// Sends lines to the system's log.
#[derive(Debug)]
pub struct SyslogSink {
    path: PathBuf,
    /// The field is `None` if there was no daemon at the last attempt.
    socket: Option<UnixDatagram>,
    cut: Cut,
}

/// Remembers whether a line was cut, and whether the cut was reported.
#[derive(Debug, PartialEq, Eq)]
enum Cut {
    Never,
    Now,
    Told,
}

impl SyslogSink {
    /// Creates a sink that sends to the daemon of this system.
    ///
    /// # Errors
    /// Returns [`NotFound`](ErrorKind::NotFound) if there is no socket at any of the usual paths. A socket
    /// without a daemon is not an error: lines wait for the daemon.
    pub fn local() -> io::Result<Self> {
        let there = USUAL.iter().find(|path| Path::new(path).exists());
        let nowhere =
            || io::Error::new(ErrorKind::NotFound, format!("no syslog daemon at {}", USUAL.join(" or ")));
        Ok(Self::at(there.ok_or_else(nowhere)?))
    }

    /// Creates a sink that sends to the socket at this path, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), socket: None, cut: Cut::Never }
    }

    /// Sends one line, and connects again if the daemon was restarted.
    fn send(&mut self, line: &[u8], until: Instant) -> io::Result<()> {
        let was_connected = self.socket.is_some();
        match self.try_send(line, until) {
            Err(_) if was_connected && self.socket.is_none() => self.try_send(line, until),
            result => result,
        }
    }

    /// Tries to send one line, only once. Drops the socket after a permanent error.
    fn try_send(&mut self, mut line: &[u8], until: Instant) -> io::Result<()> {
        if self.socket.is_none() {
            self.socket = Some(connect(&self.path)?);
        }
        let Some(socket) = &self.socket else { unreachable!("it was connected") };
        loop {
            match socket.send(line) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is(&error, Errno::MSGSIZE) && line.len() > SHORTEST => {
                    line = cut_to(line, SHORTEST.max(line.len() / 2));
                    if self.cut == Cut::Never {
                        self.cut = Cut::Now;
                    }
                }
                // The daemon's receive buffer is full.
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait_for_room(socket, until)?,
                Err(error) if is(&error, Errno::NOBUFS) => return Err(ErrorKind::WouldBlock.into()),
                Err(error) => {
                    self.socket = None;
                    return Err(error);
                }
            }
        }
    }
}

impl Sink for SyslogSink {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let until = Instant::now() + PATIENCE;
        let mut taken = 0;
        for line in lines.split_inclusive(|&byte| byte == b'\n') {
            match self.send(line.strip_suffix(b"\n").unwrap_or(line), until) {
                Ok(()) => taken += line.len(),
                Err(error) if taken == 0 => return Err(error),
                Err(_) => break, // the error occurs again with the next line
            }
        }
        Ok(taken)
    }

    /// Connects again.
    fn reopen(&mut self) -> io::Result<()> {
        self.socket = Some(connect(&self.path)?);
        Ok(())
    }

    fn warning(&mut self) -> Option<String> {
        (self.cut == Cut::Now).then(|| {
            self.cut = Cut::Told;
            "a line was too long for a datagram, and was cut; there may be more of them".to_owned()
        })
    }

    fn name(&self) -> String {
        format!("syslog at {}", self.path.display())
    }
}

fn connect(path: &Path) -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.connect(path)?;
    Ok(socket)
}

fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

/// Returns the first `length` bytes, without a partial character at the end.
fn cut_to(line: &[u8], length: usize) -> &[u8] {
    let is_inside = |&byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    let end = (length.saturating_sub(3)..=length).rev().find(|&end| !line.get(end).is_some_and(is_inside));
    &line[..end.unwrap_or(length)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_cut() {
        assert_eq!(cut_to("aé€x".as_bytes(), 2), b"a");
        assert_eq!(cut_to("aé€x".as_bytes(), 3), "aé".as_bytes());
        assert_eq!(cut_to("aé€x".as_bytes(), 5), "aé".as_bytes());
        assert_eq!(cut_to("aé€x".as_bytes(), 6), "aé€".as_bytes());
        assert_eq!(cut_to(&[0x80; 9], 6), &[0x80; 6]);
    }
}
