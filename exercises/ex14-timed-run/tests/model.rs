//! Tests the properties under the model, with `src/exercise.rs` compiled against locks and threads whose
//! schedule the test decides.

// Here the `executor` that `src/exercise.rs` uses is the same library, compiled for the model.
extern crate executor_model as executor;

use exercises_harness::model::{check, probe, sync};

mod suite;

// Declares the answer as `mod exercise`, and a test for each property in exercise.toml.
exercises_macros::properties!();
