//! The properties under the model: `src/exercise.rs`, compiled against locks and threads whose schedule the test decides.

use exercises_harness::model::{check, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

const ANSWER: &str = include_str!("../src/exercise.rs");
include!(concat!(env!("OUT_DIR"), "/properties.rs")); // a test for each property in exercise.toml
