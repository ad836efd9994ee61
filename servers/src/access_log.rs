//! The access log has one event for each answer: the event begins when the answer begins, and ends with the
//! answer's last byte.
//!
//! An event contains the name of the thread that answers. Other web servers do not log this name, but
//! threads are the subject of this course.

use crate::http::{Request, date};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::thread::{self, Thread};
use std::time::Duration;
use tracing::level_filters::LevelFilter;
use tracing::{Level, info};

/// The `tracing` target of the access log's events.
pub const ACCESS: &str = "servers::access";

/// Whether the server writes an access log, with an event for each answer.
///
/// Each event has the target [`ACCESS`], the level info, no message, and these fields:
///
/// | field | value |
/// |---|---|
/// | `client` | the address of the client, without the port |
/// | `time` | when the answer began, in the date format of HTTP |
/// | `request` | the request line, or `-` if the request could not be read. A quotation mark in the line becomes `%22` |
/// | `status` | a number |
/// | `bytes` | how many bytes of the body the system took |
/// | `ms` | milliseconds from the request to the last of these bytes |
/// | `thread` | the name of the thread that made the answer, or `-` |
/// | `cut_off` | true if the answer was not sent completely |
///
/// [`show_diagnostics`](crate::show_diagnostics) writes the event as a line on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// The events of the access log, one for each answer.
    Events,
    /// Nothing.
    Quiet,
}

/// The event of an answer that is being sent.
#[derive(Debug)]
pub(crate) struct Line {
    client: IpAddr,
    /// The first part of the line: the time, and then the request line.
    text: String,
    /// The length of the time at the beginning of the text, in bytes.
    time: usize,
    status: u16,
    /// The thread that answers the request.
    thread: Thread,
}

impl AccessLog {
    /// Returns whether a subscriber receives the events. This check costs one atomic load. `enabled!` would
    /// also call the subscriber, and sending the event would then call the subscriber again.
    pub(crate) fn is_on(self) -> bool {
        self == AccessLog::Events && LevelFilter::current() >= Level::INFO
    }

    /// Begins the event of an answer with this status; returns `None` if no subscriber receives such
    /// events. `request` is `None` if the request could not be read.
    pub(crate) fn begin(self, peer: SocketAddr, request: Option<&Request<'_>>, status: u16) -> Option<Line> {
        if !self.is_on() {
            return None;
        }
        let mut text = String::with_capacity(128);
        date::with_now(|now| text.push_str(now));
        let time = text.len();
        match request {
            Some(request) => push_request_line(&mut text, request),
            None => text.push('-'),
        }
        Some(Line { client: peer.ip(), text, time, status, thread: thread::current() })
    }
}

fn push_request_line(text: &mut String, request: &Request<'_>) {
    let _ = write!(text, "{} ", request.method); // writing to a `String` cannot fail
    for (place, part) in request.target.split('"').enumerate() {
        // In the log, a quotation mark in the request's target would look like the end of the request line.
        text.push_str(if place > 0 { "%22" } else { "" });
        text.push_str(part);
    }
    let _ = write!(text, " {}", request.version);
}

impl Line {
    /// Ends the event of an answer. The system has taken `bytes` of the body; it is not known
    /// whether the client has received them. `is_cut` means that the server could not send the
    /// whole answer.
    pub(crate) fn end(self, bytes: u64, is_cut: bool, took: Duration) {
        let (time, request) = self.text.split_at(self.time);
        info!(
            target: ACCESS,
            client = %self.client,
            time,
            request,
            status = self.status,
            bytes,
            ms = took.as_secs_f64() * 1000.0,
            thread = self.thread.name().unwrap_or("-"),
            cut_off = is_cut,
        );
    }
}
