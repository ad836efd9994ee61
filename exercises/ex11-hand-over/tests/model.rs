//! Tests the properties under a model of memory, with `src/exercise.rs` compiled against atomics that show a
//! thread any value that it may see.

use exercises_harness::memory::{check, sync};

mod suite;

// Declares `mod exercise`, which is the answer, and declares a test for each property in exercise.toml.
exercises_macros::properties!();
