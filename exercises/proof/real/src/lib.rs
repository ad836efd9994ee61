//! All stubs and solutions, compiled for real threads. The build script (`../answers.rs`) has made a module
//! of each answer; `crate::sync`, `crate::below` and `crate::probe` are the same modules as in an exercise's
//! `tests/real.rs`.
#![allow(
    unused,
    clippy::all,
    clippy::pedantic,
    reason = "the answers are a learner's code, and many are wrong"
)]

use exercises_harness::real::{below, probe, sync};

include!(concat!(env!("OUT_DIR"), "/answers.rs"));
