use std::fmt;

/// What a handler can know of the client that waits for its answer.
pub trait Presence: fmt::Debug {
    /// Whether the client has ended its side of the connection, or is gone: both look the same from here.
    ///
    /// A client that has sent more after the request counts as present. It costs some system calls, so ask now and then.
    fn has_left(&self) -> bool;
}
