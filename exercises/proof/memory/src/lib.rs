//! All answers to the exercises with a model of memory. The build script (`../answers.rs`) has made a module
//! of each answer; `crate::sync` is the module that is used in an exercise's `tests/model.rs`.
#![allow(
    unused,
    clippy::all,
    clippy::pedantic,
    reason = "the answers are a learner's code, and many are wrong"
)]

use exercises_harness::memory::sync;

include!(concat!(env!("OUT_DIR"), "/answers.rs"));
