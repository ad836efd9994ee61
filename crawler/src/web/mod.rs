//! A crawler of web sites that remembers what it has not done.
//!
//! ```text
//!             leases                                    outcomes               changes
//!  frontier ───────────▶ visit, on a tracking executor ──────────▶ frontier ─────────▶ keeper, state
//!  one thread            many threads                              the same thread     a thread of its own
//! ```
//!
//! | module | what it is about |
//! |---|---|
//! | [`store`] | what a worker takes its work from, and how it works |
//! | [`outcome`] | what a worker is given to do, and what follows from what came of it |
//! | [`frontier`] | which pages there are, which may be fetched now, and when the crawl is over |
//! | [`visit`] | what is done with one page |
//! | [`links`], [`urls`] | where a page leads, and what belongs to the crawl |
//! | [`rules`], with [`robots`] and [`sitemap`] | what a site asks for, and what it lists |
//! | [`disk`], with [`keeper`], [`state`] and [`record`] | a store on the disk: what became of pages, made durable in groups |
//! | `shared`, with the feature `redis` | a store in an engine, on which many processes work |
//! | [`under_way`], [`save`] | what is being fetched, for the run after a death, and the pages as files |
//! | [`graph`], [`report`] | what has been found, for others |
//! | [`args`], [`run`] | the command line, and where a run begins |
//! | [`progress`] | lines on a terminal |
//! | [`demo`] | a site to try it with |
//! | [`politeness`] | other ways to leave a site alone, to compare |
//! | [`stops`] | ways to stop a crawl: four that lose pages or fetch them again, and one that does neither |
//! | [`orders`] | what a crash costs, for each order in which a crawl writes what it has done |
//! | [`leases`] | what a dead or a late worker costs, for each way in which workers share a queue |

pub mod args;
pub mod demo;
pub mod disk;
pub mod frontier;
pub mod graph;
pub mod keeper;
pub mod leases;
pub mod links;
pub mod orders;
pub mod outcome;
pub mod politeness;
pub mod progress;
pub mod record;
pub mod report;
pub mod robots;
pub mod rules;
pub mod run;
pub mod save;
#[cfg(feature = "redis")]
pub mod shared;
pub mod sitemap;
pub mod state;
pub mod stops;
pub mod store;
pub mod under_way;
pub mod urls;
pub mod visit;
