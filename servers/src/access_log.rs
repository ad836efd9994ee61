use crate::http::{Request, date};
use crate::stderr::write_line;
use std::net::SocketAddr;
use std::thread::{self, Thread};
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

/// The line of an answer that is on its way.
#[derive(Debug)]
pub(crate) struct Line {
    /// Who, when, what, status.
    start: String,
    /// The one that answers.
    thread: Thread,
}

impl AccessLog {
    pub(crate) fn is_on(self) -> bool {
        self != AccessLog::Quiet
    }

    /// Begins the line of an answer with this status; there is none in a quiet log. No request: it could not be read.
    pub(crate) fn begin(self, peer: SocketAddr, request: Option<&Request<'_>>, status: u16) -> Option<Line> {
        if self == AccessLog::Quiet {
            return None;
        }
        let what = request.map_or_else(
            || "-".to_owned(),
            |request| {
                // A quotation mark in the target would look like its end.
                let target = request.target.replace('"', "%22");
                format!("{} {target} {}", request.method, request.version)
            },
        );
        let start = date::with_now(|now| format!("{} [{now}] \"{what}\" {status}", peer.ip()));
        Some(Line { start, thread: thread::current() })
    }
}

impl Line {
    /// Writes the line: of the body so many `bytes` were taken by the system (whether the client did is not known here),
    /// and if it `is_cut`, there was more to send.
    pub(crate) fn end(self, bytes: u64, is_cut: bool, took: Duration) {
        let Line { start, thread } = self;
        let (ms, thread) = (took.as_secs_f64() * 1000.0, thread.name().unwrap_or("-"));
        let cut_off = if is_cut { " cut off" } else { "" };
        write_line(&format!("{start} {bytes} {ms:.1}ms {thread}{cut_off}\n"));
    }
}
