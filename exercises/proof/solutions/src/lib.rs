//! All right answers, compiled for the model. The build script (`../answers.rs`) has made a module of each
//! answer; `crate::sync`, `crate::below`, `crate::probe` and `executor` are the same modules as in an
//! exercise's `tests/model.rs`.
#![allow(unused, clippy::all, clippy::pedantic, reason = "the answers are as a learner would write them")]

extern crate executor_model as executor;

use exercises_harness::model::{below, probe, sync};

include!(concat!(env!("OUT_DIR"), "/answers.rs"));
