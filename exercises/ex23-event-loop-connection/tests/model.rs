//! Tests the properties under the model, with `src/exercise.rs` compiled against locks and threads whose
//! schedule the test decides.

use exercises_harness::model::check;
#[allow(unused_imports, reason = "nothing here needs a lock; an answer may, all the same")]
use exercises_harness::model::sync;

mod suite;

// Declares the answer as `mod exercise`, and a test for each property in exercise.toml.
exercises_macros::properties!();
