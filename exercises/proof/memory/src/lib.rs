//! Every answer to the exercises with a model of memory. The build script (`../answers.rs`) has made a module
//! of each; `crate::sync` is the one of their `tests/model.rs`.
#![allow(
    unused,
    clippy::all,
    clippy::pedantic,
    reason = "the answers are a learner's code, and many are wrong"
)]

use exercises_harness::memory::sync;

include!(concat!(env!("OUT_DIR"), "/answers.rs"));
