//! A queue that comes to its end: its consumers learn when no item will come any more. The exercise is in
//! `src/exercise.rs`; `README.md` says what to do.

// Re-exports the real locks and threads. The tests also compile the exercise with the locks and threads of a
// model that decides the schedule.
pub use exercises_sync as sync;

pub mod exercise;

// This macro call does not compile if the answer uses locks or threads that are not from `crate::sync`.
exercises_macros::door!(exercise);
