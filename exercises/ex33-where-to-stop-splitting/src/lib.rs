//! A function that measures tasks, and finds the size at which a task is no longer divided. The exercise is
//! in `src/exercise.rs`, and `README.md` says what to do.

// In this library the answer uses real locks and threads. The tests also run the answer with the locks and
// threads of a model.
pub use exercises_sync as sync;

pub mod exercise;

// This line does not compile if the answer uses locks or threads that do not come from `crate::sync`.
exercises_macros::door!(exercise);
