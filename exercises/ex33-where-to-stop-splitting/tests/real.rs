//! Checks the properties of the answer on real threads.

use exercises_harness::real::check;
#[allow(unused_imports, reason = "nothing here needs a lock; an answer may, all the same")]
use exercises_harness::real::sync;

mod suite;

// Declares `mod exercise`, which is the answer, and declares a test for each property in exercise.toml.
exercises_macros::properties!();
