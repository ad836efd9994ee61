#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// The one door to locks and channels for what a model checker looks at, so that it can stand behind it.
mod door {
    pub(crate) use executor::{
        CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TrackingExecutor, channel, masked,
    };
    pub(crate) use std::sync;
}

pub mod mail;
pub mod pills;

pub mod stage;

pub mod web;
