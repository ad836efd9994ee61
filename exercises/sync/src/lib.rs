#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! The folder `sync` is compiled three times: here, and twice in `exercises-harness`, which names its files
//! by their path. Each time `super::backend` makes the locks and threads, and `crate::recorder` records what
//! is done with them. Here these are the standard library and a recorder that forgets, so an exercise needs
//! no other package to be built.

#[allow(dead_code, reason = "on real threads the harness compiles this file, too, and needs all of it")]
mod backend;
mod recorder;
mod sync;

pub use sync::*;
