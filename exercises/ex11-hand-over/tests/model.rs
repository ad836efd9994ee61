//! Tests the properties under a model of memory, with `src/exercise.rs` compiled against atomics that show a
//! thread any value that it may see.

use exercises_harness::memory::{check, sync};

mod suite;

// Declares the answer as `mod exercise`, and a test for each property in exercise.toml.
exercises_macros::properties!();
