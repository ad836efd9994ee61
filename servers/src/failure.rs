use anyhow::Error;
use std::fmt;

/// Why a stage ends that could not begin: what `main` returns then.
///
/// The standard library prints the `Debug` form of an error that `main` returns. That of [`anyhow::Error`] has a backtrace
/// behind its sentence if `RUST_BACKTRACE` is set, which is for those who look for a fault in the program. A port that is
/// taken is none. This one prints the sentences alone, in one line.
pub struct Failure(Error);

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}
