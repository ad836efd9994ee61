use crate::http::{Request, date};
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// A line on stderr for each answer: who, when, what, status, bytes of body, time, thread.
///
/// The thread's name is the one thing that web servers' logs don't have and that this course is about.
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
    pub(crate) bytes: u64,
    pub(crate) took: Duration,
}

impl AccessLog {
    pub(crate) fn write(self, entry: &Entry<'_>) {
        if self == AccessLog::Stderr {
            // One write per line keeps lines of different threads apart. A closed stderr is no reason to stop
            // serving.
            let _ = io::stderr().write_all(format!("{entry}\n").as_bytes());
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
        )
    }
}
