use std::io::{self, ErrorKind};

/// Whether a read or a write that must not wait would have had to, or was interrupted.
pub(super) fn is_nothing_yet(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
