#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// The one door to locks, channels and time for the files that a model checker runs: it can stand behind the
/// door.
mod door {
    /// A worker looks this often whether there is more to do, and shows how far it is.
    pub(crate) const TICK: std::time::Duration = std::time::Duration::from_millis(50);

    pub(crate) use executor::{
        CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TrackingExecutor, channel, masked,
    };
    pub(crate) use std::sync;
}

pub mod mail;
pub mod pills;

pub mod web;
