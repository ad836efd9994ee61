//! A test of a log that must not lose a line. The exercise is in `src/exercise.rs`; `README.md` says what to
//! do.

// Locks and threads: on real threads here, and in the tests under a model that decides their schedule, too.
pub use exercises_sync as sync;

pub mod exercise;

// This line does not compile if the answer uses locks or threads that do not come from `crate::sync`.
exercises_macros::door!(exercise);
