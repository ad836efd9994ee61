#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// Source files that a model checker runs get their locks, channels and time only through this module, so
/// that the model checker can replace them.
mod door {
    /// The interval at which a worker checks for more work and shows its progress.
    pub(crate) const TICK: std::time::Duration = std::time::Duration::from_millis(50);

    pub(crate) use executor::{
        CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TrackingExecutor, channel, masked,
    };
    pub(crate) use std::sync;
}

pub mod mail;
pub mod pills;

pub mod web;
