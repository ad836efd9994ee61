//! Tests the properties under a memory model: `src/exercise.rs` is compiled with atomics whose loads can
//! return every value that the model allows.

use exercises_harness::memory::{check, sync};

mod suite;

// Declares `mod exercise`, which is the answer, and declares a test for each property in exercise.toml.
exercises_macros::properties!();
