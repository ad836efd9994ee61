//! The output of a crawl for people and programs.
//!
//! | module | what it is about |
//! |---|---|
//! | [`progress`] | lines on a terminal that show the progress of a crawl |
//! | [`graph`] | the links between pages, and the broken links |
//! | [`report`] | the report of a run at its end, and its exit status |

pub mod graph;
pub mod progress;

pub mod report;
