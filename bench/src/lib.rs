#![doc = include_str!("../README.md")]

pub use kit::{contest, figures, finding, java, nginx, processor_time, programs, server};
