//! A concurrent search that detects when there is no solution. The exercise is in `src/exercise.rs`;
//! `README.md` says what to do.

// Re-exports the real locks and threads. The tests also compile the exercise with the locks and threads of a
// model that decides the schedule.
pub use exercises_sync as sync;

pub mod exercise;

// This line does not compile if the answer bypasses `crate::sync`.
exercises_macros::door!(exercise);
