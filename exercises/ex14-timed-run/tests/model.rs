//! Checks the properties of the answer under the model, which decides the schedule of the answer's threads.

// In this test, the `executor` that `src/exercise.rs` uses is the same library, compiled for the model.
extern crate executor_model as executor;

use exercises_harness::model::{check, probe, sync};

mod suite;

// Declares `mod exercise`, which is the answer, and declares a test for each property in exercise.toml.
exercises_macros::properties!();
