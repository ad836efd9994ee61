//! The access log: an event for each answer, begun with the answer and ended with its last byte.
//!
//! The thread's name is the one thing that web servers' logs don't have and that this course is about.

use crate::http::{Request, date};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::thread::{self, Thread};
use std::time::Duration;
use tracing::level_filters::LevelFilter;
use tracing::{Level, info};

/// The target of the events that are the access log.
pub const ACCESS: &str = "servers::access";

/// An event for each answer: who, when, what, status, bytes of body that were sent, time, thread; and whether that is not
/// the whole body.
///
/// The event has the target [`ACCESS`], the level info, no message, and these fields:
///
/// | field | value |
/// |---|---|
/// | `client` | the address of the client, without the port |
/// | `time` | when the answer began, as HTTP writes it |
/// | `request` | the request line, or `-` if the request could not be read. A quotation mark in it is `%22` |
/// | `status` | a number |
/// | `bytes` | how many bytes of the body the system took |
/// | `ms` | milliseconds from the request to the last of these bytes |
/// | `thread` | the name of the thread that made the answer, or `-` |
/// | `cut_off` | true if there was more to send |
///
/// [`show_diagnostics`](crate::show_diagnostics) makes a line of it on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessLog {
    /// An event for each answer.
    Events,
    /// Nothing.
    Quiet,
}

/// The event of an answer that is on its way.
#[derive(Debug)]
pub(crate) struct Line {
    client: IpAddr,
    /// When, and behind it what.
    text: String,
    /// How much of the text says when.
    time: usize,
    status: u16,
    /// The one that answers.
    thread: Thread,
}

impl AccessLog {
    /// Whether somebody listens to the events. It is an atomic load: `enabled!` would ask the subscriber, once more than the
    /// event does.
    pub(crate) fn is_on(self) -> bool {
        self == AccessLog::Events && LevelFilter::current() >= Level::INFO
    }

    /// Begins the event of an answer with this status; there is none in a quiet log. No request: it could not be read.
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
    let _ = write!(text, "{} ", request.method); // to a `String` it cannot fail
    for (place, part) in request.target.split('"').enumerate() {
        // A quotation mark in the target would look like the end of the request line.
        text.push_str(if place > 0 { "%22" } else { "" });
        text.push_str(part);
    }
    let _ = write!(text, " {}", request.version);
}

impl Line {
    /// Ends the event: of the body so many `bytes` were taken by the system (whether the client did is not known here),
    /// and if it `is_cut`, there was more to send.
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
