#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! The folder `sync` is compiled three times: once in this package, and twice in `exercises-harness`, which
//! includes the files by their path. Each time, `super::backend` provides the locks and threads, and
//! `crate::recorder` records each use of them. In this package the backend is the standard library, and the
//! recorder records nothing, so an exercise needs no further package.

#[allow(dead_code, reason = "on real threads the harness compiles this file, too, and needs all of it")]
mod backend;
mod recorder;
mod sync;

pub use sync::*;
