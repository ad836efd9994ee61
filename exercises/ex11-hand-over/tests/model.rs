//! The properties under a model of memory: `src/exercise.rs`, compiled against atomics that show a thread whatever it may see.

use exercises_harness::memory::{check, sync};

#[path = "../src/exercise.rs"]
#[forbid(unsafe_code)] // the model cannot watch over it
mod exercise;
mod suite;

const ANSWER: &str = include_str!("../src/exercise.rs");
include!(concat!(env!("OUT_DIR"), "/properties.rs")); // a test for each property in exercise.toml
