#![doc = include_str!("../README.md")]

pub mod figures;
pub mod java;
pub mod processor_time;
pub mod programs;
