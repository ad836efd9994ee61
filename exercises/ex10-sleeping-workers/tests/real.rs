//! The same properties on real threads.

use exercises_harness::real::{check, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

const ANSWER: &str = include_str!("../src/exercise.rs");
include!(concat!(env!("OUT_DIR"), "/properties.rs")); // a test for each property in exercise.toml
