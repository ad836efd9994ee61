#![doc = include_str!("../README.md")]

pub use kit::{figures, java, nginx, processor_time, programs};
