//! Tests the properties on real threads.

use exercises_harness::real::check;
#[allow(unused_imports, reason = "nothing here needs a lock; an answer may, all the same")]
use exercises_harness::real::sync;

mod suite;

// Declares the answer as `mod exercise`, and a test for each property in exercise.toml.
exercises_macros::properties!();
