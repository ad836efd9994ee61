//! The limits on the bytes and the time that one client may take, and on the memory and connections of all
//! clients together.
//!
//! A server reads bytes that strangers send. This module bounds every length and duration that strangers
//! control, and each bound has a flag. Each time bound is a deadline for a whole step (the head, the
//! body, the answer), not for one read or write. Otherwise a client that sends or takes one byte a second
//! would restart its time-out with every byte.

use command_line::{count, duration};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Bounds on how much memory clients can make the server hold, and on how long they can make the server wait.
#[derive(clap::Args, Clone, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Longest request line, in bytes; a longer line is answered with 414
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().max_request_line,
          value_parser = count::<16, 65_536>)]
    pub max_request_line: usize,

    /// Longest request head (request line and header fields), in bytes; a longer head is answered with 431
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().max_head,
          value_parser = count::<64, 1_048_576>)]
    pub max_head: usize,

    /// Largest number of header fields in a request; a request with more is answered with 431
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().max_headers,
          value_parser = count::<1, { Limits::MOST_HEADERS }>)]
    pub max_headers: usize,

    /// Longest request body, in bytes; a longer body is answered with 413
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().max_body,
          value_parser = count::<0, 1_073_741_824>)]
    pub max_body: usize,

    /// Time in which a client must send a whole request head, from its first byte
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub header_timeout: Duration,

    /// Time in which a client must send a whole request body
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub body_timeout: Duration,

    /// Time for which a connection may stay open without a request
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub idle_timeout: Duration,

    /// Longest time in which a client may take no byte of an answer
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub write_timeout: Duration,

    /// Bytes of an answer that a client must take in a second, on average; it may be late by the write
    /// time-out
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().min_write_rate,
          value_parser = count::<1, 1_073_741_824>)]
    pub min_write_rate: usize,

    /// Time for which a client may go on sending after its request was refused; then the connection is reset
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub linger_timeout: Duration,

    /// Largest number of requests on one connection; the last answer says that it is the last [default: no
    /// limit]
    #[arg(long, value_name = "COUNT")]
    pub max_requests: Option<NonZeroUsize>,

    /// Memory for the bodies of all clients together, in bytes; if none is left, a request is answered with
    /// 503. A body counts twice, since an answer may repeat it; so a single body may be as long as a quarter
    /// of this memory
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_memory,
          value_parser = count::<1_048_576, { isize::MAX as usize }>)]
    pub body_memory: usize,

    /// Largest number of open connections; a further client gets a 503
    #[arg(long, value_name = "COUNT", default_value_t = Limits::default().max_connections)]
    pub max_connections: NonZeroUsize,
}

impl Limits {
    /// The largest value that `max_headers` may have, because the parser keeps this many fields on the
    /// stack.
    pub const MOST_HEADERS: usize = 256;

    /// Returns the greatest length that a body may have. Even a single body must not take more than a
    /// quarter of the memory for bodies.
    pub(crate) fn longest_body(&self) -> usize {
        self.max_body.min(self.body_memory / 4)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_request_line: 8 * 1024,
            max_head: 16 * 1024,
            max_headers: 100,
            max_body: 1024 * 1024,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            min_write_rate: 64 * 1024,
            linger_timeout: Duration::from_secs(5),
            max_requests: None,
            body_memory: 256 * 1024 * 1024,
            max_connections: NonZeroUsize::new(16_384).expect("it is not zero"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        limits: Limits,
    }

    #[test]
    fn no_flags_are_the_defaults() {
        assert_eq!(Flags::parse_from(["server"]).limits, Limits::default());
    }

    #[test]
    fn a_limit_out_of_range_is_refused() {
        for wrong in [["server", "--max-head", "1"], ["server", "--max-headers", "1000"]] {
            assert!(Flags::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }
}
