//! Checks the properties of the answer on real threads.

use exercises_harness::real::{check, probe, sync};

mod suite;

// Declares `mod exercise`, which is the answer, and declares a test for each property in exercise.toml.
exercises_macros::properties!();
