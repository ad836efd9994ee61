//! What all comparisons need and no peer is part of.

pub mod figures;
pub mod java;
pub mod nginx;
pub mod processor_time;
pub mod programs;
