#![doc = include_str!("../README.md")]

pub use kit::{contest, figures, java, nginx, processor_time, programs};
