//! Every stub and solution on real threads. The build script (`../answers.rs`) has made a module of each;
//! `crate::sync` and `crate::below`, `crate::probe` are what they are in an exercise's `tests/real.rs`.
#![allow(
    unused,
    clippy::all,
    clippy::pedantic,
    reason = "the answers are a learner's code, and many are wrong"
)]

use exercises_harness::real::{below, probe, sync};

include!(concat!(env!("OUT_DIR"), "/answers.rs"));
