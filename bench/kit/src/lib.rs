//! The parts that all comparisons share.

pub mod contest;
pub mod figures;
pub mod finding;
pub mod java;
pub mod nginx;
pub mod processor_time;
pub mod programs;
pub mod server;
pub mod site;
