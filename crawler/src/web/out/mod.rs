//! The output of a crawl for people and programs.
//!
//! | module | what it is about |
//! |---|---|
//! | [`progress`] | lines on a terminal, while it runs |
//! | [`graph`] | which page leads where, and which links are broken |
//! | [`report`] | what a run says at its end, and its exit status |

pub mod graph;
pub mod progress;

pub mod report;
