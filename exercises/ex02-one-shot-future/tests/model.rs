//! Checks the properties of the answer under the model, which decides the schedule of the answer's threads.

use exercises_harness::model::{check, probe, sync};

mod suite;

// Declares `mod exercise`, which is the answer, and declares a test for each property in exercise.toml.
exercises_macros::properties!();
