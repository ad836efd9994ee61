//! Wrong and right ways to do the parts of a crawler, side by side; `cargo run --bin crawler` shows these
//! ways. The crawler itself uses none of the ways in this module.
//!
//! | module | what it is about |
//! |---|---|
//! | [`stops`] | ways to stop a crawl: four ways lose pages or fetch them again, and one way does neither |
//! | [`orders`] | the cost of a crash, for each order in which a crawl records its work |
//! | [`politeness`] | ways to pause between two requests to a site |
//! | [`leases`] | the cost of a dead or a late worker, for each way in which workers share a queue |

pub mod stops;

pub mod leases;
pub mod orders;
pub mod politeness;
