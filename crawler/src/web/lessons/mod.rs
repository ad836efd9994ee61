//! Wrong and right ways to do the parts of a crawler, side by side; `cargo run --bin crawler` shows these
//! ways. The crawler itself uses none of the ways in this module.
//!
//! | module | what it is about |
//! |---|---|
//! | [`stops`] | ways to stop a crawl: four that lose pages or fetch them again, and one that does neither |
//! | [`orders`] | what a crash costs, for each order in which a crawl writes what it has done |
//! | [`politeness`] | ways to leave a site alone |
//! | [`leases`] | what a dead or a late worker costs, for each way in which workers share a queue |

pub mod stops;

pub mod leases;
pub mod orders;
pub mod politeness;
