use crate::http::{Request, date};
use crate::stderr::write_line;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// A line on stderr for each answer: who, when, what, status, bytes of body that were sent, time, thread; and `cut off`
/// if that is not the whole body.
///
/// The thread's name is the one thing that web servers' logs don't have and that this course is about. No answer waits
/// for its line: one that finds no room on stderr is dropped, and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// A line per answer.
    Stderr,
    /// Nothing.
    Quiet,
}

/// What there is to say about one answer.
pub(crate) struct Entry<'a> {
    pub(crate) peer: SocketAddr,
    /// None if it could not be read.
    pub(crate) request: Option<&'a Request<'a>>,
    pub(crate) status: u16,
    /// Of the body. The system took them; whether the client did is not known here.
    pub(crate) bytes: u64,
    /// There was more to send.
    pub(crate) is_cut: bool,
    pub(crate) took: Duration,
}

impl AccessLog {
    pub(crate) fn write(self, entry: &Entry<'_>) {
        if self == AccessLog::Stderr {
            write_line(&format!("{entry}\n"));
        }
    }
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        date::with_now(|now| write!(f, "{} [{now}] ", self.peer.ip()))?;
        match self.request {
            Some(request) => {
                // A quotation mark in the target would look like its end.
                let target = request.target.replace('"', "%22");
                write!(f, r#""{} {target} {}""#, request.method, request.version)?;
            }
            None => f.write_str(r#""-""#)?,
        }
        let thread = std::thread::current();
        write!(
            f,
            " {} {} {:.1}ms {}",
            self.status,
            self.bytes,
            self.took.as_secs_f64() * 1000.0,
            thread.name().unwrap_or("-")
        )?;
        f.write_str(if self.is_cut { " cut off" } else { "" })
    }
}
