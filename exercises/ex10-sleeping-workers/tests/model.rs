//! Tests the properties under the model: `src/exercise.rs` is compiled with locks and threads that the test
//! schedules.

use exercises_harness::model::{check, probe, sync};

mod suite;

// Declares the answer as `mod exercise`, and a test for each property in exercise.toml.
exercises_macros::properties!();
