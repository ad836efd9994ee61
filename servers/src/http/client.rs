use std::fmt;

/// Who waits for the answer to a request, as far as the one who answers can know.
pub trait Client: fmt::Debug {
    /// Whether the client has ended its side of the connection, or is gone: both look the same from here.
    ///
    /// A client that has sent more after the request counts as present. It costs some system calls, so ask now and then.
    fn has_left(&self) -> bool;
}
